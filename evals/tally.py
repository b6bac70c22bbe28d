"""Counts answers, and prints what was counted."""

import json
import math
import re

from bfcl import IRRELEVANT

#: What calls are marked with, in all formats that models are trained on: tags, special tokens, bracketed words.
_MARKS = re.compile(
    r"</?(?:tool_call|tool_calls|function_call|function|functions|parameter|invoke|tools?)\b[^<>\n]{0,80}>"
    r"|<[|｜][^<>\n]{1,60}[|｜]>|\[/?(?:TOOL_CALLS?|TOOL_REQUEST|END_TOOL_REQUEST)\]"
)


def markup(text):
    """Bytes of a text for people that are markup of calls: marks, and JSON that names a function and its arguments."""
    shown = sum(len(mark.group().encode()) for mark in _MARKS.finditer(text))
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            value, end = None, at + 1
        if _is_call(value):
            shown += len(text[at:end].encode())
        at = text.find("{", end)
    return shown


def _is_call(value):
    return isinstance(value, dict) and ("name" in value or "function" in value) and bool(
        {"arguments", "parameters", "function"} & value.keys()
    )


def interval(right, of):
    """The 95 % interval of a share, after Wilson."""
    if not of:
        return 0.0, 1.0
    z, share = 1.96, right / of
    middle, spread = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return (middle - spread) / (1 + z * z / of), (middle + spread) / (1 + z * z / of)


def table(rows, arms):
    """A table in Markdown: a line for each arm, counted over the questions that all arms were asked."""
    rows = [row for row in rows if row["arm"] in arms and row["why"] != "error"]
    asked = [{row["id"] for row in rows if row["arm"] == arm} for arm in arms]
    common = set.intersection(*asked) if asked else set()
    rows = [row for row in rows if row["id"] in common]
    categories = list(dict.fromkeys(row["category"] for row in rows))
    wanted = [category for category in categories if category not in IRRELEVANT]
    heads = ["Arm", *wanted, "right of all", "called at all", "falsely called", "markup shown", "prompt tokens"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for arm in arms:
        mine = [row for row in rows if row["arm"] == arm]
        lines.append(f"| {' | '.join([arm, *_cells(mine, wanted)])} |")
    return "\n".join(lines)


def _cells(rows, wanted):
    for category in wanted:
        part = [row for row in rows if row["category"] == category]
        yield f"{sum(row['why'] is None for row in part)}/{len(part)}"
    calls = [row for row in rows if row["category"] not in IRRELEVANT]
    none = [row for row in rows if row["category"] in IRRELEVANT]
    yield _share(sum(row["why"] is None for row in calls), len(calls))
    yield f"{sum(bool(row['calls']) for row in calls)}/{len(calls)}"
    yield _share(sum(bool(row["calls"]) for row in none), len(none))
    yield f"{sum(row['markup'] for row in rows)} B"
    tokens = [row["prompt_tokens"] for row in rows if row["prompt_tokens"] is not None]
    yield f"{sum(tokens) / len(tokens):.0f}" if tokens else "?"


def _share(count, of):
    if not of:
        return "–"
    low, high = interval(count, of)
    return f"{count}/{of} ({low:.0%} to {high:.0%})".replace("% to", " to").replace("%)", " %)")


def spread(shares):
    """From the best to the worst of several shares, in points, and their standard deviation."""
    mean = sum(shares) / len(shares)
    deviation = math.sqrt(sum((share - mean) ** 2 for share in shares) / max(1, len(shares) - 1))
    return 100 * (max(shares) - min(shares)), 100 * deviation
