"""A model server whose answers are written down: one after the other, at once or in pieces of four characters."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Script:
    """The answers to come, and the requests that were made."""

    def __init__(self, answers: list[str]) -> None:
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []
        self.url = ""

    def messages(self, number: int) -> str:
        """All that a request tells, as one text."""
        return json.dumps(self.requests[number]["messages"], ensure_ascii=False)


@contextmanager
def served(*answers: str) -> Iterator[Script]:
    script = Script(list(answers))

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            script.requests.append(request)
            head = {"id": "chatcmpl-1", "created": 1, "model": request["model"]}
            text = script.answers.pop(0)
            usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
            if request.get("stream"):
                pieces = [{"role": "assistant", "content": ""}]
                pieces += [{"content": text[at : at + 4]} for at in range(0, len(text), 4)]
                choices = [{"index": 0, "delta": piece, "finish_reason": None} for piece in pieces]
                choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
                chunks = [head | {"object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
                chunks.append(head | {"object": "chat.completion.chunk", "choices": [], "usage": usage})
                lines = [*map(json.dumps, chunks), "[DONE]"]
                self.answer("text/event-stream", "".join(f"data: {line}\n\n" for line in lines))
            else:
                message = {"role": "assistant", "content": text}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                body = head | {"object": "chat.completion", "choices": [choice], "usage": usage}
                self.answer("application/json", json.dumps(body))

        def answer(self, kind: str, body: str) -> None:
            data = body.encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()


# Answers of a model that was trained on one dialect, whatever it was told.
CALL = (
    "<think>\nThey ask for the weather.\n</think>\n\nLet me look.\n"
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris",}}\n</tool_call>'
)
TWO = "\n".join(
    f"<tool_call>\n<function=get_weather>\n<parameter=city>\n{city}\n</parameter>\n</function>\n</tool_call>"
    for city in ("Paris", "Rome")
)
# Which of the cities is meant, nobody knows.
GUESSED = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "city": "Rome"}}\n</tool_call>'
# Only what stands behind the call tells that it may lack an argument.
LATE = '[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}, "days": 3}'
BROKEN = 'Let me look. <tool_call>{"name": "get_weather", "argum</tool_call>'
ANSWER = "It is sunny in Paris, 21 degrees."
