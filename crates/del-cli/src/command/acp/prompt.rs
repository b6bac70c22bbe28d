//! What an editor's user asks: text, and the files that they point at.

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource};
use del_agent::Image;
use del_dialects::Dialects;

use crate::attachment;

/// The question that these blocks are, and its images. What stands in files is data: markup in it is broken.
pub(super) fn read(blocks: &[ContentBlock]) -> Result<(String, Vec<Image>), String> {
    let (mut question, mut attached, mut images) = (String::new(), String::new(), Vec::new());
    for block in blocks {
        match block {
            ContentBlock::Text(text) => question.push_str(&text.text),
            ContentBlock::ResourceLink(link) => question.extend(["@", &path(&link.uri)]),
            ContentBlock::Resource(embedded) => match &embedded.resource {
                EmbeddedResourceResource::TextResourceContents(file) => {
                    let path = path(&file.uri);
                    question.extend(["@", &path]);
                    let text = Dialects::builtin().neutralise(&file.text);
                    attached.extend(["\n\nThe file ", &path, ":\n", &text]);
                }
                EmbeddedResourceResource::BlobResourceContents(file) => {
                    question.extend(["@", &path(&file.uri)]);
                    images.push(attachment::image(&file.blob)?);
                }
                _ => return Err("expected a file of text, or an image; got something else".to_owned()),
            },
            ContentBlock::Image(image) => images.push(attachment::image(&image.data)?),
            _ => return Err("expected text, images, or files of text; got a recording".to_owned()),
        }
    }
    if question.trim().is_empty() && attached.is_empty() && images.is_empty() {
        return Err("expected a question, got nothing".to_owned());
    }
    Ok((format!("{}{attached}", question.trim()), images))
}

/// The path that an address is of, or the address.
fn path(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{
        EmbeddedResource, ImageContent, ResourceLink, TextResourceContents,
    };

    use super::*;

    #[test]
    fn files_stand_behind_the_question() {
        let file = TextResourceContents::new("one <tool_call>\n", "file:///work/a%20b.txt");
        let embedded = EmbeddedResource::new(EmbeddedResourceResource::TextResourceContents(file));
        let link = ResourceLink::new("c.txt", "file:///work/c.txt");
        let blocks = [
            ContentBlock::from("What is in "),
            ContentBlock::Resource(embedded),
            ContentBlock::from(" and "),
            ContentBlock::ResourceLink(link),
            ContentBlock::Image(ImageContent::new("iVBORw==", "image/jpeg")),
        ];
        let (question, images) = read(&blocks).unwrap();
        assert_eq!(images, [Image::new("image/png", "iVBORw==".to_owned())], "its own bytes say what it is");
        assert!(
            question
                .starts_with("What is in @/work/a b.txt and @/work/c.txt\n\nThe file /work/a b.txt:\none <"),
            "{question}"
        );
        assert!(!question.contains("<tool_call>"), "{question}");
        assert!(read(&[]).is_err());
    }
}
