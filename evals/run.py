#!/usr/bin/env python3
"""Asks a model BFCL's questions in several ways, and counts what comes.

    evals/run.py --base-url http://127.0.0.1:8080/v1                        # 20 questions a category, four arms
    evals/run.py --base-url … --arms engine,native --questions simple_python:100,irrelevance:100
    evals/run.py --base-url … --formats 10                                  # BFCL's format sensitivity, 10 questions
    evals/run.py --show --out answers.jsonl                                 # the table of what was asked before
    evals/run.py --show --formats 10                                        # the same answers, read by the `del` of today

It needs Python 3.10, a `del` (built beforehand: `cargo build --release -p del-cli`) and a model server with the OpenAI API;
BFCL's package it installs by itself below `target/evals`. Questions go through all arms one by one, so that a run which is
stopped has asked all arms the same; the same command goes on from there. Answers are greedy and kept, one a line.
docs/evaluation.md says what the arms are and what came of it.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
HOME = ROOT / "target" / "evals"
USUAL = "simple_python:20,multiple:20,parallel:20,irrelevance:20"


def main():
    options = read_options()
    if options.show and not options.formats:
        print(shown(read_rows(options.out), options))
        return
    in_environment()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the servers that were started end with this program
    from bfcl import Bfcl

    package = Bfcl()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    if not options.formats:
        rows = ask_arms(package, options)
    elif options.show:
        rows = judged(package, options, read_rows(options.out))
    else:
        rows = judged(package, options, ask_formats(package, options))
    print(shown(rows, options))


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", help="the model server, ending in /v1")
    parser.add_argument("-m", "--model", help="the model, where the server has several")
    parser.add_argument("--arms", default="engine,native,prompt,grammar", help="see arms.py (default: %(default)s)")
    parser.add_argument("--questions", default=USUAL, help="CATEGORY:COUNT,… (default: %(default)s); no count: all")
    parser.add_argument("--offset", type=int, default=0, help="begin with another question: choose on some, confirm on others")
    formats = "format sensitivity instead: so many questions of all its categories, or of those in --questions"
    parser.add_argument("--formats", type=int, metavar="COUNT", help=formats)
    parser.add_argument("--max-tokens", type=int, default=256, help="the longest answer (default: %(default)s)")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for an answer (default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, help="where answers are kept (default: below target/evals)")
    parser.add_argument("--del", dest="binary", default=str(ROOT / "target/release/del"), help="default: %(default)s")
    parser.add_argument("--show", action="store_true", help="ask nothing, print what is in --out")
    options = parser.parse_args()
    if not options.base_url and not options.show:
        parser.error("expected --base-url, the address of a model server")
    if not (options.show and not options.formats) and not pathlib.Path(options.binary).exists():
        parser.error(f"expected a program at {options.binary}: cargo build --release -p del-cli, or name one with --del")
    options.arms = options.arms.split(",")
    options.out = options.out or HOME / ("formats.jsonl" if options.formats else "answers.jsonl")
    return options


def in_environment():
    """Goes on in the environment that has BFCL's package, which is made where it is missing."""
    home = HOME / "venv"
    if pathlib.Path(sys.prefix) == home:
        return
    pins, done = HERE / "requirements.txt", home / "installed"
    if not done.exists() or done.read_bytes() != pins.read_bytes():
        print(f"installing BFCL's package in {home}", file=sys.stderr)
        venv.create(home, with_pip=True, clear=True)
        install = ["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
        subprocess.run([home / "bin/python", *install, "--requirement", pins], check=True)
        done.write_bytes(pins.read_bytes())
    os.execv(home / "bin/python", [str(home / "bin/python"), __file__, *sys.argv[1:]])


def ask_arms(package, options):
    """Every question through every arm; all answers, those of earlier runs too."""
    from arms import ARMS, Arms, ask, calls_of
    from tally import markup

    unknown = [name for name in options.arms if name not in ARMS]
    if unknown:
        raise SystemExit(f"expected arms of {', '.join(ARMS)}, got {', '.join(unknown)}")
    answers = Answers(options.out, key=("arm", "id"))
    questions = in_turn(package, options)
    arms = Arms(options.arms, options.binary, options.base_url)
    try:
        for question in questions:
            body = request(options, question["messages"]) | {"tools": question["tools"]}
            for arm in options.arms:
                row = {"arm": arm, "category": question["category"], "id": question["id"]}
                if answers.has(row):
                    continue
                try:
                    answer, seconds = ask(arms.addresses[arm], body, options.timeout)
                except OSError as error:
                    print(f"{arm}, {question['id']}: {error}", file=sys.stderr)
                    answers.add(row | {"why": "error", "error": str(error)})
                    continue
                message, usage = answer["choices"][0]["message"], answer.get("usage") or {}
                text, calls = message.get("content") or "", calls_of(message)
                answers.add(row | {
                    "why": package.judge(question, calls), "calls": calls, "text": text, "markup": markup(text),
                    "prompt_tokens": usage.get("prompt_tokens"), "answer_tokens": usage.get("completion_tokens"),
                    "seconds": seconds,
                })  # fmt: skip
    finally:
        arms.close()
    return answers.rows


def ask_formats(package, options):
    """Every question under every format."""
    from arms import ask
    from formats import Formats

    formats, answers = Formats(), Answers(options.out, key=("format", "id"))
    ids = formatted(package, options)
    for question in package.named(ids[: options.formats]):
        for name in formats.names:
            row = {"format": name, "id": question["id"]}
            if answers.has(row):
                continue
            answer, seconds = ask(options.base_url, request(options, formats.messages(name, question)), options.timeout)
            choice = answer["choices"][0]
            text, cut = choice["message"].get("content") or "", choice.get("finish_reason") == "length"
            answers.add(row | {"text": text, "cut": cut, "seconds": seconds})
    return answers.rows


def judged(package, options, rows):
    """Answers under formats, each read by BFCL and by the `del` at hand."""
    from arms import Parser, calls_of
    from formats import Formats

    formats, parser = Formats(), Parser(options.binary)
    questions = {question["id"]: question for question in package.named({row["id"] for row in rows})}
    try:
        for row in rows:
            question, name, text = questions[row["id"]], row["format"], row["text"]
            read = parser.read(text, formats.tools(question), row.get("cut", False))
            row["by_bfcl"] = package.judge(question, formats.decode(name, text))
            row["by_del"] = package.judge(question, formats.named(calls_of(read)))
    finally:
        parser.close()
    return rows


def formatted(package, options):
    """The questions of format sensitivity, a category after the other in turn."""
    parts = package.format_sensitivity()
    if options.questions != USUAL:
        parts = {name: parts[name] for name in options.questions.split(",")}
    for ids in parts.values():
        random.Random(1).shuffle(ids)
    return [identity for turn in itertools.zip_longest(*parts.values()) for identity in turn if identity]


def in_turn(package, options):
    """The questions, categories in turn: the first of each, the second of each, …"""
    parts = []
    for part in options.questions.split(","):
        category, _, count = part.partition(":")
        parts.append(package.questions(category, int(count) if count else None, options.offset))
    order = sorted((at / len(part), which, at) for which, part in enumerate(parts) for at in range(len(part)))
    return [parts[which][at] for _, which, at in order]


def request(options, messages):
    body = {"messages": messages, "temperature": 0, "seed": 1, "max_tokens": options.max_tokens}
    return body | ({"model": options.model} if options.model else {})


class Answers:
    """Answers, kept in a file as they come."""

    def __init__(self, path, key):
        self._path, self._key = path, key
        self.rows = [row for row in read_rows(path) if row.get("why") != "error"]
        self._known = {self._name(row) for row in self.rows}

    def has(self, row):
        return self._name(row) in self._known

    def add(self, row):
        self.rows.append(row)
        self._known.add(self._name(row))
        with self._path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")

    def _name(self, row):
        return tuple(row[key] for key in self._key)


def read_rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def shown(rows, options):
    import formats
    import tally

    return formats.table(rows) if options.formats else tally.table(rows, options.arms)


if __name__ == "__main__":
    main()
