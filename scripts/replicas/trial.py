"""Runs three proxies behind nginx in front of a scripted model server, and ends two of them under load.

One is killed, one is told to end, and both are started again. Every answer is read to its end. A request fails when it
gets no answer, or another status than 200; an answer breaks off when it has begun and its end is missing.
"""

import argparse
import asyncio
import collections
import json
import os
import pathlib
import signal
import socket
import sys
import tempfile
import time

PROXIES = 3
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--del", dest="program", required=True, help="the program `del`")
    parser.add_argument("--nginx", required=True, help="the program nginx")
    parser.add_argument("--seconds", type=float, default=20, help="how long the load lasts")
    parser.add_argument("--clients", type=int, default=24, help="clients at once")
    return parser.parse_args()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


# The model server: an answer takes its time, so that some are always under way.


async def read_request(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = [line.split(":")[1] for line in head.lower().splitlines() if line.startswith("content-length:")]
    body = await reader.readexactly(int(length[0])) if length else b""
    return head.split(" ")[1], body


async def model(reader, writer):
    try:
        while True:
            path, body = await read_request(reader)
            if path.endswith("/models"):
                send(writer, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})
            elif json.loads(body).get("stream"):
                await stream(writer)
            else:
                await asyncio.sleep(0.1)
                message = {"role": "assistant", "content": CALL}
                send(writer, {"id": "x", "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def send(writer, document):
    body = json.dumps(document).encode()
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


async def stream(writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    deltas = [{"content": f"word {number} "} for number in range(20)] + [{"content": CALL}]
    events = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    events.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    data = [json.dumps({"id": "x", "object": "chat.completion.chunk", "choices": [event]}) for event in events]
    for event in [*data, "[DONE]"]:
        await asyncio.sleep(0.01)
        piece = f"data: {event}\n\n".encode()
        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        await writer.drain()
    writer.write(b"0\r\n\r\n")


# The clients.


async def ask(port, streams):
    """What becomes of one request: whole, failed (with what came), or broken off."""
    request = {"model": "scripted", "stream": streams, "tools": [TOOL], "messages": [{"role": "user", "content": "Weather?"}]}
    body = json.dumps(request).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError as error:
        return "failed", repr(error)
    said = b""
    try:
        writer.write(head.encode() + body)
        while piece := await reader.read(65536):
            said += piece
    except ConnectionError as error:
        said += repr(error).encode() if not said else b""
    finally:
        writer.close()
    if not said.startswith(b"HTTP/1.1 200"):
        return "failed", said.decode(errors="replace")
    whole = b"[DONE]" in said if streams else said.rstrip().endswith(b"}") and b'"tool_calls"' in said
    return ("whole" if whole else "broken off"), said[-200:].decode(errors="replace")


async def client(port, until, counts, failures):
    number = 0
    while time.monotonic() < until:
        streams = number % 2 == 0
        outcome, said = await ask(port, streams)
        counts["stream" if streams else "plain", outcome] += 1
        if outcome == "failed":
            failures.append(said)
        number += 1


# What is tried.


class Proxy:
    """One of the proxies, on a port that it keeps."""

    def __init__(self, program, upstream):
        self.program, self.upstream, self.port, self.process = program, upstream, free_port(), None

    async def start(self):
        address = f"127.0.0.1:{self.port}"
        words = ["serve", "--listen", address, "--upstream", self.upstream, "--tools-mode", "native"]
        self.process = await asyncio.create_subprocess_exec(self.program, *words, stdout=asyncio.subprocess.PIPE)
        line = await self.process.stdout.readline()
        assert b"listening" in line, line

    async def end(self, how):
        self.process.send_signal(how)
        return await self.process.wait()


async def balancer(nginx, folder, proxies):
    port = free_port()
    text = pathlib.Path(__file__).with_name("nginx.conf").read_text()
    servers = "\n".join(f"        server 127.0.0.1:{proxy.port} max_fails=1 fail_timeout=1s;" for proxy in proxies)
    values = {"folder": str(folder), "port": str(port), "servers": servers, "user": "user root;" if os.geteuid() == 0 else ""}
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    conf = folder / "nginx.conf"
    conf.write_text(text)
    process = await asyncio.create_subprocess_exec(nginx, "-p", str(folder), "-c", str(conf))
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return process, port
        except ConnectionError:
            assert process.returncode is None, "nginx does not start"
            await asyncio.sleep(0.02)


async def trial(asked, folder):
    server = await asyncio.start_server(model, "127.0.0.1", 0)
    upstream = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    proxies = [Proxy(asked.program, upstream) for _ in range(PROXIES)]
    counts, failures, nginx = collections.Counter(), [], None
    try:
        for proxy in proxies:
            await proxy.start()
        nginx, port = await balancer(asked.nginx, folder, proxies)
        until = time.monotonic() + asked.seconds
        clients = [asyncio.create_task(client(port, until, counts, failures)) for _ in range(asked.clients)]
        part = asked.seconds / 5
        await asyncio.sleep(part)
        await proxies[0].end(signal.SIGKILL)
        await asyncio.sleep(part)
        await proxies[0].start()
        ended = await proxies[1].end(signal.SIGTERM)
        assert ended == 0, f"expected a proxy to end with code 0, got {ended}"
        await asyncio.sleep(part)
        await proxies[1].start()
        await asyncio.gather(*clients)
    finally:
        # The workers of nginx end with it only where it is told to end.
        for process in [nginx, *(proxy.process for proxy in proxies)]:
            if process and process.returncode is None:
                process.terminate()
                await process.wait()
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind}: {count} {outcome}")
    for said in failures[:3]:
        print(f"failed: {said[:400]!r}", file=sys.stderr)
    whole = counts["stream", "whole"] and counts["plain", "whole"]
    broken = counts["stream", "broken off"] + counts["plain", "broken off"]
    # Those that the killed proxy had begun: no more than it had under way.
    return whole and not failures and broken <= asked.clients


def main():
    with tempfile.TemporaryDirectory() as folder:
        good = asyncio.run(trial(options(), pathlib.Path(folder)))
    print("no request failed whose answer had not begun" if good else "expected no request to fail", file=sys.stdout if good else sys.stderr)
    sys.exit(not good)


if __name__ == "__main__":
    main()
