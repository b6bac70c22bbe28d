//! An answer that a server streams although it was asked for all of it at once, put together.

use del_wire::{Chunk, Decoder, Frame, FromServer, Heard, WireError, on_one_line, read_finite};

/// What the events of a stream amount to.
#[derive(Default)]
struct Together {
    chunk: Chunk,
    heard: bool,
    done: bool,
    wrong: Option<WireError>,
}

/// What a body of events says, as one chunk that has a delta for each; `None` for a body that is none. The reason why, where
/// it breaks off.
pub(super) fn together(server: &mut FromServer, body: &str) -> Option<Result<Chunk, String>> {
    let (mut all, mut decoder) = (Together::default(), Decoder::new());
    let pushed = decoder.push(body.as_bytes(), &mut |frame| all.add(server, frame));
    let ended = pushed.and_then(|()| {
        decoder.push(b"\n", &mut |frame| all.add(server, frame))?;
        decoder.finish(&mut |frame| all.add(server, frame))
    });
    let Together { chunk, heard, done, wrong } = all;
    if !heard {
        return None;
    }
    let wrong = wrong.map(|wrong| wrong.to_string()).or_else(|| Some(ended.err()?.to_string()));
    let ended = done || chunk.error.is_some() || chunk.choices.iter().any(|delta| delta.finish.is_some());
    let short = || (!ended).then(|| "its stream ended in the middle of the answer".to_owned());
    Some(wrong.or_else(short).map_or(Ok(chunk), Err))
}

impl Together {
    fn add(&mut self, server: &mut FromServer, frame: Frame<'_>) {
        if self.done || self.wrong.is_some() {
            return;
        }
        let Frame::Data { data, .. } = frame else {
            self.done = true;
            return;
        };
        match read_finite(&on_one_line(data), |data| self.hear(server, data)) {
            Ok(()) => {}
            Err(error) => self.wrong = Some(error),
        }
    }

    fn hear(&mut self, server: &mut FromServer, data: &str) -> Result<(), WireError> {
        match server.event(data)? {
            Heard::Nothing => {}
            Heard::Done => self.done = true,
            Heard::Chunk(new, _) => {
                let new = new.into_owned();
                let all = &mut self.chunk;
                all.id = all.id.take().or(new.id);
                all.model = all.model.take().or(new.model);
                all.usage = new.usage.or(all.usage);
                all.error = all.error.take().or(new.error);
                all.choices.extend(new.choices);
                self.heard = true;
            }
        }
        Ok(())
    }
}
