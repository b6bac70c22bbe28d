"""A model server for exact tests of clients: it calls the tool that a request offers, and answers with its result.

The model's name says how it calls: `native` by the API, `leaked` as text although it was given tools, and `prompt` as
text because it refuses tools. `copy` copies notes.txt into the file that it is asked for, with a tool for each, and asks
for their definitions where it has to. `echo-N` says what the user said last, in pieces of N characters. Prints its address on one
line.
"""

import http.server
import json
import re
import shlex

TOOLS = {
    "get_weather": lambda asked: {"city": "Paris"},
    # As instructor calls it where it makes an object of a stream.
    "Partialget_weather": lambda asked: {"city": "Paris"},
    # How agents write a file: Claude Code, Qwen Code, opencode, and Codex by a shell.
    "Write": lambda asked: {"file_path": path(asked), "content": "written by the model\n"},
    "write_file": lambda asked: {"file_path": path(asked), "content": "written by the model\n"},
    "write": lambda asked: {"filePath": path(asked), "content": "written by the model\n"},
    "exec_command": lambda asked: {"cmd": f"printf 'written by the model\\n' > {shlex.quote(path(asked))}"},
    "shell_command": lambda asked: {"command": f"printf 'written by the model\\n' > {shlex.quote(path(asked))}"},
    "shell": lambda asked: {"command": ["sh", "-c", f"printf 'written by the model\\n' > {shlex.quote(path(asked))}"]},
}
RESULT = "sunny, 21 degrees"
ANSWER = f"It is {RESULT}."


def path(asked):
    """The file that the agent was asked to write; there may be blanks in its path."""
    return re.search(r"Write the file (/[^\n]+?/written\.txt)", asked).group(1)


def text_of(message):
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def reply(request):
    """What the model says: text, and calls of the API."""
    messages = request["messages"]
    if request["model"].startswith("echo-"):
        return text_of(messages[-1]), None
    if request["model"] == "copy":
        return copied(request)
    said = "\n".join(text_of(message) for message in messages)
    last = messages[-1]
    results = last["role"] == "tool" or "<tool_response>" in text_of(last) or RESULT in text_of(last)
    offered = [tool["function"]["name"] for tool in request.get("tools", [])]
    known = offered or [name for name in [*TOOLS, "final_answer"] if f'"name": "{name}"' in text_of(messages[0])]
    callable_tools = [name for name in TOOLS if name in known]
    if results and "final_answer" in known:
        name, arguments = "final_answer", {"answer": ANSWER}
    elif results or not callable_tools:
        return ANSWER, None
    else:
        name = callable_tools[0]
        arguments = TOOLS[name](said)
    if request["model"] == "native":
        return "", {"name": name, "arguments": json.dumps(arguments)}
    call = json.dumps({"name": name, "arguments": arguments})
    return f"I will look.\n<tool_call>\n{call}\n</tool_call>", None


def copied(request):
    """What the model says that copies a file."""
    messages = request["messages"]
    offered = [tool["function"]["name"] for tool in request.get("tools", [])]
    results = [message for message in messages if message["role"] == "tool" and "definition" not in text_of(message)]
    if not offered or len(results) > 1:
        return ANSWER, None
    if results:
        said = "\n".join(text_of(message) for message in messages)
        name, arguments = "Write", {"file_path": path(said), "content": text_of(results[0])}
    else:
        name, arguments = "read_file", {"file_path": "notes.txt"}
    if name not in offered and "request_tools" in offered:
        name, arguments = "request_tools", {"query": name}
    return "", {"name": name, "arguments": json.dumps(arguments)}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # What follows a head would wait 40 ms for word that the head has come.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def send(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path.endswith("/models"):
            models = [{"id": name, "object": "model", "created": 1, "owned_by": "test"}
                      for name in ("native", "leaked", "prompt")]
            self.send(200, {"object": "list", "data": models})
        else:
            self.send(404, {"error": {"message": f"no {self.path}"}})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self.path.endswith("/chat/completions"):
            return self.send(404, {"error": {"message": f"no {self.path}"}})
        if request["model"] == "prompt" and request.get("tools"):
            return self.send(400, {"error": {"message": "this model does not support tools"}})
        text, call = reply(request)
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        head = {"id": "chatcmpl-1", "created": 1, "model": request["model"]}
        calls = [{"id": "call_1", "type": "function", "function": call}] if call else None
        reason = "tool_calls" if call else "stop"
        if not request.get("stream"):
            message = {"role": "assistant", "content": text or None}
            if calls:
                message["tool_calls"] = calls
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self.send(200, {**head, "object": "chat.completion", "choices": [choice], "usage": usage})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        deltas = [{"role": "assistant", "content": ""}]
        size = int(request["model"].removeprefix("echo-")) if request["model"].startswith("echo-") else 5
        deltas += [{"content": text[at : at + size]} for at in range(0, len(text), size)]
        if call:
            start = {"index": 0, "id": "call_1", "type": "function", "function": {"name": call["name"], "arguments": ""}}
            deltas.append({"tool_calls": [start]})
            written = call["arguments"]
            deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": written[at : at + 7]}}]}
                       for at in range(0, len(written), 7)]
        for delta in deltas:
            self.event({**head, "object": "chat.completion.chunk",
                        "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        self.event({**head, "object": "chat.completion.chunk",
                    "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        if request.get("stream_options", {}).get("include_usage"):
            self.event({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        self.chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def event(self, event):
        self.chunk(b"data: " + json.dumps(event).encode() + b"\n\n")

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    server.serve_forever()
