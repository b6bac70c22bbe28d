//! Landlock for files, TCP and signals; a view of the file system for what Landlock does not know; seccomp for other system
//! calls.

mod bubble;
mod launch;
mod mounts;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

use super::{Level, Rights, apart};
use mounts::Place;

pub(super) use bubble::{Bubble, sealed};
pub(super) use launch::{Launcher, launch};

/// What can be written without leaving a trace.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Where programs share memory.
const SHARED_MEMORY: &str = "/dev/shm";

/// System calls that no command of a model needs: rings do what the filter forbids, the next reach into other
/// processes, and the rest reach into the kernel.
const REFUSED: [i64; 18] = [
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_open_by_handle_at,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
];

/// System calls that change what Landlock does not know: modes, owners, times and attributes. Nobody who only looks needs
/// them.
const CHANGES: [i64; 16] = [
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    // `fchmodat2`, `setxattrat`, `removexattrat` and `file_setattr` have the same numbers everywhere.
    452,
    463,
    466,
    469,
    // And `quotactl_fd`, which changes what an owner may use.
    443,
];
/// Those that only older processors have.
#[cfg(target_arch = "x86_64")]
const OLD_CHANGES: [i64; 6] = [
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CHANGES: [i64; 0] = [];

/// The rights that are given up before a command starts.
#[derive(Debug, Default)]
pub(super) struct Hold {
    /// What can be changed in the view that this thread gets, if it gets one.
    view: Option<Vec<Place>>,
    ruleset: Option<RulesetCreated>,
    /// The version of Landlock that holds.
    landlock: Option<ABI>,
    filter: Option<BpfProgram>,
}

impl Hold {
    /// What of the sandbox this kernel holds.
    pub(super) fn new(rights: &Rights<'_>) -> Self {
        let ruleset = ruleset(rights).ok();
        let landlock = ruleset.as_ref().and_then(|ruleset| apart(|| confine(ruleset)).ok().flatten());
        let filter = filter(rights).filter(|filter| apart(|| screen(filter)).is_ok());
        let view = Some(rights.places()).filter(|_| rights.changes);
        let view = view.filter(|places| landlock.is_some() && apart(|| mounts::narrow(places)).is_ok());
        Self { view, ruleset: ruleset.filter(|_| landlock.is_some()), landlock, filter }
    }

    /// The rights to write in `writable` for a thread that has its view, where a trial has shown that all of this holds.
    fn ordered(hidden: &[PathBuf], writable: &[Place], network: bool) -> io::Result<Self> {
        let all = [PathBuf::from("/")];
        let rights = Rights { readable: &all, hidden, writable: &[], network, changes: true };
        let open = writable.iter().filter_map(Place::open);
        let rules =
            open.map(|place| Ok::<_, RulesetError>(PathBeneath::new(place, AccessFs::from_all(ABI::V5))));
        let ruleset =
            ruleset(&rights).and_then(|ruleset| ruleset.add_rules(rules)).map_err(io::Error::other)?;
        Ok(Self { view: None, ruleset: Some(ruleset), landlock: None, filter: filter(&rights) })
    }

    /// The same hold with these rights; nothing is tried out again.
    pub(super) fn with(&self, rights: &Rights<'_>) -> Option<Self> {
        let view = self.view.as_ref().map(|_| rights.places());
        let (ruleset, filter) = (ruleset(rights).ok()?, filter(rights)?);
        Some(Self { view, ruleset: Some(ruleset), landlock: self.landlock, filter: Some(filter) })
    }

    /// Whether nothing outside of the allowed directories can be changed, its mode and times neither.
    pub(super) fn keeps_modes(&self) -> bool {
        self.view.is_some()
    }

    pub(super) fn level(&self) -> Level {
        match self.landlock {
            None => Level::None,
            // Older ones do not keep files from being cut short.
            Some(version) if version >= ABI::V3 && self.filters() => Level::Full,
            Some(_) => Level::Partial,
        }
    }

    /// Whether system calls are filtered.
    pub(super) fn filters(&self) -> bool {
        self.filter.is_some()
    }

    /// What holds commands.
    pub(super) fn names(&self) -> String {
        let landlock = match self.landlock {
            Some(version) if version < ABI::V3 => {
                format!("Landlock {}, which lets files be cut short anywhere", version as i32)
            }
            Some(version) => format!("Landlock {}", version as i32),
            None => "no Landlock".to_owned(),
        };
        format!("{landlock}, {}", if self.filters() { "seccomp" } else { "no seccomp" })
    }

    /// The filter as the kernel reads it.
    pub(super) fn filter_bytes(&self) -> Option<Vec<u8>> {
        let bytes = |call: &seccompiler::sock_filter| {
            let (code, most) = (call.code.to_ne_bytes(), call.k.to_ne_bytes());
            [code[0], code[1], call.jt, call.jf, most[0], most[1], most[2], most[3]]
        };
        self.filter.as_ref().map(|filter| filter.iter().flat_map(bytes).collect())
    }

    /// Gives up the rights of this thread.
    pub(super) fn apply(&self) -> io::Result<()> {
        if let Some(places) = &self.view {
            mounts::narrow(places)?;
        }
        if let Some(ruleset) = &self.ruleset
            && confine(ruleset)?.is_none()
        {
            return Err(io::Error::other("Landlock no longer holds commands"));
        }
        self.filter.as_ref().map_or(Ok(()), screen)?;
        disarm()
    }
}

impl Rights<'_> {
    /// Where something may be changed, as it is now.
    fn places(&self) -> Vec<Place> {
        let shared = Path::new(SHARED_MEMORY);
        self.writable.iter().map(PathBuf::as_path).chain([shared]).filter_map(Place::at).collect()
    }
}

