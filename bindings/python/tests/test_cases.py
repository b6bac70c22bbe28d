"""Every case of every dialect, whole and in pieces: what Rust reads, Python is told."""

import pickle

import pytest
from cases import CASES, TOOLS, Case

import del_dialects as dd
from del_dialects._frameworks import AnswerReader

DECLARED = dd.Tools(TOOLS)


def tools(case: Case) -> dd.Tools | None:
    return DECLARED if case.tools else None


def collected(events: list[dd.Event]) -> tuple[str, str, list[tuple[str, str, str | None]], list[str]]:
    content, reasoning, calls, faults, opened = "", "", [], [], None
    for event in events:
        match event:
            case dd.Text(text):
                content += text
            case dd.Reasoning(text):
                reasoning += text
            case dd.CallStart(number, name, id):
                opened = (number, name, id, [])
            case dd.Args(number, json):
                assert number == opened[0]
                opened[3].append(json)
            case dd.CallEnd(number, id):
                assert number == opened[0]
                calls.append((opened[1], "".join(opened[3]), opened[2] or id))
            case dd.Fault(kind):
                faults.append(kind)
    return content, reasoning, calls, faults


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    message = dd.parse(case.text, case.dialect, tools(case), starts_in=case.starts_in, cut=case.cut)
    expected = (
        case.expect.get("content", ""),
        case.expect.get("reasoning", ""),
        [(call["name"], call["arguments"], call.get("id")) for call in case.expect.get("calls", [])],
        case.expect.get("faults", []),
    )
    calls = [(call.name, call.arguments, call.id) for call in message.calls]
    assert (message.content, message.reasoning, calls, [fault.kind for fault in message.faults]) == expected
    if cut := case.expect.get("cut_call"):
        lost = next(fault.lost for fault in message.faults if fault.lost)
        assert (lost.name, lost.arguments) == (cut["name"], cut["arguments"])

    again = pickle.loads(pickle.dumps(message))
    assert again == message and hash(again) == hash(message)
    assert (again.parts, again.faults, again.evidence) == (message.parts, message.faults, message.evidence)

    for size in (1, 3, len(case.text) + 1):
        parser = dd.Parser(case.dialect, tools(case), starts_in=case.starts_in)
        events = [event for piece in case.pieces(size) for event in parser.push(piece)]
        events += parser.finish(cut=case.cut)
        assert collected(events) == expected
        assert pickle.loads(pickle.dumps(events)) == events


@pytest.mark.parametrize("case", [case for case in CASES if case.expect.get("calls")], ids=lambda case: case.id)
def test_frameworks_hear_of_every_guess(case: Case) -> None:
    message = dd.parse(case.text, case.dialect, tools(case), starts_in=case.starts_in, cut=case.cut)
    guesses = [
        [fault.kind for fault in message.faults if fault.call == place and fault.changes_arguments]
        for place in range(len(message.calls))
    ]
    for size in (1, len(case.text) + 1):
        reader = AnswerReader(case.dialect, tools(case), case.starts_in)
        assert not [call for piece in case.pieces(size) for call in reader.push(piece).calls]
        assert [call.guesses for call in reader.finish(cut=case.cut).calls] == guesses
