#!/usr/bin/env python3
"""How fast the assistant is at the terminal, and how much it writes there: `figures.py [DEL]`.

Measures a release build (target/release/del, or DEL) on a terminal of 80 columns, with a scripted model server on this machine
and, for the first prompt, with an MCP server that takes five seconds to start. Prints each figure beside its limit, and fails
where one is over it. Times are the middle one of several runs; on a busy machine `chrt -r 1` before it keeps other work out.
"""

import os
import pty
import re
import select
import socket
import statistics
import struct
import sys
import tempfile
import termios
import threading
import time
from fcntl import ioctl
from pathlib import Path

TOKENS = 100_000
PACED = 1_000
TEXT = """## Heading {} of the answer

A paragraph with **bold words**, some `code` in it, and enough *other words* that it takes several rows of the terminal, as
most paragraphs of most answers do; [a link](https://example.org/page) stands in it as well.

- An item of a list, which is short
- Another item, with enough words that it goes on in a second row, where it is indented as far as the first
  - and one below it

```rust
fn main() {
    for n in 1..=20 { // a comment
        println!("{n}");
    }
}
```

| Number | Square | Remark |
|-------:|-------:|:-------|
| 1 | 1 | the first |
| 12 | 144 | a dozen |

"""


def tokens(count):
    """So many tokens of Markdown: words with the space before them, cut where they are long. No part is like another, as an
    answer that goes in circles is ended."""
    tokens = []
    while len(tokens) < count:
        tokens += re.findall(r"\s?\w{1,5}|\s|[^\w\s]", TEXT.replace("{}", str(len(tokens)), 1))
    return tokens[:count]


def event(delta):
    # Written as a server writes it.
    import json
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


class Server:
    """A model server that streams `answer`, a token in a piece, so many seconds apart."""

    def __init__(self, answer, pace=0.0):
        self.events = [event({"content": token}) for token in answer]
        self.pace = pace
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/v1"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.socket.accept()
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, connection.makefile("rb") as reader:
            path, length = reader.readline().split()[1].decode(), 0
            while (line := reader.readline().strip()):
                name, _, value = line.decode().partition(":")
                length = int(value) if name.lower() == "content-length" else length
            reader.read(length)
            head = "HTTP/1.1 {}\r\nconnection: close\r\ncontent-type: {}\r\n\r\n"
            if path.endswith("/models"):
                connection.sendall((head.format("200 OK", "application/json") + '{"data": [{"id": "scripted"}]}').encode())
            elif path.endswith("/chat/completions"):
                connection.sendall(head.format("200 OK", "text/event-stream").encode())
                for piece in self.events:
                    connection.sendall(piece)
                    if self.pace:
                        time.sleep(self.pace)
                connection.sendall(b"data: [DONE]\n\n")
            else:
                connection.sendall(head.format("404 Not Found", "application/json").encode())


class Terminal:
    """The program on a terminal of 80 columns, in a home of its own."""

    def __init__(self, program, *arguments, configuration=None):
        self.home = tempfile.TemporaryDirectory()
        if configuration:
            folder = Path(self.home.name, ".config/del")
            folder.mkdir(parents=True)
            (folder / "mcp.json").write_text(configuration)
        environment = {"HOME": self.home.name, "TERM": "xterm-256color", "LANG": "C.UTF-8", "PATH": os.environ["PATH"]}
        self.begun = time.perf_counter()
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(self.home.name)
            os.execve(program, [program, *arguments], environment)
        ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        self.seen = bytearray()
        self.size = 0

    def until(self, text):
        """Reads until this was written; answers where the cursor is when asked, as terminals do."""
        while text not in self.seen:
            if not select.select([self.terminal], [], [], 120)[0]:
                raise SystemExit(f"expected {text!r}, got {bytes(self.seen[-400:])!r}")
            piece = os.read(self.terminal, 1 << 16)
            self.size += len(piece)
            for _ in range(piece.count(b"\x1b[6n")):
                os.write(self.terminal, b"\x1b[1;1R")
            self.seen = self.seen[-100:] + piece
        return time.perf_counter() - self.begun

    def write(self, text):
        self.seen.clear()
        os.write(self.terminal, text)

    def end(self):
        """What it used."""
        try:
            while os.read(self.terminal, 1 << 16):
                pass
        except OSError:
            pass  # The terminal is gone with the program.
        os.close(self.terminal)
        return os.wait4(self.process, 0)[2]


PROMPT = b"\x1b[?2004h"


def version(program):
    def once():
        begun = time.perf_counter()
        process = os.posix_spawn(program, [program, "--version"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        os.waitpid(process, 0)
        return time.perf_counter() - begun
    return statistics.median(once() for _ in range(41)) * 1000


def first_prompt(program):
    def once():
        server = Server([])
        slow = '{"mcpServers": {"slow": {"command": "sleep", "args": ["5"]}}}'
        terminal = Terminal(program, "--base-url", server.url, configuration=slow)
        took = terminal.until(PROMPT)
        terminal.write(b"exit\r")
        terminal.end()
        return took
    return statistics.median(once() for _ in range(11)) * 1000


def stream(program, count, pace=0.0):
    """CPU seconds, megabytes, and bytes written for each byte of the answer."""
    answer = tokens(count)
    terminal = Terminal(program, "--base-url", Server([*answer, "\n\nThe-end-of-it.\n"], pace).url)
    terminal.until(PROMPT)
    terminal.size = 0
    terminal.write(b"go\r")
    terminal.until(b"The-end-of-it.")
    written = terminal.size
    terminal.until(PROMPT)
    terminal.write(b"exit\r")
    used = terminal.end()
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, written / len("".join(answer).encode())


def main():
    here = Path(__file__).resolve().parent
    program = str(Path(sys.argv[1] if len(sys.argv) > 1 else here / "../../target/release/del").resolve())
    cpu, memory, ratio = stream(program, TOKENS)
    figures = [
        ("`del --version`", version(program), "ms", 5),
        ("the first prompt, while an MCP server starts", first_prompt(program), "ms", 30),
        (f"CPU for {TOKENS} tokens of Markdown", cpu, "s", 1),
        ("memory for them", memory, "MB", 60),
        ("bytes written for a byte of them", ratio, "", 20),
        (f"the same, {PACED} tokens at 50 a second", stream(program, PACED, 0.02)[2], "", 20),
    ]
    for name, value, unit, limit in figures:
        print(f"{name:50} {value:8.2f} {unit:2}  limit {limit} {unit}{'   OVER' if value > limit else ''}")
    raise SystemExit(any(value > limit for _, value, _, limit in figures))


main()
