//! What a model is asked otherwise than its API has it, as its server refused that before.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::anthropic;
use crate::api_error::ApiError;
use crate::fields::{Fields, list, string};
use crate::members::Members;
use crate::responses;
use crate::roles::Roles;

/// What is changed of the requests for one model. Everything else in them stays byte for byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amends {
    /// The limit is `max_completion_tokens`.
    limit: bool,
    /// Nothing is said of how a stream comes.
    stream_options: bool,
    /// No summary of thoughts is asked for.
    summary: bool,
    /// The server's seals on thoughts are not asked for.
    seals: bool,
    /// Nothing is said of how much effort the model is to make.
    effort: bool,
    thoughts: Thoughts,
    roles: Roles,
}

/// What a client asks for by the server's own API, and is told where it is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    /// It speaks that API.
    pub own: bool,
    /// It wants the seals on thoughts.
    pub seals: bool,
}

/// In which member of a chat earlier thoughts go to the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Thoughts {
    #[default]
    ReasoningContent,
    Reasoning,
    Nowhere,
}

const CONTENT: &str = "reasoning_content";
const REASONING: &str = "reasoning";
/// Where Anthropic's API has the effort.
const CONFIG: &str = "output_config";

impl Amends {
    /// True where nothing is changed.
    pub fn are_none(self) -> bool {
        self == Self::default()
    }

    /// The same for a server whose thoughts come as `reasoning`, and are read again so.
    #[must_use]
    pub fn thinking_as_reasoning(self) -> Self {
        match self.thoughts {
            Thoughts::ReasoningContent => Self { thoughts: Thoughts::Reasoning, ..self },
            Thoughts::Reasoning | Thoughts::Nowhere => self,
        }
    }

    /// What is changed as well once the server refused this request with this error; nothing where no change would help, or
    /// it is about what the client asks for itself.
    #[must_use]
    pub fn after(self, error: &ApiError, request: &str, asked: Wishes) -> Option<Self> {
        // llama.cpp says so of a chat template that fails.
        let by_template = error.status == 500;
        if !matches!(error.status, 400 | 422 | 500) || error.is_too_long() {
            return None;
        }
        let fields = Fields::read(request, "request").ok()?;
        let said = error.message.to_lowercase();
        let messages = || fields.list("messages").ok().flatten();
        let mut more = self;
        if let Some(roles) = messages().and_then(|messages| self.roles.after(&said, &messages)) {
            more.roles = roles;
        } else if by_template {
            return None;
        } else if said.contains("max_completion_tokens") && fields.has("max_tokens") {
            more.limit = true;
        } else if said.contains("stream_options") && fields.has("stream_options") && !asked.own {
            more.stream_options = true;
        } else if said.contains("summar") && has(&fields, REASONING, "summary") && !asked.own {
            more.summary = true;
        } else if (said.contains("encrypted") || names(&said, "include"))
            && fields.get("include").is_some_and(|include| include.contains(responses::SEALS))
            && !asked.seals
        {
            more.seals = true;
        } else if (said.contains("effort") || names(&said, CONFIG))
            && has(&fields, CONFIG, "effort")
            && !asked.own
        {
            more.effort = true;
        } else if said.contains(CONTENT) || names(&said, REASONING) {
            messages()?.iter().find(|json| json.contains(REASONING))?;
            more.thoughts = Thoughts::Nowhere;
        }
        (more != self).then_some(more)
    }

    /// What of a request for a chat completion is so left out that its client asked for.
    pub fn left_out(self, body: &Map<String, Value>) -> Option<&'static str> {
        let asked = || anthropic::to_server::effort(body).is_some();
        (self.effort && asked()).then_some("reasoning_effort")
    }

    /// The request as the server takes it; nothing where it does so already. One `as_it_came` has thoughts where its client
    /// puts them.
    pub fn amend(self, request: &str, as_it_came: bool) -> Option<String> {
        let fields = Fields::read(request, "request").ok()?;
        let (mut out, mut changed) = (Members::default(), false);
        for (name, json) in fields.iter() {
            let new = match name {
                "max_tokens" if self.limit => {
                    if !fields.has("max_completion_tokens") {
                        out.add("max_completion_tokens", json);
                    }
                    None
                }
                "stream_options" if self.stream_options => None,
                REASONING if self.summary => without(json, "summary"),
                CONFIG if self.effort => without(json, "effort"),
                "include" if self.seals => without_seals(json),
                "messages" => Some(self.messages(json, as_it_came)),
                _ => Some(json.to_owned()),
            };
            changed |= new.as_deref() != Some(json);
            if let Some(json) = new {
                out.add(name, &json);
            }
        }
        changed.then(|| out.into_text())
    }

    fn messages(self, json: &str, as_it_came: bool) -> String {
        let stay = match self.thoughts {
            Thoughts::ReasoningContent => true,
            Thoughts::Reasoning => as_it_came,
            Thoughts::Nowhere => false,
        };
        let Ok(messages) = list(json, "messages") else { return json.to_owned() };
        let arranged = self.roles.arrange(&messages);
        let messages: Vec<String> = match arranged {
            None if stay => return json.to_owned(),
            Some(arranged) if stay => arranged,
            Some(arranged) => arranged.iter().map(|message| self.message(message)).collect(),
            None => messages.into_iter().map(|message| self.message(message)).collect(),
        };
        format!("[{}]", messages.join(","))
    }

    fn message(self, json: &str) -> String {
        let Some(fields) = Fields::read(json, "message").ok().filter(|_| json.contains(REASONING)) else {
            return json.to_owned();
        };
        let (mut out, gone) = (Members::default(), self.thoughts == Thoughts::Nowhere);
        for (name, json) in fields.iter() {
            match name {
                CONTENT | REASONING if gone => {}
                CONTENT if fields.has(REASONING) => {}
                CONTENT => out.add(REASONING, json),
                _ => out.add(name, json),
            }
        }
        out.into_text()
    }
}

