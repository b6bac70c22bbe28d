"""How fast streams are read: `speed.py vllm` or `speed.py sglang`, in the parser modules of that engine.

A stream is one call whose arguments have ten kilobytes, in pieces of four characters, and marks whole, as tokens have them. Each figure is the best of several
runs, in microseconds of the processor for one piece; all of one table are measured in one run of this program.
"""

import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import del_dialects as dd

TOOLS = [
    {
        "name": "write_file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    }
]
CONTENT = "".join(f"def f{n}(x):\n    return x * {n}  # the line of number {n}\n" for n in range(190))
CALL = dd.Call("write_file", {"path": "a.py", "content": CONTENT})
RUNS = 7


def stream(dialect: str) -> list[str]:
    texts = re.split(r"(<[^>]*>)", dd.render_calls([CALL], dialect, TOOLS))
    return [piece for text in texts for piece in ([text] if text[:1] == "<" else fours(text))]


def fours(text: str) -> list[str]:
    return [text[at : at + 4] for at in range(0, len(text), 4)]


def best(pieces: list[str], read: Callable[[], Callable[[str], Any]]) -> float:
    """Microseconds for a piece."""
    times = []
    for _ in range(RUNS):
        push = read()
        begun = time.thread_time()
        for piece in pieces:
            push(piece)
        times.append((time.thread_time() - begun) / len(pieces) * 1e6)
    return min(times)


def objects(make: Callable[[], Any]) -> float:
    """What the engine's objects for a piece of arguments cost, whoever makes them."""
    return best([""] * 2000, lambda: lambda _: make())


def table(rows: dict[str, float], reference: str) -> None:
    for name, each in rows.items():
        print(f"{name:32} {each:9.2f} us  {each / rows[reference]:7.2f}x")


def overhead() -> None:
    """What a push costs in Python, beyond Rust's own."""
    pieces = stream("hermes-json")
    example = Path(os.environ["PUSH"])
    rust = statistics.median(
        float(subprocess.run([example], input="".join(pieces), capture_output=True, text=True).stdout) for _ in range(5)
    )
    python = min(best(pieces, lambda: dd.Parser("hermes-json", dd.Tools(TOOLS)).push) for _ in range(20)) * 1000
    print(f"a push in Python {python:.0f} ns, in Rust {rust:.0f} ns, more in Python {python - rust:.0f} ns")


def vllm() -> None:
    from test_vllm import ToolParserManager, request
    from vllm.entrypoints.generate.base.protocol import DeltaMessage

    def message() -> Any:
        return DeltaMessage(tool_calls=[{"index": 0, "function": {"arguments": "abcd"}}])

    asked = request(TOOLS)
    for dialect, own in {"hermes-json": "hermes", "qwen3-coder": "qwen3_coder", "glm45": "glm45"}.items():
        pieces = stream(dialect)

        def reader(name: str) -> Callable[[], Callable[[str], Any]]:
            def made() -> Callable[[str], Any]:
                tokenizer = Known()
                parser = ToolParserManager.get_tool_parser(name)(tokenizer, asked.tools)
                seen, ids = "", []

                def push(piece: str) -> Any:
                    nonlocal seen, ids
                    now = tokenizer.encode(piece)
                    # An engine-based parser is not handed what came before, as vLLM does it.
                    before, earlier = ("", []) if parser.engine_based_streaming else (seen, ids)
                    seen, ids = before + piece, earlier + now
                    return parser.extract_tool_calls_streaming(before, seen, piece, earlier, ids, now, asked)

                return push

            return made

        print(f"--- {dialect}, {len(pieces)} pieces")
        table(
            {
                "Del": best(pieces, lambda dialect=dialect: dd.Parser(dialect, dd.Tools(TOOLS)).push),
                "vLLM, its objects alone": objects(message),
                f"vLLM, del-{dialect}": best(pieces, reader(f"del-{dialect}")),
                f"vLLM, {own}": best(pieces, reader(own)),
            },
            f"vLLM, del-{dialect}",
        )


class Vocabulary(dict[str, int]):
    """Knows every token that it is asked for."""

    def __missing__(self, token: str) -> int:
        self[token] = len(self) + 1
        return self[token]

    def get(self, token: str, default: Any = None) -> Any:
        return self[token]

    def __contains__(self, token: object) -> bool:
        return True


class Known:
    """A tokenizer to which each piece is a token."""

    all_special_tokens: tuple[str, ...] = ()
    all_special_ids: tuple[int, ...] = ()
    chat_template = None

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()

    def get_vocab(self) -> Vocabulary:
        return self.vocabulary

    def encode(self, text: str, **_: Any) -> list[int]:
        return [self.vocabulary[text]]

    def decode(self, ids: Any, **_: Any) -> str:
        tokens = {number: token for token, number in self.vocabulary.items()}
        return "".join(tokens[number] for number in ids)


def sglang() -> None:
    from test_sglang import FunctionCallParser, Tool, Tokenizer

    tools = [Tool(type="function", function=tool) for tool in TOOLS]

    from sglang.srt.function_call.core_types import StreamingParseResult  # test_sglang has put it into the path

    def result() -> Any:
        return StreamingParseResult(calls=[{"tool_index": 0, "name": None, "parameters": "abcd"}])

    for dialect, own in {"hermes-json": "qwen25", "qwen3-coder": "qwen3_coder", "glm45": "glm45"}.items():
        pieces = stream(dialect)

        def reader(name: str) -> Callable[[], Callable[[str], Any]]:
            return lambda: FunctionCallParser(tools, name, tokenizer=Tokenizer()).parse_stream_chunk

        print(f"--- {dialect}, {len(pieces)} pieces")
        table(
            {
                "Del": best(pieces, lambda dialect=dialect: dd.Parser(dialect, dd.Tools(TOOLS)).push),
                "SGLang, its objects alone": objects(result),
                f"SGLang, del-{dialect}": best(pieces, reader(f"del-{dialect}")),
                f"SGLang, {own}": best(pieces, reader(own)),
            },
            f"SGLang, del-{dialect}",
        )


if __name__ == "__main__":
    {"vllm": vllm, "sglang": sglang, "overhead": overhead}[sys.argv[1]]()
