//! What is said of the sandbox: what it holds, and when it may have been in the way.

use std::fmt;

use super::{Level, Reach, Sandbox};

/// How programs say that they could not write.
const REFUSED_WRITES: [&str; 6] = [
    "Permission denied",
    "permission denied",
    "Read-only file system",
    "EACCES",
    "EROFS",
    "Access is denied",
];
/// How they say that there is no network.
const NO_NETWORK: [&str; 18] = [
    "Operation not permitted",
    "operation not permitted",
    "EPERM",
    "ould not resolve",
    "ouldn't resolve",
    "nable to resolve",
    "Temporary failure resolving",
    "failure in name resolution",
    "failed to lookup address",
    "Name or service not known",
    "Network is unreachable",
    "EAI_AGAIN",
    "ENOTFOUND",
    "getaddrinfo",
    "dial tcp",
    "dial unix",
    "socket: ",
    "cannot create socket",
];

/// What a sandbox keeps from commands, to say so.
#[derive(Debug, Clone)]
pub(crate) struct Fences {
    /// The directories in which they may write.
    places: String,
    network: bool,
    /// The user can give it to one command.
    lends: bool,
}

impl Fences {
    /// What to pass when the output of a program that failed looks as if the sandbox had been in its way.
    pub(crate) fn remark(&self, output: &str) -> Option<String> {
        let says = |signs: &[&str]| signs.iter().any(|sign| output.contains(sign));
        let mut remedies = Vec::new();
        if says(&REFUSED_WRITES) {
            remedies.push(format!("commands write only in {} (--allow-dir DIR adds one)", self.places));
        }
        if !self.network && says(&NO_NETWORK) {
            let one = if self.lends { " to all, the user's word to one that asks" } else { "" };
            remedies.push(format!("commands have no network (--allow-network gives it{one})"));
        }
        (!remedies.is_empty())
            .then(|| format!("[the sandbox may have been in the way: {}]", remedies.join("; ")))
    }

    /// The same for whoever is to run commands and has not tried yet.
    pub(crate) fn limits(&self) -> String {
        let network = if self.network { "" } else { " and have no network" };
        format!(
            "A sandbox holds commands: they write only in {}{network}. Where that is too little, tell the user.",
            self.places
        )
    }
}

impl Sandbox {
    /// What programs are kept from, if they are.
    pub(crate) fn fences(&self) -> Option<Fences> {
        let held = !matches!(self.level, Level::Off | Level::None);
        held.then(|| Fences { places: self.places(), network: self.network, lends: false })
    }

    /// The same for a command of the user's or the model's that reaches so far.
    pub(crate) fn fences_of_command(&self, reach: Reach) -> Option<Fences> {
        let network = self.network || reach == Reach::Far;
        self.fences().map(|fences| Fences { network, lends: self.far.is_some(), ..fences })
    }

    /// What [`Fences::remark`] says of a program.
    pub(crate) fn remark(&self, output: &str) -> Option<String> {
        self.fences()?.remark(output)
    }

    /// What it means to give the network to one command, where it has none and that can be done.
    pub(crate) fn loan(&self) -> Option<String> {
        let far = self.far.as_ref()?;
        let kept = self.launcher.is_some() || self.write.keeps_modes();
        let modes = if kept && !far.keeps_modes() {
            ", and change modes, times and owners of your files everywhere"
        } else {
            ""
        };
        Some(format!(
            "with the network, this once: it can send away all that it can read, and have servers do what it cannot, also \
             those of this machine (Docker, your desktop){modes}; it writes where other commands do"
        ))
    }

    fn places(&self) -> String {
        let places: Vec<_> = self.writable.iter().map(|path| path.display().to_string()).collect();
        places.join(", ")
    }
}

impl fmt::Display for Sandbox {
    /// Says on one line what commands can and cannot do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let network = match () {
            () if self.network => "they may use the network",
            () if self.bubble.is_some() || self.write.filters() => "they have no network",
            () => "the network is not kept from them",
        };
        let network = match self.hidden.len() {
            0 => network.to_owned(),
            many => format!("{network}; {many} places with keys and credentials are kept from them"),
        };
        let keeps = self.bubble.is_some() || self.launcher.is_some() || self.write.keeps_modes();
        let network = if keeps {
            network
        } else {
            format!("{network}; modes, times and owners of files elsewhere are not kept from them")
        };
        let by =
            self.bubble.as_ref().map_or_else(|| self.write.names(), |_| "bubblewrap, seccomp".to_owned());
        match self.level {
            Level::Off => f.write_str("commands are not confined: the sandbox is off"),
            Level::None => {
                write!(
                    f,
                    "this system cannot keep commands from writing anywhere, so each one asks; {network} ({by})"
                )
            }
            Level::Partial => {
                write!(f, "commands are confined in part: they write in {}; {network} ({by})", self.places())
            }
            Level::Full => {
                write!(f, "commands are confined: they write only in {}; {network} ({by})", self.places())
            }
        }
    }
}
