//! The order in which a chat's roles speak. Many chat templates take the system's message first and nowhere else, and some
//! want user and model to take turns.
//!
//! What becomes of a message follows from those before it and the next one, so that a conversation that goes on keeps its
//! beginning.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::fields::Fields;

/// Which orders of roles a model takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Roles {
    /// All of them.
    #[default]
    Any,
    /// The system speaks first and not again, and the user once in a turn.
    SystemFirst,
    /// The same, and the user does not speak between results and the answer to them.
    Alternating,
}

/// A message, and who speaks.
struct Message<'a> {
    role: Cow<'a, str>,
    json: Cow<'a, str>,
}

impl Roles {
    /// What is left to try once a server refused this conversation in these words, in lower case.
    pub(crate) fn after(self, said: &str, messages: &[&str]) -> Option<Self> {
        let is_meant = ["role", "alternat", "system message"].iter().any(|words| said.contains(words));
        let stricter = [Self::SystemFirst, Self::Alternating].into_iter().filter(|roles| *roles > self);
        stricter.filter(|_| is_meant).find(|roles| roles.arrange(messages).is_some())
    }

    /// These messages in an order that the model takes; nothing where they are so already.
    pub(crate) fn arrange(self, messages: &[&str]) -> Option<Vec<String>> {
        if self == Self::Any {
            return None;
        }
        let (mut out, mut answered) = (Vec::<Message<'_>>::with_capacity(messages.len()), false);
        for json in messages {
            let message = Message::read(json)?;
            match &*message.role {
                "system" | "developer" if !answered => match out.first_mut() {
                    Some(first) if first.role == "system" => first.join(&message.content()),
                    _ => out.insert(0, message.spoken_by("system")),
                },
                "system" | "developer" => {
                    let marked = marked("system", &message.content());
                    self.add(&mut out, Message::of_user(&marked));
                }
                "user" => self.add(&mut out, message),
                role => {
                    answered |= role == "assistant";
                    out.push(message);
                }
            }
        }
        let out: Vec<String> = out.into_iter().map(|message| message.json.into_owned()).collect();
        (out != messages).then_some(out)
    }

    /// Adds what the user says, to what the user said before where nothing else is known of either.
    fn add<'a>(self, out: &mut Vec<Message<'a>>, message: Message<'a>) {
        match out.last_mut() {
            Some(last) if last.role == "user" && last.is_plain() && message.is_plain() => {
                last.join(&message.content());
            }
            Some(last) if last.role == "tool" && self == Self::Alternating && message.is_text() => {
                last.join(&marked("user", &message.content()));
            }
            _ => out.push(message),
        }
    }
}

impl<'a> Message<'a> {
    fn read(json: &'a str) -> Option<Self> {
        let role = Fields::read(json, "message").ok()?.text("role").ok()??;
        Some(Self { role: role.into(), json: json.into() })
    }

    fn of_user(content: &Value) -> Self {
        let json = json!({"role": "user", "content": content}).to_string();
        Self { role: "user".into(), json: json.into() }
    }

    fn members(&self) -> Map<String, Value> {
        serde_json::from_str(&self.json).unwrap_or_default()
    }

    fn content(&self) -> Value {
        self.members().remove("content").unwrap_or_default()
    }

    /// Nothing but its content is known of it.
    fn is_plain(&self) -> bool {
        self.members().keys().all(|name| name == "role" || name == "content")
    }

    /// The same without images and their like.
    fn is_text(&self) -> bool {
        let content = self.content();
        let parts = content.as_array().map_or(&[][..], Vec::as_slice);
        self.is_plain() && parts.iter().all(|part| part["type"] == "text")
    }

    fn spoken_by(self, role: &'static str) -> Self {
        if self.role == role {
            return self;
        }
        let mut members = self.members();
        members.insert("role".to_owned(), json!(role));
        Self { role: role.into(), json: Value::Object(members).to_string().into() }
    }

    /// Puts more behind its content.
    fn join(&mut self, more: &Value) {
        let mut members = self.members();
        let content = members.entry("content").or_insert(Value::Null);
        *content = joined(std::mem::take(content), more);
        self.json = Value::Object(members).to_string().into();
    }
}

/// Two contents as one: texts as paragraphs, and parts as they are.
fn joined(first: Value, more: &Value) -> Value {
    match (first, more) {
        (Value::Null, more) => more.clone(),
        (first, Value::Null) => first,
        (Value::String(first), Value::String(more)) => json!(format!("{first}\n\n{more}")),
        (first, more) => {
            let mut parts = parts(first);
            let last = parts.last_mut().filter(|last| last["type"] == "text");
            if let Some(Value::String(text)) = last.and_then(|last| last.get_mut("text")) {
                text.push_str("\n\n");
            }
            parts.extend(self::parts(more.clone()));
            Value::Array(parts)
        }
    }
}

