#!/usr/bin/env python3
"""Has a model do small tasks on the files of scripts/sample, and counts those that changed a file, and those done right.

    evals/files.py --base-url http://127.0.0.1:8080/v1 --keep DIRECTORY     # other options go to del

Each task is done in a fresh copy by `del -p --approval-mode auto-edit`; all copies stand in the same place, one after the
other, so that a server can keep the beginning of the prompt. What the model wrote and what came of it goes to --keep.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "scripts" / "sample"
# A task, the file that it is about (or the folder of a new one), what that has to hold, and what it must not.
TASKS = [
    ("Add a recipe for plain pancakes to recipes, and tell me which ones there are.", "recipes/*", ["milk"], []),
    ("Create a file hello.txt with the text: Hello, world.", "hello.txt", ["Hello, world"], []),
    ("The bakery opens at 8 now, not at 7. Change README.md.", "README.md", ["at 8", "rustc"], ["at 7"]),
    ("Replace the word Bakery by Patisserie in README.md.", "README.md", ["Patisserie", "rustc"], []),
    ("Add a line to notes.txt: Wednesday: inventory", "notes.txt", ["Wednesday: inventory", "Monday"], []),
    ("The cake has to bake for 60 minutes, not 50. Fix the recipe.", "recipes/cake.txt", ["60 min", "butter"], []),
    ("Write a Python script count.py that prints how many lines notes.txt has.", "count.py", ["notes.txt"], []),
    ("Create a .gitignore that ignores all files ending in .o", ".gitignore", ["*.o"], []),
    ("The program in src/main.rs says the wrong hour. It should say 8.", "src/main.rs", ["8", "fn main"], ["7"]),
    ("Delete the line about the oven repair from notes.txt.", "notes.txt", ["Monday"], ["oven"]),
    ("Write a file TODO.md with three things to do before the bakery opens.", "TODO.md", ["\n"], []),
    ("Add a comment at the top of src/main.rs that says what the program does.", "src/main.rs", ["//", "fn main"], []),
]


def texts(folder):
    """What stands in the files of a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text(errors="replace") for path in files}


def done(work, pattern, holds, lacks):
    """Whether a file that the pattern names is as it should be."""
    for path in work.glob(pattern):
        text = path.read_text(errors="replace")
        if all(part in text for part in holds) and not any(part in text for part in lacks):
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--del", dest="program", default=str(ROOT / "target" / "release" / "del"))
    parser.add_argument("--keep", type=Path)
    arguments, options = parser.parse_known_args()
    before = texts(SAMPLE)
    changed = right = 0
    with tempfile.TemporaryDirectory() as place:
        work = Path(place) / "work"
        for number, (task, pattern, holds, lacks) in enumerate(TASKS, 1):
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(SAMPLE, work)
            command = [arguments.program, "-p", task, "--debug", "--no-session", "--approval-mode", "auto-edit"]
            command += ["--base-url", arguments.base_url, *options]
            began = time.monotonic()
            run = subprocess.run(command, cwd=work, env={**os.environ, "HOME": place}, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            names = sorted(name for name, text in texts(work).items() if before.get(name) != text)
            good = bool(names) and done(work, pattern, holds, lacks)
            changed, right = changed + bool(names), right + good
            if arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"{number}.txt").write_text(run.stdout)
            print(f"{number:2} {'right' if good else 'changed' if names else '-':8}"
                  f"{time.monotonic() - began:4.0f} s  {', '.join(names)}", flush=True)
    print(f"changed {changed} of {len(TASKS)}, right {right}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
