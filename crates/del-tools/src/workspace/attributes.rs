//! What a file carries beside its content: mode, owner, extended attributes, other names.

use std::io;
use std::path::Path;

use cap_std::fs::{Dir, File, Metadata, OpenOptions};

#[cfg(unix)]
pub(super) fn links(metadata: &Metadata) -> u64 {
    use cap_std::fs::MetadataExt;
    metadata.nlink()
}

#[cfg(not(unix))]
pub(super) fn links(_: &Metadata) -> u64 {
    1
}

/// What tells one file from every other: device and inode.
#[cfg(unix)]
pub(super) fn identity(metadata: &Metadata) -> (u64, u64) {
    use cap_std::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
pub(super) fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// Nobody else may read the file until it has the mode of the one that it replaces.
#[cfg(unix)]
pub(super) fn private(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
pub(super) fn private(_: &mut OpenOptions) {}

/// Gives `new` what the file `name` carries, as far as the system lets us; the mode always.
pub(super) fn copy(parent: &Dir, name: &Path, old: &Metadata, new: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        let owner = (rustix::fs::Uid::from_raw(old.uid()), rustix::fs::Gid::from_raw(old.gid()));
        // Only root may give a file away; for everybody else the owner is right already.
        let _ = rustix::fs::fchown(new, Some(owner.0), Some(owner.1));
    }
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    if let Ok((old, _)) = super::open_regular(parent, name) {
        extended(&old, new);
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    let _ = (parent, name);
    new.set_permissions(old.permissions())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn extended(old: &std::fs::File, new: &File) {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
    let mut names = vec![0; 64 * 1024];
    let Ok(length) = flistxattr(old, names.as_mut_slice()) else { return };
    let mut value = vec![0; 64 * 1024];
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if let Ok(length) = fgetxattr(old, name, value.as_mut_slice()) {
            // Attributes of the system's own may be refused; the file is complete without them.
            let _ = fsetxattr(new, name, &value[..length], XattrFlags::empty());
        }
    }
}

/// Renames only if nothing has that name yet.
pub(super) fn rename_new(dir: &Dir, from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            result => return Ok(result?),
        }
    }
    if dir.symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    dir.rename(from, dir, to)
}
