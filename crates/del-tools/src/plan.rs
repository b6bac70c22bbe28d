//! A call that was understood, before anybody agreed to it.

use std::fmt;
use std::path::PathBuf;

use crate::class::Class;
use crate::job::Job;
use crate::question::{Loan, Question};

/// A call that is understood and possible, and only wants consent.
pub struct Plan {
    pub(crate) tool: String,
    pub(crate) class: Class,
    pub(crate) job: Box<dyn Job>,
    pub(crate) question: Question,
    pub(crate) notes: Vec<String>,
    pub(crate) grant: Grant,
    /// The arguments may not be what the model meant.
    pub(crate) doubted: bool,
    /// What a program of the user's own says to it.
    pub(crate) advice: Advice,
}

/// A call that the user allowed for good: this tool, these arguments, this directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Grant {
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) directory: PathBuf,
    /// What the user was warned of.
    pub(crate) cautions: Vec<String>,
}

/// What a program of the user's own says to a planned call, where it neither lets it pass nor forbids it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Advice {
    /// Nothing.
    #[default]
    None,
    /// The user has to be asked, for this reason, whatever the mode and the rules say.
    Ask(String),
    /// It is the user's yes to the usual question. It is none where there are reasons to look twice, nor where the
    /// arguments may not be what the model meant; and what is denied stays so.
    Yes,
}

impl Plan {
    /// The tool's canonical name.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What the call would do to the world.
    pub fn class(&self) -> Class {
        self.class
    }

    /// The arguments may not be what the model meant, for this reason: unless the call only reads, it asks, whatever
    /// the mode and the rules say.
    pub fn doubt(&mut self, why: &str) {
        self.doubted = true;
        self.question.cautions.push(why.to_owned());
        self.grant.cautions.push(why.to_owned());
    }

    /// Takes what a program of the user's own says to it.
    pub fn take_advice(&mut self, advice: Advice) {
        if let Advice::Ask(why) = &advice {
            self.question.remarks.push(why.clone());
        }
        self.advice = advice;
    }

    /// What others say of it, besides the policy.
    pub fn advice(&self) -> &Advice {
        &self.advice
    }

    /// Tells the user something besides what the call does.
    pub fn remark(&mut self, remark: &str) {
        self.question.remarks.push(remark.to_owned());
    }

    /// Gives the call the network, where its question says that this can be. From then on the question says what it means.
    pub(crate) fn lend_network(&mut self) {
        let Loan::Possible(means) = self.question.loan.clone() else { return };
        self.job.lend_network();
        self.notes.push("[the user let this command use the network]".to_owned());
        self.grant.cautions.push(means.clone());
        self.question.cautions.push(means);
        self.question.loan = Loan::Given;
    }

    /// True where the arguments may not be what the model meant, and the call does more than read.
    pub fn is_doubtful(&self) -> bool {
        self.doubted && self.class != Class::Read
    }

    /// True where there is no reason to look twice.
    pub(crate) fn is_plain(&self) -> bool {
        !self.doubted && self.question.is_plain()
    }

    /// What the user is to be shown.
    pub fn question(&self) -> &Question {
        &self.question
    }

    pub(crate) fn grant(&self) -> &Grant {
        &self.grant
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("tool", &self.tool)
            .field("question", &self.question)
            .finish_non_exhaustive()
    }
}
