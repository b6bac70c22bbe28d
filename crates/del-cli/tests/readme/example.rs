use del_dialects::{Collect, Dialects, End, Turn};

fn main() {
    let mut parser = Dialects::builtin().parser(Turn::default());
    let mut answer = Collect::new();
    for piece in ["I will look.\n<tool_", "call>\n{\"name\": \"list_dir\", \"argum", "ents\": {}}\n</tool_call>"] {
        parser.push(piece, &mut answer);
    }
    parser.finish(End::End, &mut answer);
    let message = answer.into_message();
    assert_eq!(message.content, "I will look.");
    assert_eq!(message.calls[0].name, "list_dir");
}
