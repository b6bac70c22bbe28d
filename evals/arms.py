"""The arms: ways to ask a model, each an address that takes requests of the OpenAI API."""

import json
import pathlib
import subprocess
import tempfile
import time
import urllib.request

#: Each arm with the options of `del serve` that make it; none for the model server itself.
ARMS = {
    "engine": None,
    "native": ["--tools-mode", "native"],
    "prompt": ["--tools-mode", "prompt", "--constrain", "off"],
    "grammar": ["--tools-mode", "prompt", "--constrain", "auto"],
    "forced": ["--tools-mode", "prompt", "--constrain", "on"],
    "types": ["--tools-mode", "prompt", "--constrain", "off", "--definitions", "types"],
    "short-forced": ["--tools-mode", "prompt", "--constrain", "on", "--definitions", "short"],
    "own": ["--tools-mode", "prompt", "--constrain", "off", "--chat-template", "none"],
    "own-forced": ["--tools-mode", "prompt", "--constrain", "on", "--chat-template", "none"],
    "hybrid": ["--tools-mode", "hybrid"],
}

ABOUT = {
    "engine": "the server alone: tools over its API, and it reads the calls",
    "native": "tools over the API; Del reads what comes",
    "prompt": "Del's prompt, in the words of the model's template where it knows tools",
    "grammar": "`prompt`, and a grammar that lets plain words through, and of calls those that can be read",
    "forced": "`prompt`, and a grammar that lets nothing but calls through",
    "types": "`prompt`, with tools as types of TypeScript",
    "short-forced": "`forced`, with names and required arguments alone",
    "own": "Del's prompt in its own words, as for a model without such a template",
    "own-forced": "`own` with that grammar",
    "hybrid": "names first, then the definitions that the model asks for",
}


class Arms:
    """The arms that run: a `del serve` for each, in front of the model server."""

    def __init__(self, names, del_binary, server):
        self._servers = []
        self._logs = pathlib.Path(tempfile.mkdtemp(prefix="del-evals-"))
        self.addresses = {}
        for name in names:
            options = ARMS[name]
            self.addresses[name] = server if options is None else self._serve(name, del_binary, server, options)

    def _serve(self, name, binary, upstream, options):
        command = [binary, "serve", "--upstream", upstream, "--listen", "127.0.0.1:0", *options]
        log = self._logs / f"{name}.log"
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log.open("w"), text=True)
        self._servers.append(process)
        line = process.stdout.readline()  # listening on http://127.0.0.1:PORT/v1, in front of …
        if not line.startswith("listening on "):
            raise SystemExit(f"{' '.join(command)} did not start: {log.read_text().strip()}")
        return line.split()[2].rstrip(",")

    def close(self):
        for process in self._servers:
            process.terminate()
            process.wait()


class Parser:
    """`del parse` as a running process: model output in, message out."""

    def __init__(self, binary):
        command = [binary, "parse", "--jsonl"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self, text, tools, cut=False):
        request = {"text": text, "tools": tools, "finish": "cut" if cut else "end"}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        self._process.terminate()
        self._process.wait()


def ask(address, body, timeout):
    """The answer of a server, and the seconds that it took."""
    started = time.monotonic()
    request = urllib.request.Request(
        f"{address}/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return json.load(answer), round(time.monotonic() - started, 2)


def calls_of(message):
    """The calls of a message as BFCL's judge takes them: `[{name: arguments}]`."""
    calls = []
    for call in message.get("tool_calls") or []:
        try:
            arguments = json.loads(call["function"]["arguments"])
        except ValueError:
            arguments = None
        calls.append({call["function"]["name"]: arguments})
    return calls
