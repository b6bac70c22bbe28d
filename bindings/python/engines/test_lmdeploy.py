"""The plugin in LMDeploy's own parser modules, from its published wheel."""

import os
from pathlib import Path
from typing import Any

import pytest
from answers import CASES, Answer, Case, Tokenizer, alone, streamed
from inert import unpacked

import del_dialects as dd
from del_dialects.lmdeploy import register

FOLDER = Path(os.environ["ENGINES"]) / "lmdeploy"
unpacked(FOLDER, {"torch", "xgrammar", "lmdeploy.utils", "mmengine.logging"}, {"lmdeploy", "lmdeploy.serve", "lmdeploy.serve.openai"})

from lmdeploy.serve.openai.protocol import ChatCompletionRequest  # noqa: E402
from lmdeploy.serve.parsers import ResponseParserManager, validate_parser_names  # noqa: E402

register()


def configured(reasoning: str | None, tool: str, tokenizer: Tokenizer) -> Any:
    """What a server that is started with these names reads answers with."""
    validate_parser_names(reasoning, tool)
    parser = ResponseParserManager.get("default")
    parser.reasoning_parser_cls = None  # a server sets it once
    parser.set_parsers(reasoning, tool, tokenizer)
    return parser


def server(tool: str, reasoning: str | None, case: Case, template: str | None = None, **options: Any) -> Any:
    """The parser of one answer, as LMDeploy's server makes it."""
    parser = configured(reasoning, tool, Tokenizer(template))
    tools = [{"type": "function", "function": function} for function in case.tools]
    return parser(ChatCompletionRequest(model="model", messages=[], tools=tools or None, **options))


def whole(parser: Any, case: Case) -> Answer:
    content, calls, reasoning = parser.parse_complete(case.text)
    found = [[call.function.name, call.function.arguments] for call in calls or ()]
    return Answer(content or "", reasoning or "", found)


def stream(parser: Any, case: Case, size: int) -> Answer:
    answer = Answer()
    for piece in [*case.pieces(size), None]:
        for message, called in parser.stream_chunk(piece or "", [0], final=piece is None):
            assert called == bool(message.tool_calls)
            calls = [(call.index, call.function.name, call.function.arguments) for call in message.tool_calls or ()]
            answer.add(message.content, message.reasoning_content, calls)
    return answer


def declared(case: Case, answer: Answer) -> Answer:
    """Calls of tools that were not declared are dropped."""
    names = {tool["name"] for tool in case.tools}
    answer.calls = [call for call in answer.calls if call[0] in names]
    return answer


# LMDeploy is not told where the prompt ends; its own reasoning parser takes every answer to begin in the thinking.
KNOWN = [case for case in CASES if case.starts_in != "reasoning"]


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.id)
def test_every_case(case: Case) -> None:
    name = f"del-{case.dialect}"
    assert whole(server(name, "del", case), case) == declared(case, alone(case, prompt=False))
    for size in (1, 3, 4096):
        assert stream(server(name, "del", case), case, size) == declared(case, streamed(case))


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.id)
def test_all_dialects_at_once(case: Case) -> None:
    assert whole(server("del", "del", case), case) == declared(case, alone(case, "auto", prompt=False))
    assert stream(server("del", "del", case), case, 3) == declared(case, streamed(case, "auto"))


HERMES = next(case for case in CASES if case.id == "hermes-json/01-one-call")


def test_thinking_that_the_prompt_began() -> None:
    text = f"They ask.\n</think>\n\n{HERMES.text}"
    case = Case("hermes-json", "thinking", text, "reasoning", False, HERMES.tools, {})
    for answer in (whole(begun(case), case), stream(begun(case), case, 3)):
        assert answer.reasoning == "They ask." and len(answer.calls) == 1


def begun(case: Case) -> Any:
    """With LMDeploy's own reasoning parser."""
    tokenizer = Tokenizer()
    tokenizer.tokens = ["<think>", "</think>"]
    parser = configured("default", "del", tokenizer)
    tools = [{"type": "function", "function": function} for function in case.tools]
    return parser(ChatCompletionRequest(model="model", messages=[], tools=tools))


def test_thinking_without_a_place_stays_in_the_content() -> None:
    case = Case("hermes-json", "marks", "<think>\nhm\n</think>\n\nHello", "text", False, HERMES.tools, {})
    assert whole(server("del-hermes-json", None, case), case).content == case.text
    assert stream(server("del-hermes-json", None, case), case, 3).content == case.text


def test_held_text_comes_with_the_end() -> None:
    case = Case("hermes-json", "held", "is 1 <", "text", False, HERMES.tools, {})
    assert stream(server("del", None, case), case, 1).content == "is 1 <"


def test_what_a_request_asks_of_the_model() -> None:
    assert server("del", None, HERMES).request.skip_special_tokens is False
    assert server("del", None, HERMES, tool_choice="none").request.skip_special_tokens is True
    held = server("del-qwen3-coder", None, HERMES, tool_choice="required").request.response_format
    assert held["type"] == "structural_tag" and "<function=" in str(held) and "get_weather" in str(held)


def test_the_template_tells_what_forced_calls_are_written_in() -> None:
    template = (Path(__file__).resolve().parents[3] / "crates/del-detect/tests/families/glm45.jinja").read_text()
    held = server("del", None, HERMES, template, tool_choice="required").request.response_format
    assert "<arg_key>" in str(held)


def test_the_engine_s_own_parsers_stay() -> None:
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
    case = Case("hermes-json", "own", text, "text", False, HERMES.tools, {})
    assert whole(server("qwen3", None, case), case).calls == [["get_weather", '{"city": "Paris"}']]


def test_every_dialect_is_a_choice() -> None:
    for dialect in dd.dialects():
        validate_parser_names("del", f"del-{dialect.name}")
