"""What is written reads back; grammars and detection answer as the crates do."""

import json
from pathlib import Path
from typing import Any

import pytest
from cases import CASES, TOOLS, Case

import del_dialects as dd

DECLARED = dd.Tools(TOOLS)
# Tools of dialects that can call no other.
ALONE = [
    {"name": name, "description": "", "parameters": {"type": "object", "properties": {key: {"type": "string"}}}}
    for name, key in (("bash", "command"), ("python_interpreter", "code"))
]
CALL = dd.Call("get_weather", {"city": "Zürich", "days": 3}, id="call00001")
TEMPLATES = Path(__file__).parents[3] / "crates/del-detect/tests/families"


@pytest.mark.parametrize("case", [case for case in CASES if case.canonical], ids=lambda case: case.id)
def test_calls_are_written_as_the_model_writes_them(case: Case) -> None:
    calls = [dd.Call(call["name"], call["arguments"], call.get("id")) for call in case.expect["calls"]]
    assert dd.render_calls(calls, case.dialect, case.tools) == case.text


@pytest.mark.parametrize("dialect", dd.dialects(), ids=lambda dialect: dialect.name)
def test_each_dialect_has_grammars(dialect: dd.Dialect) -> None:
    grammar = dd.grammar(dialect, dd.Tools([*TOOLS, *ALONE]), "required")
    assert grammar.to_gbnf().startswith("root ::= ")
    assert grammar.to_structural_tag()["type"] == "structural_tag"
    assert "start" in grammar.to_lark()


def test_a_dialect_of_one_tool_wants_that_tool() -> None:
    with pytest.raises(dd.GrammarError, match='expected the tool "bash"'):
        dd.grammar("mini-swe-agent", DECLARED, "required")


def test_an_answer_reads_back() -> None:
    answer = dd.Message("Let me look.", reasoning="hm", calls=[CALL])
    written = dd.render_answer(answer, "hermes", DECLARED)
    read = dd.parse(written, "hermes", DECLARED)
    assert (read.content, read.reasoning, read.calls[0].arguments) == ("Let me look.", "hm", CALL.arguments)
    assert dd.render_answer(read, "hermes", DECLARED) == written


def test_what_cannot_be_carried_is_an_error() -> None:
    with pytest.raises(dd.RenderError, match="JSON object"):
        dd.render_calls([dd.Call("f", "[1]")], "hermes")
    with pytest.raises(TypeError, match="expected JSON text or a dict, got list"):
        dd.Call("f", [1])  # type: ignore[arg-type]


def test_calls_may_be_dicts() -> None:
    alone: dict[str, Any] = {"name": CALL.name, "arguments": CALL.arguments}
    function: dict[str, Any] = {"id": "c1", "type": "function", "function": {"name": CALL.name, "arguments": CALL.loads()}}
    assert dd.render_calls([alone, function], "hermes") == dd.render_calls([CALL, CALL], "hermes")
    assert "c1" in dd.render_calls([function], "solar-open")
    for wrong, said in (
        ({"name": "f"}, r"\.arguments: expected JSON text or a dict, got nothing"),
        ({"name": "f", "arguments": [1]}, r"\.arguments: expected JSON text or a dict, got list"),
        ({"function": {"arguments": {}}}, r"\.function\.name: expected a text, got nothing"),
    ):
        with pytest.raises(dd.RenderError, match=r"^calls\[1\]" + said):
            dd.render_calls([CALL, wrong], "hermes")
    with pytest.raises(TypeError, match=r"^calls\[0\]: expected a Call or a dict, got int"):
        dd.render_calls([7], "hermes")  # type: ignore[list-item]


