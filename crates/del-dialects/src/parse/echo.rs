//! Calls that a model says a second time behind their block, up to a second closing mark.

use super::character::{first_char, is_name, starts_name};
use super::{Engine, Flow, Io, State};
use crate::fault::FaultKind;
use crate::scan::Scan;
use crate::value::white_space;

/// A place behind a block, where the block's calls seem to stand again without its first mark.
#[derive(Debug, Clone)]
pub(super) struct Echo {
    walk: usize,
    stage: Stage,
}

#[derive(Debug, Clone)]
enum Stage {
    /// Behind the bracket: a name and a bracket have to follow.
    Head,
    Name,
    /// Up to the closing mark.
    Body(Scan),
}

/// So much is held until the closing mark comes, in bytes.
const MAX_ECHO: usize = 64 << 10;

impl Engine {
    /// The bracket of a list stands at `look`, behind the block of calls.
    pub(super) fn begin_echo(&mut self, io: &mut Io<'_>, walk: usize) -> Flow {
        self.miss_closers(io);
        io.look += 1;
        self.state = State::Echo(Echo { walk, stage: Stage::Head });
        Flow::Next
    }

    pub(super) fn echo(&mut self, io: &mut Io<'_>) -> Flow {
        let plan = io.plan;
        loop {
            let State::Echo(echo) = &mut self.state else { return Flow::Next };
            let Some((marks, closers)) = &plan.walks[echo.walk].expected().echo else {
                return self.no_echo(io);
            };
            if io.look - io.at > MAX_ECHO {
                return self.no_echo(io);
            }
            match &mut echo.stage {
                Stage::Head => {
                    io.look += white_space(&io.bytes[io.look..]);
                    if io.look == io.bytes.len() {
                        return Flow::More;
                    }
                    if !starts_name(io.text, io.look) {
                        return self.no_echo(io);
                    }
                    echo.stage = Stage::Name;
                }
                Stage::Name => {
                    while io.look < io.bytes.len() && is_name(io.text, io.look) {
                        io.look += first_char(io.text, io.look);
                    }
                    match io.bytes.get(io.look) {
                        None => return Flow::More,
                        Some(b'(') => echo.stage = Stage::Body(Scan::default()),
                        Some(_) => return self.no_echo(io),
                    }
                }
                Stage::Body(scan) => {
                    let Some(hit) = marks.find(scan, io.bytes, &mut io.look, &mut io.again) else {
                        return Flow::More;
                    };
                    if hit.pattern as usize >= *closers {
                        return self.no_echo(io);
                    }
                    io.fault(FaultKind::OrphanMark, None, io.at, hit.end);
                    io.at = hit.end;
                    io.rewind(hit.end);
                    self.resume_text();
                    return Flow::Next;
                }
            }
        }
    }

    /// What was held is text.
    fn no_echo(&mut self, io: &mut Io<'_>) -> Flow {
        io.rewind(io.at);
        self.resume_text();
        Flow::Next
    }
}