fn parts(content: Value) -> Vec<Value> {
    match content {
        Value::Array(parts) => parts,
        text => vec![json!({"type": "text", "text": text})],
    }
}

/// What one role says, in the message of another.
fn marked(role: &str, content: &Value) -> Value {
    let text = match content {
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n\n")
        }
        text => text.as_str().unwrap_or_default().to_owned(),
    };
    json!(format!("<{role}-message>\n{text}\n</{role}-message>"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Roles;

    fn arranged(roles: Roles, messages: &Value) -> Option<Value> {
        let texts: Vec<String> = messages.as_array().unwrap().iter().map(Value::to_string).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let out = roles.arrange(&texts)?;
        assert_eq!(roles.arrange(&out.iter().map(String::as_str).collect::<Vec<_>>()), None, "in order");
        Some(out.iter().map(|json| serde_json::from_str::<Value>(json).unwrap()).collect())
    }

    fn says(role: &str, content: impl Into<Value>) -> Value {
        json!({"role": role, "content": content.into()})
    }

    #[test]
    fn the_system_speaks_first() {
        let [a, b] = ["a", "b"].map(|text| json!({"type": "text", "text": text}));
        for (messages, expected) in [
            (
                json!([says("system", "s"), says("user", "u"), says("system", "t"), says("assistant", "a")]),
                json!([says("system", "s\n\nt"), says("user", "u"), says("assistant", "a")]),
            ),
            (
                json!([says("user", "u"), says("developer", "d")]),
                json!([says("system", "d"), says("user", "u")]),
            ),
            (
                json!([says("system", json!([a])), says("user", "u"), says("system", "t")]),
                json!([
                    says("system", json!([{"type": "text", "text": "a\n\n"}, {"type": "text", "text": "t"}])),
                    says("user", "u")
                ]),
            ),
            (
                json!([says("assistant", "a"), says("system", json!([a, b])), says("user", "u")]),
                json!([
                    says("assistant", "a"),
                    says("user", "<system-message>\na\n\nb\n</system-message>\n\nu")
                ]),
            ),
            (
                json!([says("assistant", "a"), says("tool", "r"), says("system", "t")]),
                json!([
                    says("assistant", "a"),
                    says("tool", "r"),
                    says("user", "<system-message>\nt\n</system-message>")
                ]),
            ),
        ] {
            assert_eq!(arranged(Roles::SystemFirst, &messages), Some(expected));
        }
        let right = json!([says("system", "s"), says("user", "u"), says("assistant", "a")]);
        assert_eq!(arranged(Roles::Alternating, &right), None);
        assert_eq!(arranged(Roles::Any, &json!([says("user", "u"), says("system", "s")])), None);
    }

    #[test]
    fn the_user_speaks_once_in_a_turn() {
        let image = json!({"type": "image_url", "image_url": {"url": "u"}});
        let part = |text: &str| json!({"type": "text", "text": text});
        for (messages, expected) in [
            (json!([says("user", "a"), says("user", "b")]), json!([says("user", "a\n\nb")])),
            (
                json!([says("user", json!([image])), says("user", "b"), says("user", json!([image]))]),
                json!([says("user", json!([image, part("b\n\n"), image]))]),
            ),
        ] {
            assert_eq!(arranged(Roles::SystemFirst, &messages), Some(expected));
        }
        let named = json!([says("user", "a"), {"role": "user", "name": "n", "content": "b"}]);
        assert_eq!(arranged(Roles::SystemFirst, &named), None);
    }

    #[test]
    fn results_are_followed_by_the_model_where_that_is_all_that_helps() {
        let told = json!([says("user", "u"), says("assistant", "a"), says("tool", "r"), says("user", "v")]);
        assert_eq!(arranged(Roles::SystemFirst, &told), None);
        let expected = json!([
            says("user", "u"),
            says("assistant", "a"),
            says("tool", "r\n\n<user-message>\nv\n</user-message>")
        ]);
        assert_eq!(arranged(Roles::Alternating, &told), Some(expected));
    }

    #[test]
    fn a_conversation_that_goes_on_keeps_its_beginning() {
        let all = [
            says("system", "s"),
            says("user", "u"),
            says("system", "t"),
            says("assistant", "a"),
            says("tool", "r"),
            says("system", "w"),
            says("assistant", "b"),
            says("user", "v"),
            says("system", "x"),
            says("assistant", "c"),
        ];
        let of = |end: usize| {
            let begin = json!(all[..end]);
            arranged(Roles::SystemFirst, &begin).unwrap_or(begin).as_array().unwrap().clone()
        };
        // Each of these is what a request ends with.
        for end in [3, 6, 9] {
            let (now, later) = (of(end), of(all.len()));
            assert_eq!(now[..], later[..now.len()], "{end}");
        }
    }
}
