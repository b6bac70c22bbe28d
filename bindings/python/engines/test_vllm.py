"""The plugin in vLLM's own parser modules, from its published wheel."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from answers import CASES, Answer, Case, Tokenizer, alone, answered, streamed
from inert import unpacked

import del_dialects as dd

FOLDER = Path(os.environ["ENGINES"]) / "vllm"
INERT = """torch triton flashinfer numba cv2 cpuinfo uvloop mistral_common vllm.model_executor vllm.multimodal vllm.platforms
vllm.config vllm.transformers_utils vllm.distributed vllm.lora vllm.inputs vllm.usage vllm.v1.worker vllm.v1.engine vllm.v1.core
vllm.v1.attention vllm.v1.utils"""
unpacked(FOLDER, set(INERT.split()), {"vllm"})

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest  # noqa: E402
from vllm.parser.abstract_parser import DelegatingParser  # noqa: E402
from vllm.parser.parser_manager import ParserManager  # noqa: E402
from vllm.plugins import load_general_plugins  # noqa: E402
from vllm.reasoning import ReasoningParserManager  # noqa: E402
from vllm.tool_parsers import ToolParserManager  # noqa: E402

load_general_plugins()

# Whether a reasoning parser is told the prompt of a whole answer: from 0.33 on.
PROMPT = "set_prompt_token_ids" in vars(DelegatingParser)


def request(tools: list[dict[str, Any]], **options: Any) -> Any:
    listed = [{"type": "function", "function": tool} for tool in tools]
    options.setdefault("tool_choice", "auto" if tools else None)
    return ChatCompletionRequest(model="m", messages=[], tools=listed or None, **options)


class Server:
    """One answer, as vLLM's server reads it."""

    def __init__(self, tool: str | None, reasoning: str | None, case: Case) -> None:
        self.case, self.tokenizer = case, Tokenizer()
        made = ParserManager.get_parser(tool, reasoning, enable_auto_tools=True)
        self.request = request(case.tools)
        self.parser = made(self.tokenizer, self.request.tools)
        opened = dd.Dialect.get(case.dialect).reasoning_begin[:1] or ["<think>"]
        prompt = "What now?" + (opened[0] if case.starts_in == "reasoning" else "")
        self.prompt = self.tokenizer.encode(prompt)

    def whole(self) -> Answer:
        if PROMPT:
            self.parser.set_prompt_token_ids(self.prompt)
        reasoning, content, calls = self.parser.parse(self.case.text, self.request, enable_auto_tools=True)
        return Answer(content or "", reasoning or "", [[call.name, call.arguments] for call in calls or ()])

    def stream(self, size: int) -> Answer:
        answer, pieces = Answer(), list(self.case.pieces(size)) or [""]
        for number, piece in enumerate(pieces, 1):
            last = number == len(pieces)
            ids = self.tokenizer.encode(piece)
            delta = self.parser.parse_delta(piece, ids, self.request, self.prompt, finished=last)
            if delta is not None:
                calls = [(call.index, call.function.name, call.function.arguments) for call in delta.tool_calls]
                assert all(bool(call.id) == bool(call.function.name) for call in delta.tool_calls)
                assert None not in delta.model_dump(exclude_unset=True).values()  # a client would get it as null
                answer.add(delta.content, delta.reasoning, calls)
        return answer


