//! What is shown while Del works.

pub(crate) mod ahead;
pub(crate) mod bell;
pub(crate) mod events;
pub(crate) mod lines;
pub(crate) mod look;
pub(crate) mod markdown;
pub(crate) mod near;
pub(crate) mod pastes;
pub(crate) mod picker;
pub(crate) mod stage;
pub(crate) mod transcript;
