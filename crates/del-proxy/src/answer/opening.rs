//! How texts begin.

/// White space at the beginning waits until something follows it.
#[derive(Debug, Default)]
pub(super) struct Opening {
    blank: String,
    /// Stands before what follows, in place of white space.
    between: &'static str,
    /// Something followed.
    pub(super) over: bool,
}

impl Opening {
    /// What comes stands behind this text.
    pub(super) fn follow(&mut self, text: &str) {
        if !text.is_empty() {
            self.between = "\n\n";
        }
    }

    /// A paragraph that is none of the model's, behind what went out.
    pub(super) fn remark(&mut self, text: &str) -> String {
        self.blank.clear();
        let before = if std::mem::replace(&mut self.over, true) { "\n\n" } else { self.between };
        [before, text].concat()
    }

    /// What goes out now that this has come.
    pub(super) fn pass(&mut self, text: &str) -> Option<String> {
        if self.over {
            return Some(text.to_owned());
        }
        self.blank.push_str(text);
        self.over = !text.trim().is_empty();
        self.over.then(|| {
            let text = std::mem::take(&mut self.blank);
            if self.between.is_empty() { text } else { [self.between, text.trim_start()].concat() }
        })
    }
}
