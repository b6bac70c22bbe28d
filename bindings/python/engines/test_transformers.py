"""Response templates in transformers' own parser, from its published wheel: every canonical case of every dialect that has one.

A template is data, so nothing of Del runs here when an answer is read.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from answers import CASES, Case
from inert import unpacked

import del_dialects as dd
from del_dialects.transformers import TemplateError, response_template

unpacked(Path(os.environ["ENGINES"]) / "transformers", set(), set())

from tokenizers import Tokenizer, models  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402
from transformers.utils.chat_parsing import ResponseParser  # noqa: E402
from transformers.utils.chat_parsing.response_templates import load_response_template  # noqa: E402

# What no template says, and why. A dialect that has one fails the test of this list.
WITHOUT = {
    "agent-zero": "a call of a certain name is none",
    "amrita-am": "one tool is called in a form of its own",
    "apertus": "calls stand inside thinking",
    "bfcl-xml": "values carry entities of XML, which nothing decodes",
    "bracket-name": "only the name of a declared tool tells a call from text",
    "cline": "only the name of a declared tool tells a call from text",
    "cohere-cofl": "objects and lists are elements inside elements",
    "command-r-plus": "a call of a certain name is none",
    "dspy": "a call of a certain name is none",
    "dspy-json": "a call of a certain name is none",
    "functionary-v32": "one tool is called in a form of its own",
    "granite-20b-fc": "a call of a certain name is none",
    "markdown-call": "only the name of a declared tool tells a call from text",
    "minicpm5": "values carry entities of XML, which nothing decodes",
    "minimax-m3": "objects and lists are elements inside elements",
    "name-key": "the tool's name is a key",
    "olmo3": "calls of functions are only read inside brackets",
    "react-json": "a call of a certain name is none",
    "sarashina": "a call is a literal of Python",
    "seed-oss": "objects and lists in values are literals of Python",
    "smolagents": "a call of a certain name is none",
    "tool-code": "calls of functions are only read inside brackets",
    "tool-input": "a call of a certain name is none",
    "trinity": "calls stand inside thinking",
    "yaml-xml": "only the name of a declared tool tells a call from text",
}
# Cases that a template reads otherwise than Del, and why. One that heals fails the test.
OTHERWISE = {
    "kimi-k3/20-attributes": "names of tools carry entities, which nothing decodes",
}
# Cases that are otherwise in pieces alone: a whole call of the dialect or what may end one stands in an argument, and transformers takes a
# match that is whole before one that begins earlier and may still become whole.
OTHERWISE_IN_PIECES = {
    "calling-tool/08-marker-in-value",
    "doubao/08-marker-in-value",
    "hermes-json/09-marker-in-string",
    "llama-function/10-marker-in-string",
    "lm-studio/08-marker-in-value",
    "mimo-xml/08-marker-in-value",
    "mistral-args/10-marker-in-string",
    "openai-xml/09-marker-in-value",
    "qwen3-coder/09-marker-in-value",
    "step3p5/08-marker-in-value",
}
PROMPT = "<|im_start|>user\nWhat about <think> and <tool_call>?<|im_end|>\n<|im_start|>assistant\n"


def templates() -> dict[str, dict[str, Any]]:
    made = {}
    for dialect in dd.dialects():
        if dialect.name not in WITHOUT:
            made[dialect.name] = response_template(dialect)
    return made


TEMPLATES = templates()
TOKENIZER = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"?": 0}, unk_token="?")))


def answer(message: dict[str, Any]) -> tuple[str, str, list[tuple[str, Any]]]:
    calls = [call["function"] for call in message.get("tool_calls", [])]
    found = [(call["name"], call["arguments"]) for call in calls]
    return message.get("content", ""), message.get("reasoning_content", ""), found


def alone(case: Case) -> tuple[str, str, list[tuple[str, Any]]]:
    """What Del reads. Without a schema, transformers leaves the values of fields as texts."""
    message = dd.parse(case.text, case.dialect, case.tools)
    declared = {tool["name"] for tool in case.tools}
    fields = TEMPLATES[case.dialect]["fields"]["tool_calls"]["content"] == "xml-inline"

    def arguments(call: dd.Call) -> Any:
        if call.name in declared or not fields:
            return json.loads(call.arguments)
        read = json.loads(call.arguments, parse_int=str, parse_float=str)
        return {key: value if isinstance(value, str) else written(value, case.text) for key, value in read.items()}

    return message.content, message.reasoning, [(call.name, arguments(call)) for call in message.calls]


def written(value: Any, text: str) -> str:
    """A word as it stands in the text."""
    (word,) = {word for word in (json.dumps(value), str(value)) if word in text}
    return word


def whole(template: dict[str, Any], text: str, tools: Any = None, prefix: str = PROMPT) -> dict[str, Any]:
    message: dict[str, Any] = TOKENIZER.parse_response(text, template, prefix=prefix, tools=tools)
    return message


def pieces(template: dict[str, Any], text: str, tools: Any, size: int) -> dict[str, Any]:
    parser = ResponseParser(template, prefix=PROMPT, tools=tools)
    for at in range(0, len(text), size):
        parser.feed(text[at : at + size])
    message: dict[str, Any] = parser.finalize()[0]
    return message


CANONICAL = [case for case in CASES if case.canonical and case.dialect in TEMPLATES]


def test_every_template_loads() -> None:
    for template in TEMPLATES.values():
        load_response_template(json.loads(json.dumps(template)))


@pytest.mark.parametrize("name", WITHOUT)
def test_what_cannot_be_said_has_a_reason(name: str) -> None:
    with pytest.raises(TemplateError) as error:
        response_template(name)
    assert str(error.value) == f"{name}: expected a dialect that a response template can say, got one in which {WITHOUT[name]}"


@pytest.mark.parametrize("case", CANONICAL, ids=lambda case: case.id)
def test_canonical_cases_are_read_as_del_reads_them(case: Case) -> None:
    template = TEMPLATES[case.dialect]
    same = answer(whole(template, case.text, case.tools)) == alone(case)
    assert same == (case.id not in OTHERWISE)
    streamed = [answer(pieces(template, case.text, case.tools, size)) == alone(case) for size in (1, 3, 7)]
    assert all(streamed) == (case.id not in OTHERWISE and case.id not in OTHERWISE_IN_PIECES)


@pytest.mark.parametrize("name", TEMPLATES)
def test_text_and_thinking_stand_beside_calls(name: str) -> None:
    call = next(case for case in CANONICAL if case.dialect == name and len(case.expect.get("calls", [])) == 1)
    calls = dd.parse(call.text, name, call.tools).calls
    for content, reasoning in (("I will look.", ""), ("I will look.", "A thought."), ("", "A thought.\n\nAnd another.")):
        try:
            text = dd.render_answer(dd.Message(content=content, reasoning=reasoning, calls=calls), name, call.tools)
        except dd.RenderError:
            continue  # the dialect has no such answer
        case = Case(name, "made", text, "text", False, call.tools, {})
        assert answer(whole(TEMPLATES[name], text, call.tools)) == alone(case), text


def test_a_prompt_that_ends_in_the_thinking_begins_it() -> None:
    text = "A thought.\n</think>\n\nI will look.\n" + dd.render_calls([dd.Call("f", {})], "hermes")
    read = answer(whole(TEMPLATES["hermes-json"], text, prefix=PROMPT + "<think>\n"))
    assert read == ("I will look.", "A thought.", [("f", {})])


def test_a_prompt_may_begin_the_answer() -> None:
    template = response_template("hermes", start_anchor=r"<\|im_start\|>assistant\n")
    text = dd.render_calls([dd.Call("f", {"a": 1})], "hermes")
    read = answer(whole(template, text[20:], prefix=PROMPT + text[:20]))
    assert read == ("", "", [("f", {"a": 1})])


def test_what_is_no_call_stays_text() -> None:
    for text in ("Plain words.", 'Broken: <tool_call>\n{"name": "f", "arguments": {"a": \n</tool_call>'):
        assert answer(whole(TEMPLATES["hermes-json"], text)) == (text, "", [])


def test_the_template_goes_along_with_the_checkpoint(tmp_path: Path) -> None:
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"?": 0}, unk_token="?")))
    tokenizer.response_template = response_template("glm45")
    tokenizer.save_pretrained(tmp_path)
    kept = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert kept.response_template == TEMPLATES["glm45"]
    read = kept.parse_response(dd.render_calls([dd.Call("f", {"a": "b"})], "glm45"), prefix="")
    assert answer(read) == ("", "", [("f", {"a": "b"})])
