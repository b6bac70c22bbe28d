//! What a file carries beside its content: mode, owner, extended attributes, other names.

use std::io;
use std::path::Path;

use cap_std::fs::{
    Dir, File, Metadata, MetadataExt, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt,
};
use rustix::fs::{Gid, Uid, fchown};

use super::entries::RUNS_AS;

pub(super) fn links(metadata: &Metadata) -> u64 {
    metadata.nlink()
}

/// What tells one file from every other: device and inode.
pub(super) fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Nobody else may read the file until it has the mode of the one that it replaces.
pub(super) fn private(options: &mut OpenOptions) {
    options.mode(0o600);
}

/// Gives `new` what the file `name` carries, as far as the system lets us; its permissions always.
pub(super) fn copy(parent: &Dir, name: &Path, old: &Metadata, new: &File) -> io::Result<()> {
    // Only root may give a file away; for everybody else the owner is right already.
    let _ = fchown(new, Some(Uid::from_raw(old.uid())), Some(Gid::from_raw(old.gid())));
    #[cfg(target_os = "linux")]
    if let Ok((old, _)) = super::open_regular(parent, name) {
        extended(&old, new);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (parent, name);
    // Rights of the owner or the group were given to the old content as well.
    let mode = old.permissions().mode() & !RUNS_AS;
    new.set_permissions(Permissions::from_mode(mode))
}

#[cfg(target_os = "linux")]
fn extended(old: &std::fs::File, new: &File) {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
    let mut names = vec![0; 64 * 1024];
    let Ok(length) = flistxattr(old, names.as_mut_slice()) else { return };
    let mut value = vec![0; 64 * 1024];
    // Capabilities were given to the old content, not to the new.
    let kept = |name: &&[u8]| !name.is_empty() && *name != b"security.capability";
    for name in names[..length].split(|byte| *byte == 0).filter(kept) {
        if let Ok(length) = fgetxattr(old, name, value.as_mut_slice()) {
            // Attributes of the system's own may be refused; the file is complete without them.
            let _ = fsetxattr(new, name, &value[..length], XattrFlags::empty());
        }
    }
}

/// Renames only if nothing has that name yet.
pub(super) fn rename_new(old: &Dir, from: &Path, new: &Dir, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(old, from, new, to, RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            result => return Ok(result?),
        }
    }
    if new.symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    old.rename(from, new, to)
}