fn ruleset(rights: &Rights<'_>) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_all(ABI::V5);
    let read = AccessFs::from_read(ABI::V5);
    let mut ruleset = Ruleset::default().handle_access(all)?.scope(Scope::from_all(ABI::V6))?;
    if !rights.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let mut readable = Readable::default();
    for place in rights.readable {
        readable.all_but(place, rights.hidden);
    }
    ruleset
        .create()?
        .add_rules(path_beneath_rules(readable.listed, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(readable.whole, read))?
        .add_rules(path_beneath_rules(DEVICES, all))?
        .add_rules(path_beneath_rules([SHARED_MEMORY], all))?
        .add_rules(path_beneath_rules(rights.writable, all))
}

/// What may be read when parts of a directory may not: the kernel only knows what is allowed, with all that lies below.
#[derive(Default)]
struct Readable {
    /// Places that are read whole.
    whole: Vec<PathBuf>,
    /// Directories of which the names can be listed.
    listed: Vec<PathBuf>,
}

impl Readable {
    fn all_but(&mut self, place: &Path, hidden: &[PathBuf]) {
        if hidden.iter().any(|hidden| place.starts_with(hidden)) {
            return;
        }
        if !hidden.iter().any(|hidden| hidden.starts_with(place)) {
            self.whole.push(place.to_owned());
            return;
        }
        self.listed.push(place.to_owned());
        let Ok(entries) = fs::read_dir(place) else { return };
        for entry in entries.flatten() {
            // A link may lead to what is hidden; where it leads has a rule of its own, or has none.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.all_but(&entry.path(), hidden);
            }
        }
    }
}

/// Holds this thread to `ruleset`. The version that holds it, if any does.
fn confine(ruleset: &RulesetCreated) -> io::Result<Option<ABI>> {
    let status = ruleset.try_clone()?.restrict_self().map_err(io::Error::other)?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => None,
        (_, LandlockStatus::Available { effective_abi, .. }) => Some(effective_abi),
        _ => None,
    })
}

/// Refuses system calls to this thread.
fn screen(filter: &BpfProgram) -> io::Result<()> {
    seccompiler::apply_filter(filter).map_err(io::Error::other)
}

/// What the administrator's programs may keep. The rest would let them look into other processes, and lift limits.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Takes from this thread what only the administrator may do. Programs that it starts do not get it back: the other
/// holds forbid that they gain rights.
fn disarm() -> io::Result<()> {
    let mut sets = capabilities(None)?;
    sets.effective &= KEPT;
    sets.permitted &= KEPT;
    sets.inheritable &= KEPT;
    Ok(set_capabilities(None, sets)?)
}

/// The filter, where this processor is known.
fn filter(rights: &Rights<'_>) -> Option<BpfProgram> {
    let target = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    // Local sockets too: behind them are servers with all the user's rights, such as the one that starts services.
    let sockets: &[i64] = if rights.network { &[] } else { &[libc::SYS_socket] };
    let (changes, old): (&[i64], &[i64]) = if rights.changes { (&[], &[]) } else { (&CHANGES, &OLD_CHANGES) };
    let mut refused = BTreeMap::new();
    for call in REFUSED.iter().chain(sockets).chain(changes).chain(old) {
        refused.insert(*call, Vec::new());
        if target == TargetArch::x86_64 {
            refused.insert(*call | X32, Vec::new());
        }
    }
    if target == TargetArch::x86_64 {
        refused.insert(X32_PTRACE, Vec::new());
    }
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(refused, SeccompAction::Allow, refuse, target).ok()?;
    filter.try_into().ok()
}

/// Marks the calls of programs with short pointers, which are the same calls to the kernel; a few have other numbers.
const X32: i64 = 0x4000_0000;
const X32_PTRACE: i64 = X32 + 521;

#[cfg(test)]
mod tests {
    use super::*;

    /// On a thread for which the kernel has no Landlock, as many systems have none.
    #[test]
    fn without_landlock_there_is_no_sandbox() {
        let level = apart(|| {
            let target = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
            let refused = BTreeMap::from([(libc::SYS_landlock_create_ruleset, Vec::new())]);
            let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
            let filter = SeccompFilter::new(refused, SeccompAction::Allow, missing, target);
            let filter: BpfProgram = filter.and_then(TryInto::try_into).map_err(io::Error::other)?;
            screen(&filter)?;
            let rights = Rights { readable: &[], hidden: &[], writable: &[], network: false, changes: false };
            Ok(Hold::new(&rights).level())
        });
        assert_eq!(level.unwrap(), Level::None);
    }
}