def seen(answer: Answer) -> Answer:
    """vLLM leaves out white space beside calls."""
    blank = answer.calls and not answer.content.strip()
    return Answer("" if blank else answer.content, answer.reasoning, answer.calls)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_both_parsers(case: Case) -> None:
    name = f"del-{case.dialect}"
    assert Server(name, name, case).whole() == seen(alone(case, prompt=PROMPT))
    for size in (1, 3, 4096):
        assert Server(name, name, case).stream(size) == streamed(case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_all_dialects_at_once(case: Case) -> None:
    if case.starts_in == "text":
        assert Server("del", "del", case).whole() == seen(alone(case, "auto", PROMPT))
        assert Server("del", "del", case).stream(3) == streamed(case, "auto")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_tool_parser_alone(case: Case) -> None:
    """Thinking is content then, and is between its marks."""
    if case.starts_in != "text":
        return
    whole, stream = Server(f"del-{case.dialect}", None, case).whole(), Server(f"del-{case.dialect}", None, case).stream(3)
    expected = alone(case, prompt=False)
    assert (whole.calls, stream.calls) == (expected.calls, streamed(case).calls)
    assert not whole.reasoning and not stream.reasoning
    if not expected.reasoning:
        assert whole.content == seen(expected).content
    for kind, part in dd.parse(case.text, case.dialect, case.tools).parts:
        assert kind != "reasoning" or (part in whole.content and part in stream.content)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_reasoning_parser_alone(case: Case) -> None:
    """What it leaves is what another tool parser reads: the same calls and the same text."""
    rest = Server(None, f"del-{case.dialect}", case).whole()
    expected = alone(case, prompt=PROMPT)
    assert rest.reasoning == expected.reasoning
    read = answered(dd.parse(rest.content, case.dialect, case.tools))
    assert (read.content, read.calls) == (expected.content, expected.calls)


HERMES = next(case for case in CASES if case.id == "hermes-json/01-one-call")


def test_every_dialect_is_a_name() -> None:
    for name in ["del", *(f"del-{dialect.name}" for dialect in dd.dialects())]:
        assert name in ToolParserManager.list_registered()
        assert name in ReasoningParserManager.list_registered()


def test_held_text_comes_with_the_end() -> None:
    case = Case("hermes-json", "held", "is 1 <", "text", False, HERMES.tools, {})
    assert Server("del-hermes-json", None, case).stream(1).content == "is 1 <"
    assert Server("del-hermes-json", "del-hermes-json", case).stream(1).content == "is 1 <"


def test_ids_of_the_model_are_kept() -> None:
    text = '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>'
    case = Case("kimi-k2", "id", text, "text", False, HERMES.tools, {})
    server = Server("del-kimi-k2", None, case)
    (call,) = server.parser.parse(text, server.request, enable_auto_tools=True)[2]
    assert call.id == "functions.get_weather:0"


def test_special_tokens_are_kept() -> None:
    server = Server("del", "del", HERMES)
    assert server.parser.adjust_request(request(HERMES.tools)).skip_special_tokens is False
    assert Server("del", None, HERMES).parser.adjust_request(request([])).skip_special_tokens is not False


@pytest.mark.parametrize(
    ("choice", "names"),
    [("required", {"get_weather", "add_item"}), ({"type": "function", "function": {"name": "add_item"}}, {"add_item"})],
    ids=["required", "named"],
)
def test_forced_calls_are_held_to_the_dialect(choice: Any, names: set[str]) -> None:
    server = Server("del-qwen3-coder", "del-qwen3-coder", HERMES)
    adjusted = server.parser.adjust_request(request(HERMES.tools, tool_choice=choice))
    tag = adjusted.structured_outputs.structural_tag
    assert json.loads(tag)["type"] == "structural_tag" and adjusted.structured_outputs.json is None
    assert all(name in tag for name in names) and "<function=" in tag
    text = dd.render_calls([dd.Call("add_item", {"item": {"a": 1}})], "qwen3-coder", HERMES.tools)
    _, content, calls = server.parser.parse(text, adjusted, enable_auto_tools=True)
    assert (content, [call.name for call in calls]) == (None, ["add_item"])


def test_the_template_tells_what_forced_calls_are_written_in() -> None:
    templates = Path(__file__).parents[3] / "crates/del-detect/tests/families"
    tokenizer = Tokenizer((templates / "glm45.jinja").read_text())
    made = ParserManager.get_parser("del", None, enable_auto_tools=True)(tokenizer, None)
    tag = made.adjust_request(request(HERMES.tools, tool_choice="required")).structured_outputs.structural_tag
    assert "<arg_key>" in tag


def test_where_the_thinking_is_over() -> None:
    tokenizer = Tokenizer()
    parser = ReasoningParserManager.get_reasoning_parser("del-hermes-json")(tokenizer)
    prompt = tokenizer.encode("</think>\n<|im_start|>assistant\n")
    assert not parser.is_reasoning_end(prompt)
    assert parser.is_reasoning_end(prompt + tokenizer.encode("<think>\n\n</think>\n\n"))
    thinking, mark = prompt + tokenizer.encode("hm"), tokenizer.encode("</think>")
    assert not parser.is_reasoning_end_streaming(thinking, thinking[-1:])
    assert parser.is_reasoning_end_streaming(thinking + mark, mark)


def test_no_tools_are_no_error() -> None:
    twice = [{"name": "f", "parameters": {}}] * 2
    case = Case("hermes-json", "twice", HERMES.text, "text", False, twice, {})
    assert Server("del", "del", case).whole().calls


def test_a_broken_plugin_is_reported(tmp_path: Path) -> None:
    """vLLM says which parser could not be imported, and why."""
    program = """
import sys
sys.modules["del_dialects.vllm.tools"] = None
import test_vllm
test_vllm.ParserManager.get_parser("del", None, enable_auto_tools=True)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.returncode != 0 and "del_dialects.vllm.tools" in done.stderr
