"""The stubs say what the module has, and the package is typed."""

import subprocess
import sys
from pathlib import Path

ALLOWED = Path(__file__).with_name("stubtest.txt")  # what PyO3 adds


def run(*command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stubs_are_those_of_the_module() -> None:
    run("mypy.stubtest", "del_dialects._lib", "--allowlist", str(ALLOWED), "--concise")


def test_the_package_is_typed() -> None:
    run("mypy", "--package", "del_dialects")


# What is read can be written again, and lists of others do as well as Python's own.
WRITTEN = """
from collections import UserList
import del_dialects as dd

read = dd.parse('<tool_call>{"name": "f", "arguments": {}}</tool_call>')
calls = dd.render_calls(read.calls, "hermes")
assert calls == dd.render_calls(UserList(read.calls), "hermes") == dd.render_answer(dd.Message(calls=read.calls), "hermes")
assert "x" in dd.render_results(({"name": "f", "text": "x"},), "hermes")
tools: UserList[dict[str, object]] = UserList([{"name": "f"}])
assert dd.Tools(tools).names == ["f"]
"""


def test_programs_are_typed() -> None:
    exec(WRITTEN)
    run("mypy", "--config-file=", "--strict", "-c", WRITTEN)
