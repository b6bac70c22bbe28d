//! A view of the file system in which nothing outside of some directories can be changed. Landlock knows of contents and
//! names; modes, times, owners and attributes it lets pass, and a mount that is only read does not.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use nix::sched::CloneFlags;
use rustix::fs::{Mode, OFlags, fstat};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, mount_remount,
    move_mount, open_tree,
};
use serde::{Deserialize, Serialize};

/// A directory, and how to tell it from another one that took its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::sandbox) struct Place {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Place {
    /// What lies at `path` now.
    pub(in crate::sandbox) fn at(path: &Path) -> Option<Self> {
        let file = handle(path).ok()?;
        let (device, inode) = identity(&file)?;
        Some(Self { path: path.to_owned(), device, inode })
    }

    pub(in crate::sandbox) fn path(&self) -> &Path {
        &self.path
    }

    /// A handle of it, if it still lies there.
    pub(in crate::sandbox) fn open(&self) -> Option<OwnedFd> {
        let file = handle(&self.path).ok()?;
        (identity(&file)? == (self.device, self.inode)).then_some(file)
    }
}

fn handle(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn identity(file: &OwnedFd) -> Option<(u64, u64)> {
    let found = fstat(file).ok()?;
    #[expect(clippy::useless_conversion, reason = "the width is another one on other processors")]
    Some((u64::try_from(found.st_dev).ok()?, u64::try_from(found.st_ino).ok()?))
}

/// Gives this thread, and what it starts, a view in which only `writable` can be changed. It needs the rights of an
/// administrator, in this namespace of users at least.
pub(super) fn narrow(writable: &[Place]) -> io::Result<()> {
    nix::sched::unshare(CloneFlags::CLONE_NEWNS)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let mut open = Vec::new();
    for place in outermost(writable) {
        let Some(handle) = place.open() else { continue };
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::AT_RECURSIVE;
        open.push((open_tree(&handle, "", flags)?, handle));
    }
    for (path, flags) in mounts(&fs::read("/proc/thread-self/mountinfo")?) {
        if flags.contains(MountFlags::RDONLY) {
            continue;
        }
        match mount_remount(&path, flags | MountFlags::BIND | MountFlags::RDONLY, "") {
            // Another mount lies over it, or nobody with these rights gets there.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::INVAL | Errno::ACCESS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    for (tree, handle) in open {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(&tree, "", &handle, "", flags)?;
    }
    // The root may be one of the mounts that were replaced.
    rustix::fs::statvfs("/")?;
    Ok(())
}

/// The places that lie in no other one.
fn outermost(places: &[Place]) -> Vec<&Place> {
    let lies_within = |place: &Place| {
        places.iter().any(|other| other.path != place.path && place.path.starts_with(&other.path))
    };
    let mut outer: Vec<_> = places.iter().filter(|place| !lies_within(place)).collect();
    outer.sort();
    outer.dedup();
    outer
}

/// Where something is mounted, and what holds there besides. Of mounts over one another the last counts.
fn mounts(table: &[u8]) -> BTreeMap<PathBuf, MountFlags> {
    let lines = table.split(|byte| *byte == b'\n');
    let fields = lines.map(|line| line.split(|byte| *byte == b' ').collect::<Vec<_>>());
    let mounts = fields.filter_map(|fields| Some((unescaped(fields.get(4)?), flags(fields.get(5)?))));
    mounts.collect()
}

fn flags(options: &[u8]) -> MountFlags {
    let known = |option: &[u8]| match option {
        b"ro" => MountFlags::RDONLY,
        b"nosuid" => MountFlags::NOSUID,
        b"nodev" => MountFlags::NODEV,
        b"noexec" => MountFlags::NOEXEC,
        b"noatime" => MountFlags::NOATIME,
        b"nodiratime" => MountFlags::NODIRATIME,
        b"relatime" => MountFlags::RELATIME,
        b"nosymfollow" => MountFlags::NOSYMFOLLOW,
        _ => MountFlags::empty(),
    };
    options.split(|byte| *byte == b',').map(known).fold(MountFlags::empty(), MountFlags::union)
}

/// Blanks and their like are written as a backslash and three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut path = Vec::new();
    let mut rest = field;
    while let Some((first, behind)) = rest.split_first() {
        let digits =
            behind.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                path.push(byte);
                rest = &behind[3..];
            }
            None => {
                path.push(*first);
                rest = behind;
            }
        }
    }
    PathBuf::from(OsString::from_vec(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_their_names_and_options() {
        let table = b"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
            28 27 0:25 / /mnt/a\\040b\\134 ro,nosuid,nodev - tmpfs x ro\n\
            29 27 0:26 / /dev rw - a b rw\n30 29 0:27 / /dev rw,noexec - a b rw\n\n";
        let mounts = mounts(table);
        let at = |path: &str| mounts.get(Path::new(path)).copied();
        assert_eq!(at("/"), Some(MountFlags::RELATIME));
        assert_eq!(at("/mnt/a b\\"), Some(MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV));
        assert_eq!(at("/dev"), Some(MountFlags::NOEXEC));
        assert_eq!(mounts.len(), 3);
    }
}
