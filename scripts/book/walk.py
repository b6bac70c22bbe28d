"""Walks pages of the book: runs their commands from top to bottom, and compares what they print.

A block of Markdown that begins with ```sh is run; ```console holds commands behind "$ " and, below each, what it prints,
in which "…" stands for anything. ```sh,setup installs something and is run with --all alone; ```sh,ignore is never run.
Each page has one shell, and the root of the repository to begin in. All pages have one home directory, as those of one reader.
"""

import argparse
import difflib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```([a-z,]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# How long a page may take, and one whose installing is run as well.
SECONDS, SECONDS_OF_ALL = 600, 7200


def steps(page, everything):
    """The commands of a page, each with what it prints; None where nobody says."""
    found = []
    for kind, text in BLOCK.findall(page):
        if kind == "sh" or (kind == "sh,setup" and everything):
            found.append((text, None))
        elif kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, printed = part.partition("\n")
                found.append((command + "\n", printed))
    return found


def script(found, folder):
    """What the shell runs: it stops behind the first command that fails."""
    lines = []
    for number, (command, _) in enumerate(found):
        out = folder / f"{number}.out"
        lines.append(f"{{\n{command}}} >{out} 2>&1 </dev/null || {{ echo $? >{folder}/failed; exit 1; }}\n")
    return "".join(lines)


def is_as_shown(shown, printed):
    pattern = ".*?".join(re.escape(part) for part in shown.rstrip().split("…"))
    return re.fullmatch(pattern, printed.rstrip(), re.DOTALL) is not None


def run(found, folder, home, root, seconds):
    """Runs the commands, and ends what they leave behind."""
    names = ("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")
    kept = {name: os.environ.get(name, str(pathlib.Path.home() / below)) for name, below in names}
    # The least that a terminal has: settings of whoever runs this must not show.
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "OPENAI_", "OLLAMA_"))}
    env = plain | kept | {"HOME": str(home), "NO_COLOR": "1", "CARGO_INSTALL_ROOT": str(home / ".cargo")}
    shell = subprocess.Popen(["bash", "-c", script(found, folder)], cwd=root, env=env, start_new_session=True)
    try:
        shell.wait(seconds)
    except subprocess.TimeoutExpired:
        (folder / "failed").write_text(f"it took more than {seconds} seconds\n")
    finally:
        try:
            os.killpg(shell.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        shell.wait()


def walk(path, options, home):
    """What is wrong with a page, as text."""
    found = steps(path.read_text(encoding="utf-8"), options.all)
    if not found:
        return "it has no commands\n"
    with tempfile.TemporaryDirectory(prefix="del-printed-") as name:
        folder = pathlib.Path(name)
        run(found, folder, home, options.root, SECONDS_OF_ALL if options.all else SECONDS)
        wrong = []
        for number, (command, shown) in enumerate(found):
            out = folder / f"{number}.out"
            if not out.exists():
                break
            printed = out.read_text(encoding="utf-8", errors="replace")
            last = not (folder / f"{number + 1}.out").exists()
            if last and (folder / "failed").exists():
                code = (folder / "failed").read_text().strip()
                wrong.append(f"$ {command}ended with {code}:\n{printed}")
            elif shown is not None and not is_as_shown(shown, printed):
                lines = difflib.unified_diff(shown.splitlines(), printed.splitlines(), "shown", "printed", lineterm="")
                wrong.append(f"$ {command}" + "\n".join(lines) + "\n")
        return "".join(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--all", action="store_true", help="run the blocks that install something as well")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path.cwd(), help="the clone to walk in")
    parser.add_argument("--node-modules", type=pathlib.Path, help="packages of npm that are installed already")
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix="del-walk-") as name:
        home = pathlib.Path(name) / "a home"
        home.mkdir()
        if options.node_modules:
            (home / "node_modules").symlink_to(options.node_modules.resolve())
        for page in options.pages:
            wrong = walk(page, options, home)
            print(f"{page.name}: " + (f"not as it says\n{wrong}" if wrong else "as it says"), flush=True)
            failed = failed or bool(wrong)
    sys.exit(failed)


main()
