"""A host of `del mcp serve` with the Python SDK of the Model Context Protocol, in both of its ways to begin.

Prints what happens, and fails when a tool, an answer or a question is not what it should be.
"""

import argparse
import asyncio
import pathlib
import tempfile

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="del")
    program = parser.parse_args().program
    for mode in ("auto", "legacy"):
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(visit(program, pathlib.Path(folder), mode))


async def visit(program, folder, mode):
    print(f"--- a host, mode {mode}")
    (folder / "a.txt").write_text("forty-two\n")
    asked = []
    answers = {
        "yes.txt": ElicitResult(action="accept", content={"answer": "yes"}),
        "no.txt": ElicitResult(action="accept", content={"answer": "no", "reason": "not that one"}),
        "away.txt": ElicitResult(action="decline"),
    }

    async def answer(_, params):
        asked.append(params.message)
        return next(result for name, result in answers.items() if name in params.message)

    options = ["--working-dir", str(folder), "--allow-tool", "run_command(sleep:*)"]
    server = StdioServerParameters(command=program, args=["mcp", "serve", *options])
    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        print("server:", client.server_info.name, client.server_info.version, client.protocol_version)
        tools = (await client.list_tools()).tools
        check(len(tools) == 19 and all(tool.input_schema["type"] == "object" for tool in tools), "all tools")

        async def call(name, **arguments):
            result = await client.call_tool(name, arguments)
            text = result.content[0].text
            print("call:  ", name, "->", ("failed: " if result.is_error else "") + text.splitlines()[0])
            return result.is_error, text

        check(await call("read_file", path="a.txt") == (False, "     1\tforty-two"), "the file")
        check((await call("read_file", path="/etc/passwd"))[0], "no file from outside")
        check((await call("nosuch"))[1].startswith("Error: unknown tool"), "no tool that there is none of")
        for name in answers:
            failed, text = await call("write_file", path=name, content="new\n")
            check("+new" in asked[-1] and name in asked[-1], f"a question with the difference: {asked[-1]}")
            check(failed == (name != "yes.txt"), f"what was answered: {text}")
        check([path.name for path in sorted(folder.glob("*.txt"))] == ["a.txt", "yes.txt"], "one new file")
        await stop_one(client, call)
    check(len(asked) == 3, f"three questions, got {asked}")


async def stop_one(client, call):
    """A command that is given up, and one behind it, which has to wait until the first is over."""
    begun = asyncio.Event()

    async def progress(_done, _total, message):
        print("told:  ", message)
        begun.set()

    command = {"command": "echo begun; sleep 600"}
    task = asyncio.create_task(client.call_tool("run_command", command, progress_callback=progress))
    await asyncio.wait_for(begun.wait(), 30)
    task.cancel()
    await asyncio.wait([task], timeout=30)
    failed, _ = await asyncio.wait_for(call("run_command", command="cat a.txt"), 30)
    check(not failed, "a command after it")


def check(holds, what):
    if not holds:
        raise SystemExit(f"expected {what}")


if __name__ == "__main__":
    main()
