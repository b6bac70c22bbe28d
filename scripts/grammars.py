"""Ask XGrammar about grammars and texts: does it compile each, and say what it should of every text?

Reads JSON lines with `structural_tag`, `gbnf`, `regex`, and the texts that are `accepted` and `refused`.
"""

import json
import sys
import types

# The package imports torch and transformers for what is not asked here; its engine needs neither.
package = types.ModuleType("xgrammar")
package.__path__ = [f"{path}/xgrammar" for path in sys.path]
sys.modules["xgrammar"] = package

from xgrammar import load_binding  # noqa: E402, F401
from xgrammar.base import _core  # noqa: E402

RAW_VOCABULARY = 0


def main():
    # A token for each byte, and one that ends the answer.
    vocabulary = [bytes([byte]) for byte in range(256)] + [b"<end>"]
    tokenizer = _core.TokenizerInfo(vocabulary, RAW_VOCABULARY, None, [256], False)
    counts = {"grammars": 0, "accepted": 0, "refused": 0}
    wrong = []
    for line in open(sys.argv[1], encoding="utf-8"):
        told = json.loads(line)
        for format, grammar in grammars(told, wrong):
            counts["grammars"] += 1
            compiler = _core.GrammarCompiler(tokenizer, 1, False, -1)
            compiled = compiler.compile_grammar_ebnf(grammar)
            for expected in ("accepted", "refused"):
                for text in told[expected]:
                    counts[expected] += 1
                    if accepts(compiled, text) != (expected == "accepted"):
                        wrong.append(f"{told['dialect']} {told['choice']} {format}: not {expected}: {text!r}")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"XGrammar: {counts['grammars']} grammars, {counts['accepted']} texts accepted and {counts['refused']} refused;"
          f" {len(wrong)} wrong")
    sys.exit(bool(wrong))


def grammars(told, wrong):
    forms = {
        "structural tag": lambda: _core.Grammar.from_structural_tag(json.dumps(told["structural_tag"])),
        "EBNF": lambda: _core.Grammar.from_ebnf(told["gbnf"], "root"),
    }
    if told["regex"]:
        forms["regular expression"] = lambda: _core.Grammar.from_regex(told["regex"], False)
    for format, compile in forms.items():
        try:
            yield format, compile()
        except Exception as error:  # whatever the engine raises is the answer
            wrong.append(f"{told['dialect']} {told['choice']} {format}: {error}")


def accepts(compiled, text):
    matcher = _core.GrammarMatcher(compiled, None, False, -1, None)
    return matcher.accept_string(text.encode(), False) and matcher.is_completed()


if __name__ == "__main__":
    main()
