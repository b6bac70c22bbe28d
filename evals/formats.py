"""BFCL's format sensitivity: the same questions under 26 prompts of BFCL's own, read by BFCL's decoder and by Del.

No tools are sent: the prompt alone says what there is and how to call it. What comes is text, read twice.
"""

import importlib

from tally import interval, spread


class Formats:
    """The prompts and decoders of the package."""

    def __init__(self):
        self._prompts = importlib.import_module("bfcl_eval.model_handler.utils")
        self._utils = importlib.import_module("bfcl_eval.utils")
        self._kinds = importlib.import_module("bfcl_eval.constants.enums").ReturnFormat
        self.names = self._utils.get_all_format_sensitivity_configs()

    def messages(self, name, question):
        """The conversation with the prompt of this format."""
        text = self._prompts.formulate_system_prompt(name, question["functions"])
        first, *others = question["messages"]
        if first["role"] == "system":
            return [{**first, "content": f"{text}\n\n{first['content']}"}, *others]
        return [{"role": "system", "content": text}, *question["messages"]]

    def decode(self, name, text):
        """The calls that BFCL's own decoder reads."""
        kind, tagged, *_ = self._prompts.parse_prompt_variation_params(name)
        try:
            calls = self._prompts.default_decode_ast_prompting(text, self._kinds(kind), tagged)
        except Exception:  # what it cannot read is no call; it says so in many ways
            return []
        return self.named(call for call in calls if isinstance(call, dict))

    def tools(self, question):
        """The tools under the names that the prompt has for them: an API takes no dots in names."""
        names = [function["name"] for function in question["functions"]]
        return [{**tool, "function": {**tool["function"], "name": name}} for tool, name in zip(question["tools"], names, strict=True)]

    def named(self, calls):
        """The calls under the names of the API, which the judge compares."""
        return [{name.replace(".", "_"): arguments for name, arguments in call.items()} for call in calls]


def short(name):
    """`json, tagged, python docs` for `ret_fmt=json&tool_call_tag=True&func_doc_fmt=python&…`."""
    parts = dict(part.split("=") for part in name.split("&"))
    words = [parts["ret_fmt"], "tagged" if parts["tool_call_tag"] == "True" else "bare", f"{parts['func_doc_fmt']} docs"]
    words += [parts["prompt_fmt"]] if parts["prompt_fmt"] != "plaintext" else []
    return ", ".join(words + ([parts["style"]] if parts["style"] != "classic" else []))


def table(rows):
    """A line for each format: right by BFCL's decoder and by Del's, of the same answers; the spread below."""
    names = list(dict.fromkeys(row["format"] for row in rows))
    lines = ["| Format | BFCL's decoder | `del parse` | of |", "| --- | --- | --- | --- |"]
    shares = {"by_bfcl": [], "by_del": []}
    for name in names:
        part = [row for row in rows if row["format"] == name]
        right = {reader: sum(row[reader] is None for row in part) for reader in shares}
        for reader, count in right.items():
            shares[reader].append(count / len(part))
        lines.append(f"| {short(name)} | {right['by_bfcl']} | {right['by_del']} | {len(part)} |")
    for reader, title in (("by_bfcl", "BFCL's decoder"), ("by_del", "`del parse`")):
        right, of = sum(row[reader] is None for row in rows), len(rows)
        read = sum(row[reader] != "no call" for row in rows)
        low, high = interval(right, of)
        widest, deviation = spread(shares[reader])
        lines.append(
            f"\n{title}: a call in {read} of {of} answers, {right} right ({low:.0%} to {high:.0%}); best and worst format are {widest:.0f} points "
            f"apart, standard deviation {deviation:.1f}"
        )
    return "\n".join(lines)
