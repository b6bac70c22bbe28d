"""A server of the Model Context Protocol with its Python SDK: on standard input and output, or over HTTP.

Over HTTP it prints its address, and ends when the process that started it is gone.
"""

import argparse
import asyncio
import os
import socket

import uvicorn
from mcp.server import MCPServer

server = MCPServer("python", version="1.0")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("no such row")


@server.tool()
def paint() -> str:
    """Says something that would act on a terminal."""
    return "\033[2Jred"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--http", action="store_true", help="a free port of this machine")
    parser.add_argument("--json", action="store_true", help="answers that are documents, in place of streams")
    parser.add_argument("--stateless", action="store_true", help="no sessions")
    options = parser.parse_args()
    if not options.http:
        server.run()
        return
    app = server.streamable_http_app(json_response=options.json, stateless_http=options.stateless)
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    asyncio.run(serve(uvicorn.Server(uvicorn.Config(app, log_level="warning")), listener))


async def serve(http, listener):
    parent = os.getppid()
    serving = asyncio.create_task(http.serve(sockets=[listener]))
    while not serving.done() and os.getppid() == parent:
        await asyncio.wait([serving], timeout=1)
    http.should_exit = True
    await serving


if __name__ == "__main__":
    main()