/// True where an error is about the member of this name, which is a word as well.
fn names(said: &str, name: &str) -> bool {
    let around = [["'", "'"], ["\"", "\""], ["`", "`"], [".", ":"], ["", "["]];
    around.iter().any(|[before, behind]| said.contains(&[before, name, behind].concat()))
}

fn has(fields: &Fields<'_>, object: &str, name: &str) -> bool {
    fields.object(object).ok().flatten().is_some_and(|object| object.get(name).is_some())
}

/// An object without a member; nothing where it has no other.
fn without(json: &str, left_out: &str) -> Option<String> {
    let Ok(fields) = Fields::read(json, "object") else { return Some(json.to_owned()) };
    let mut out = Members::default();
    for (name, json) in fields.iter().filter(|(name, _)| *name != left_out) {
        out.add(name, json);
    }
    (!out.is_empty()).then(|| out.into_text())
}

fn without_seals(json: &str) -> Option<String> {
    let Ok(included) = serde_json::from_str::<Vec<&RawValue>>(json) else { return Some(json.to_owned()) };
    let kept = included.into_iter().map(RawValue::get);
    let kept: Vec<&str> =
        kept.filter(|name| string(name, "include").ok().as_deref() != Some(responses::SEALS)).collect();
    (!kept.is_empty()).then(|| format!("[{}]", kept.join(",")))
}

#[cfg(test)]
mod tests {
    use super::{Amends, Wishes};
    use crate::api_error::ApiError;

    fn after(said: &str, request: &str, own: bool) -> Option<Amends> {
        let body = serde_json::json!({"error": {"message": said}}).to_string();
        Amends::default().after(&ApiError::from_response(400, &body), request, Wishes { own, seals: own })
    }

    #[test]
    fn what_was_refused_is_told_otherwise_and_the_rest_as_it_was() {
        let limit = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        let summary = "Your organization must be verified to generate reasoning summaries.";
        let seals = "Encrypted content is not supported with this model.";
        let effort = "This model does not support the effort parameter.";
        let thoughts = "'messages.1' : property 'reasoning_content' is unsupported";
        for (said, request, told) in [
            (limit, r#"{"max_tokens":9,"top_p":1.00}"#, r#"{"max_completion_tokens":9,"top_p":1.00}"#),
            (
                "Unknown parameter: 'stream_options'",
                r#"{"stream":true,"stream_options":{"include_usage":true}}"#,
                r#"{"stream":true}"#,
            ),
            (
                summary,
                r#"{"reasoning":{"effort":"low","summary":"auto"}}"#,
                r#"{"reasoning":{"effort":"low"}}"#,
            ),
            (summary, r#"{"a":1,"reasoning":{"summary":"auto"}}"#, r#"{"a":1}"#),
            (seals, r#"{"a":1,"include":["reasoning.encrypted_content"]}"#, r#"{"a":1}"#),
            (seals, r#"{"include":["reasoning.encrypted_content","b"]}"#, r#"{"include":["b"]}"#),
            (
                effort,
                r#"{"output_config":{"format":{},"effort":"low"}}"#,
                r#"{"output_config":{"format":{}}}"#,
            ),
            (effort, r#"{"a":1,"output_config":{"effort":"low"}}"#, r#"{"a":1}"#),
            (
                thoughts,
                r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","reasoning_content":"h","n":1e2}]}"#,
                r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","n":1e2}]}"#,
            ),
        ] {
            let amends = after(said, request, false).unwrap();
            assert_eq!(amends.amend(request, true).as_deref(), Some(told), "{said}");
            assert_eq!(amends.amend(told, true), None);
            let body = ApiError::from_response(400, &format!(r#"{{"error":"{}"}}"#, said.replace('"', "")));
            assert_eq!(amends.after(&body, told, Wishes::default()), None);
        }
    }

    #[test]
    fn what_a_client_asked_for_itself_and_what_is_not_there_is_refused() {
        let usage = "Unknown parameter: 'stream_options'";
        assert_eq!(after(usage, r#"{"stream_options":{}}"#, true), None);
        assert_eq!(after(usage, "{}", false), None);
        let effort = "output_config.effort: Input should be 'low', 'medium' or 'high'";
        assert_eq!(after(effort, r#"{"output_config":{"effort":"x"}}"#, true), None);
        assert_eq!(
            after("max_completion_tokens is too large", r#"{"max_completion_tokens":9}"#, false),
            None
        );
        assert_eq!(after("No.", r#"{"max_tokens":9}"#, false), None);
    }

    #[test]
    fn thoughts_go_back_as_they_came() {
        let amends = Amends::default().thinking_as_reasoning();
        let request = r#"{"messages":[{"role":"assistant","reasoning_content":"h"}]}"#;
        assert_eq!(
            amends.amend(request, false).as_deref(),
            Some(r#"{"messages":[{"role":"assistant","reasoning":"h"}]}"#)
        );
        assert_eq!(amends.amend(request, true), None);
    }
}
