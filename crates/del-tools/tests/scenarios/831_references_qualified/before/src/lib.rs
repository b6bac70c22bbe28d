use crate::parser;

pub struct Stack(Vec<u8>);

impl Stack {
    /// Adds one: push.
    pub fn push(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn secret(&self) -> usize {
        self.0.len()
    }
}
