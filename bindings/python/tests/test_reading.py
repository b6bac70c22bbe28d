"""What a program sees of an answer."""

import concurrent.futures
import copy
import gc
import multiprocessing
import threading

import pytest

import del_dialects as dd

TEXT = 'Let me look.\n<tool_call>{"name": "list_dir", "arguments": {"path": "."}}</tool_call>'


def test_a_message_has_its_parts_in_order() -> None:
    message = dd.parse("<think>\nhm\n</think>\n\n" + TEXT)
    assert message.dialect == "hermes-json"
    assert message.parts == (("reasoning", "hm"), ("text", "Let me look."), ("call", message.calls[0]))
    assert message.calls[0] == dd.Call("list_dir", {"path": "."})
    assert message.calls[0].loads() == {"path": "."}
    assert message.evidence[0].dialect == "hermes-json"


def test_spans_are_bytes_of_the_answer() -> None:
    text = "Grüße 😀 " + TEXT
    first, start, *_ = dd.Parser("hermes").push(text)
    assert text.encode()[first.start : first.end].decode() == first.text == "Grüße 😀 Let me look."
    assert text.encode()[start.start : start.end].startswith(b"<tool_call>")


def test_a_fault_says_what_was_lost() -> None:
    message = dd.parse(TEXT[:60], "hermes", cut=True)
    (fault,) = message.faults
    assert (fault.kind, fault.call, fault.changes_arguments) == ("unclosed_call", None, False)
    assert fault.lost.name == "list_dir"
    assert "ended inside a call" in fault.message


def test_thinking_may_have_begun_in_the_prompt() -> None:
    assert dd.parse("hm</think>Hi", "hermes", starts_in="reasoning").reasoning == "hm"
    for text in ["hm</think>Hi", "<think>hm</think>Hi"]:
        assert dd.parse(text).reasoning == dd.parse(text, starts_in="unknown").reasoning == "hm"
    assert dd.parse("hm</think>Hi", starts_in="text").reasoning == ""
    assert [event.text for event in dd.Parser().push("hm")] == ["hm"], "a stream is not held"


def test_a_parser_holds_what_may_be_a_mark_and_ends_once() -> None:
    parser = dd.Parser("hermes")
    assert [event.text for event in parser.push("is 1 <")] == ["is 1 "]
    assert parser.held == 1
    other, third = copy.copy(parser), copy.deepcopy(parser)
    assert [event.text for event in parser.finish()] == ["<"]
    with pytest.raises(ValueError, match="finished"):
        parser.push("more")
    assert [event.text for event in other.push("2")] == [event.text for event in third.push("2")] == ["<2"]


def test_what_is_read_is_data() -> None:
    (text, start, *_, end) = dd.Parser("hermes").push(TEXT)
    assert text == dd.Text("Let me look.", 0, 12) != dd.Text("Let me look.", 0, 13)
    assert text != dd.Reasoning("Let me look.", 0, 12)
    assert start == dd.CallStart(0, "list_dir", None, "hermes-json", 13, TEXT.index('{"path'))
    assert len({text, copy.copy(text), copy.deepcopy(text), start, end}) == 3
    message = dd.parse(TEXT[:60], "hermes", cut=True)
    (fault,) = message.faults
    assert copy.deepcopy(message) == message and copy.copy(fault) == fault
    assert fault == dd.Fault("unclosed_call", None, fault.lost, fault.start, fault.end)
    with pytest.raises(ValueError, match='kind: expected the kind of a fault, got "oops"'):
        dd.Fault("oops", None, None, 0, 0)
    surrogate = dd.Call("f", {"a": "\ud800"})
    assert surrogate == copy.copy(surrogate) != dd.Call("f", {})


def test_a_process_hands_back_what_it_read() -> None:
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(dd.parse, [TEXT, "plain"])) == [dd.parse(TEXT), dd.parse("plain")]


def test_a_dialect_of_ones_own() -> None:
    toml = dd.Dialect.get("hermes").toml.replace("tool_call>", "werkzeug>")
    own = dd.Dialect.from_toml(toml, name="own")
    assert dd.parse(TEXT.replace("tool_call>", "werkzeug>"), own).calls[0].name == "list_dir"
    with pytest.raises(dd.DialectError, match="line"):
        dd.Dialect.from_toml("title = 1", name="own")


def test_names_are_known_and_others_are_suggested() -> None:
    assert dd.Dialect.get("vllm:hermes") == dd.Dialect.for_model("Qwen/Qwen3-8B") == dd.Dialect.get("Hermes_JSON")
    assert dd.Dialect.for_model("nobody/knows") is None
    assert len({dialect.name for dialect in dd.dialects()}) == len(dd.dialects()) > 70
    with pytest.raises(dd.UnknownDialectError, match="did you mean hermes-json"):
        dd.parse("", "hermes-jsn")


def test_wrong_words_are_errors() -> None:
    with pytest.raises(dd.DelError, match="starts_in"):
        dd.parse("", starts_in="thinking")
    with pytest.raises(TypeError):
        dd.parse("", 7)


def test_lone_surrogates_are_an_error_and_lose_nothing() -> None:
    with pytest.raises(UnicodeEncodeError):
        dd.parse("\ud800")
    parser = dd.Parser("hermes")
    parser.push(TEXT[:40])
    with pytest.raises(UnicodeEncodeError):
        parser.push("\udfff")
    assert parser.push(TEXT[40:])[-1].call == 0
    with pytest.raises(UnicodeEncodeError):
        dd.parse("", "\ud800")
    with pytest.raises(UnicodeEncodeError):
        dd.Dialect.from_toml("\ud800", name="own")


def test_nul_and_long_texts_are_text() -> None:
    assert dd.parse("a\0b").content == "a\0b"
    long = "word " * 100_000
    assert dd.parse(long).content == long


def test_threads_read_at_once() -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(len(dd.parse(TEXT * 500).calls))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [500] * 4


def test_objects_are_freed() -> None:
    tools = dd.Tools([{"name": "list_dir"}])
    for _ in range(1000):
        dd.Parser("hermes", tools).push(TEXT)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(1000):
        dd.Parser("hermes", tools).push(TEXT)
    gc.collect()
    assert len(gc.get_objects()) - before < 100
