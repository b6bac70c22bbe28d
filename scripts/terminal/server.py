#!/usr/bin/env python3
"""A model server that gives the answers of a script, token by token, for looking at the assistant.

usage: server.py SCRIPT.json [--pace SECONDS]

The script is a list; each item answers one request for a completion, the last one again and again:
  {"say": "text", "think": "text", "calls": [{"name": …, "arguments": {…}}],
   "wait": seconds before the first token, "stall": seconds in the middle, "cut": true, "status": 429, "error": "text",
   "usage": [prompt, completion]}
It prints its address and ends with its input.
"""
import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def main():
    pace = float(sys.argv[sys.argv.index("--pace") + 1]) if "--pace" in sys.argv else 0.01
    with open(sys.argv[1], encoding="utf-8") as file:
        script = json.load(file)
    asked = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            if self.path.endswith("/models"):
                self.answer(200, {"data": [{"id": "scripted-8b", "max_model_len": 32768}, {"id": "scripted-70b"}]})
            else:
                self.answer(404, {"error": {"message": "no such path"}})

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            if not self.path.endswith("/chat/completions"):
                return self.answer(404, {"error": {"message": "no such path"}})
            asked.append(json.loads(body))
            item = script[min(len(asked), len(script)) - 1]
            time.sleep(item.get("wait", 0))
            if "status" in item:
                return self.answer(item["status"], {"error": {"message": item.get("error", "no")}})
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                self.stream(item)
            except (BrokenPipeError, ConnectionResetError):
                pass

        def stream(self, item):
            tokens = [("reasoning_content", t) for t in pieces(item.get("think", ""))]
            tokens += [("content", t) for t in pieces(item.get("say", ""))]
            for place, (key, token) in enumerate(tokens):
                if place == len(tokens) // 2:
                    time.sleep(item.get("stall", 0))
                    if item.get("cut"):
                        return
                self.event({"choices": [{"index": 0, "delta": {key: token}}]})
                time.sleep(pace)
            for place, call in enumerate(item.get("calls", [])):
                head = {"index": place, "id": f"c{len(asked)}{place}", "type": "function"}
                head["function"] = {"name": call["name"], "arguments": ""}
                self.event({"choices": [{"index": 0, "delta": {"tool_calls": [head]}}]})
                for piece in pieces(json.dumps(call["arguments"])):
                    part = {"index": place, "function": {"arguments": piece}}
                    self.event({"choices": [{"index": 0, "delta": {"tool_calls": [part]}}]})
                    time.sleep(pace)
            reason = "tool_calls" if item.get("calls") else "stop"
            prompt, completion = item.get("usage", [len(json.dumps(asked[-1])) // 4, len(tokens)])
            usage = {"prompt_tokens": prompt, "completion_tokens": completion}
            self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage})
            self.wfile.write(b"data: [DONE]\n\n")

        def event(self, value):
            self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")
            self.wfile.flush()

        def answer(self, status, value):
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


def pieces(text):
    """Tokens as a model has them: words with the space before them, cut where they are long."""
    return re.findall(r"\s?\w{1,5}|\s|[^\w\s]", text)


if __name__ == "__main__":
    main()
