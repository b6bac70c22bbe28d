"""The plugin in SGLang's own parser modules, from its published wheel."""

import os
from pathlib import Path
from typing import Any

import pytest
from answers import CASES, Answer, Case, Tokenizer, alone, streamed
from inert import unpacked

import del_dialects as dd

FOLDER = Path(os.environ["ENGINES"]) / "sglang"
INERT = """torch torchao triton flashinfer sgl_kernel IPython sglang.srt.utils sglang.srt.distributed sglang.srt.layers
sglang.srt.managers sglang.srt.server_args sglang.srt.configs"""
unpacked(FOLDER, set(INERT.split()), {"sglang"})

from sglang.srt.entrypoints.openai.protocol import Tool, ToolChoice, ToolChoiceFuncName  # noqa: E402
from sglang.srt.environ import envs  # noqa: E402
from sglang.srt.function_call.function_call_parser import FunctionCallParser  # noqa: E402
from sglang.srt.parser.reasoning_parser import ReasoningParser  # noqa: E402
from sglang.srt.plugins import load_plugins  # noqa: E402

load_plugins()


@pytest.fixture(autouse=True)
def forwarded() -> Any:
    """Calls of unknown tools are calls to Del."""
    with envs.SGLANG_FORWARD_UNKNOWN_TOOLS.override(True):
        yield


class Server:
    """One answer, as SGLang's server reads it."""

    def __init__(self, tool: str, reasoning: str | None, case: Case, template: str | None = None) -> None:
        self.case = case
        # Without tools, SGLang reads no calls.
        self.declared = case.tools or [{"name": "nothing", "parameters": {}}]
        tools = [Tool(type="function", function=tool) for tool in self.declared]
        tokenizer = Tokenizer(template)
        self.calls = FunctionCallParser(tools, tool, tokenizer=tokenizer)
        self.thinking = None
        if reasoning:
            self.thinking = ReasoningParser(
                reasoning,
                force_reasoning=case.starts_in == "reasoning",
                tokenizer=tokenizer,
                tool_call_parser_active=True,
            )

    def whole(self) -> Answer:
        answer, text = Answer(), self.case.text
        if self.thinking:
            answer.reasoning, text = self.thinking.parse_non_stream(text)
        found: list[Any] = []
        if self.calls.has_tool_call(text):
            text, found = self.calls.parse_non_stream(text)
        answer.content, answer.calls = text, [[call.name, call.parameters] for call in found]
        return answer

    def stream(self, size: int) -> Answer:
        answer = Answer()
        for piece in self.case.pieces(size):
            reasoning, text = self.thinking.parse_stream_chunk(piece) if self.thinking else ("", piece)
            self._add(answer, reasoning, self.calls.parse_stream_chunk(text))
        if self.thinking:
            reasoning, text = self.thinking.parse_stream_end()
            self._add(answer, reasoning, self.calls.parse_stream_chunk(text))
        self._add(answer, "", self.calls.parse_stream_end())
        return answer

    def _add(self, answer: Answer, reasoning: str, result: Any) -> None:
        text, found = result
        answer.add(text, reasoning, [(call.tool_index, call.name, call.parameters) for call in found])


# SGLang does not tell its reasoning parser of the tools, and only they tell that this call in the thinking is one.
UNTOLD = {"react-json/11-reasoning"}


@pytest.mark.parametrize("case", [case for case in CASES if case.id not in UNTOLD], ids=lambda case: case.id)
def test_both_detectors(case: Case) -> None:
    name = f"del-{case.dialect}"
    case.tools = Server(name, name, case).declared
    assert Server(name, name, case).whole() == alone(case)
    for size in (1, 3, 4096):
        assert Server(name, name, case).stream(size) == streamed(case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_all_dialects_at_once(case: Case) -> None:
    case.tools = Server("del", "del", case).declared
    if case.starts_in == "text":
        assert Server("del", "del", case).whole().calls == alone(case, "auto").calls
        assert Server("del", "del", case).stream(3).calls == streamed(case, "auto").calls


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_detector_of_calls_alone(case: Case) -> None:
    if case.starts_in == "text":
        case.tools = Server("del", None, case).declared
        server = Server(f"del-{case.dialect}", None, case)
        assert (server.whole().calls, server.stream(3).calls) == (alone(case).calls, streamed(case).calls)


HERMES = next(case for case in CASES if case.id == "hermes-json/01-one-call")


def test_every_dialect_is_a_choice() -> None:
    names = {"del", *(f"del-{dialect.name}" for dialect in dd.dialects())}
    assert names <= set(FunctionCallParser.ToolCallParserEnum) and names <= set(ReasoningParser.DetectorMap)


def test_held_text_comes_with_the_end() -> None:
    case = Case("hermes-json", "held", "is 1 <", "text", False, HERMES.tools, {})
    assert Server("del-hermes-json", None, case).stream(1).content == "is 1 <"
    assert Server("del-hermes-json", "del-hermes-json", case).stream(1).content == "is 1 <"


def test_unknown_tools_are_the_operator_s_to_forward() -> None:
    text = dd.render_calls([dd.Call("nobody", "{}"), dd.Call("list_dir", {"path": "."})], "hermes")
    case = Case("hermes-json", "unknown", text, "text", False, HERMES.tools, {})
    with envs.SGLANG_FORWARD_UNKNOWN_TOOLS.override(False):
        assert [name for name, _ in Server("del", None, case).whole().calls] == ["list_dir"]
        assert [name for name, _ in Server("del", None, case).stream(3).calls] == ["list_dir"]


def test_thinking_that_is_not_streamed_comes_whole() -> None:
    parser = ReasoningParser("del", stream_reasoning=False)
    chunks = [parser.parse_stream_chunk(piece) for piece in ("<think>\na", "b", "c\n</think>\n\nHi", "!")]
    assert [chunk for chunk in chunks if any(chunk)] == [("abc", "Hi"), ("", "!")]
    parser = ReasoningParser("del", stream_reasoning=False)
    assert parser.parse_stream_chunk("<think>\na") == ("", "") and parser.parse_stream_end()[0] == "a"


@pytest.mark.parametrize("choice", ["required", "named"])
def test_forced_calls_are_held_to_the_dialect(choice: str) -> None:
    server = Server("del-qwen3-coder", None, HERMES)
    assert server.calls.owns_tool_format()
    named = ToolChoice(type="function", function=ToolChoiceFuncName(name="add_item"))
    kind, tag = server.calls.get_structure_constraint("required" if choice == "required" else named)
    written = tag.model_dump_json(by_alias=True)
    assert kind == "structural_tag" and "<function=" in written and "add_item" in written
    assert ("get_weather" in written) == (choice == "required")


def test_the_template_tells_what_forced_calls_are_written_in() -> None:
    template = (Path(__file__).resolve().parents[3] / "crates/del-detect/tests/families/glm45.jinja").read_text()
    _, tag = Server("del", None, HERMES, template).calls.get_structure_constraint("required")
    assert "<arg_key>" in tag.model_dump_json(by_alias=True)