def test_prompts_and_results() -> None:
    prompt = dd.render_prompt(DECLARED, "hermes")
    assert prompt.startswith("# Tools") and "<tool_call>" in prompt
    assert len(dd.render_prompt(DECLARED, "hermes", detail="compact")) < len(prompt)
    types = dd.render_prompt(DECLARED, "hermes", detail="types")
    assert types not in (prompt, dd.render_prompt(DECLARED, "hermes", detail="compact")) and "city: string" in types
    with pytest.raises(dd.DelError, match='^detail: expected "full", "types" or "compact", got "short"'):
        dd.render_prompt(DECLARED, "hermes", detail="short")  # type: ignore[arg-type]
    results = dd.render_results([{"name": "list_dir", "text": "a </tool_response> b"}], "hermes")
    assert results.startswith("<tool_response>") and results.count("</tool_response>") == 1
    failed = [{"name": "f", "text": "no", "ok": False, "id": "a"}]
    assert "no" in dd.render_results(failed, "amrita-am")
    for wrong, said in (
        ({"name": "f"}, r"\.text: expected a text, got nothing"),
        ({"name": "f", "text": 3}, r"\.text: expected a text, got int"),
        ({"name": "f", "text": "x", "ok": "no"}, r"\.ok: expected True or False, got str"),
    ):
        with pytest.raises(dd.RenderError, match=r"^results\[1\]" + said):
            dd.render_results([failed[0], wrong], "hermes")  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"^results\[0\]: expected a dict, got tuple"):
        dd.render_results([("f", "text")], "hermes")  # type: ignore[list-item]
    with pytest.raises(UnicodeEncodeError):
        dd.render_results([{"name": "f", "text": "\ud800"}], "hermes")
    assert dd.restore(dd.neutralise("<tool_call>")) == "<tool_call>" != dd.neutralise("<tool_call>")


def test_a_grammar_says_what_it_leaves_out() -> None:
    parameters = {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 3}}}
    grammar = dd.grammar("hermes", {"name": "f", "parameters": parameters})
    assert "multipleOf" in grammar.warnings[0]
    assert any("<tool_call>" in trigger for trigger in grammar.triggers)
    assert dd.grammar("hermes", {"name": "f", "parameters": parameters}, "f").to_regex()
    with pytest.raises(dd.GrammarError, match="got none"):
        dd.grammar("hermes", [])
    with pytest.raises(dd.GrammarError, match="expected the name of one of the tools"):
        dd.grammar("hermes", DECLARED, "nobody")


def test_a_template_tells_its_dialect(tmp_path: Path) -> None:
    template = (TEMPLATES / "hermes-json.jinja").read_text()
    found = dd.detect(template)
    assert (found.dialect, found.tool_calls) == ("hermes-json", True) and found.confidence > 0.9
    assert found.evidence and found.description is None
    assert dd.detect(template, describe=True).description
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    assert dd.detect_file(tmp_path).dialect == "hermes-json"
    assert dd.detect('<tool_call>{"name": "f", "arguments": {}}</tool_call>').dialect == "hermes-json"
    with pytest.raises(dd.DetectError, match="cannot read"):
        dd.detect_file(tmp_path / "nothing")
    with pytest.raises(dd.DetectError):
        dd.detect("{% for %}")


def test_a_conversation_for_a_model_without_tools() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather? </tool_response>"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Sunny"},
    ]
    written = dd.render_messages(messages, "hermes", DECLARED)
    assert [message["role"] for message in written] == ["system", "user", "assistant", "user"]
    system, user, said, result = (message["content"] for message in written)
    assert system.startswith("Be brief.") and '"name": "get_weather"' in system
    assert user != messages[1]["content"] and dd.restore(user) == messages[1]["content"]
    assert dd.parse(said, "hermes", DECLARED).calls == (dd.Call("get_weather", '{"city": "Paris"}'),)
    assert "<tool_response>\nSunny\n</tool_response>" in result
    assert "get_weather" not in dd.render_messages(messages[:2], "hermes", DECLARED, "none")[0]["content"]
    compact = dd.render_messages(messages, "hermes", DECLARED, detail="compact", remind=True)
    assert len(compact[0]["content"]) < len(system) and "Weather?" in compact[-1]["content"]


def test_what_is_no_conversation() -> None:
    for content in (5, True, {"type": "text", "text": "a"}, [5], [{"type": "text", "text": 5}]):
        with pytest.raises(dd.RenderError, match=r"messages\[0\]: `content.* should be "):
            dd.render_messages([{"role": "user", "content": content}], "hermes")
    with pytest.raises(dd.RenderError, match="messages: "):
        dd.render_messages([{"role": "assistant", "tool_calls": 7}], "hermes")
    with pytest.raises(dd.RenderError, match="messages: .*expected a sequence"):
        dd.render_messages({"role": "user"}, "hermes")  # type: ignore[arg-type]
    with pytest.raises(dd.RenderError, match=r"choice: expected .* one of the tools \(f, g\), got \"h\""):
        dd.render_messages([], "hermes", [{"name": "f"}, {"name": "g"}], "h")


def test_arguments_are_restored_as_json() -> None:
    written = json.dumps({"text": dd.neutralise("a </tool_call> b")})
    assert json.loads(dd.restore_json(written)) == {"text": "a </tool_call> b"}
