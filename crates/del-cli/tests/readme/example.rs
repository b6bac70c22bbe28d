use del_dialects::{Collect, Dialects, End, Event, Span, Turn};

fn main() {
    let pieces = [
        "I will look.\n<tool_",
        "call>\n{\"name\": \"get_weather\", \"argum",
        "ents\": {\"days\": 3}}\n</tool_call>",
    ];
    let mut parser = Dialects::builtin().parser(Turn::default());
    let mut answer = Collect::new();
    for piece in pieces {
        parser.push(piece, &mut answer);
    }
    parser.finish(End::End, &mut answer);
    let message = answer.into_message();
    assert_eq!(message.content, "I will look.");
    assert_eq!(message.calls[0].name, "get_weather");
    assert_eq!(message.calls[0].arguments, "{\"days\": 3}");

    let mut parser = Dialects::builtin().parser(Turn::default());
    let mut print = |event: Event<'_>, bytes: Span| println!("{bytes:?}: {event:?}");
    parser.push(&pieces.concat(), &mut print);
    parser.finish(End::End, &mut print);
}
