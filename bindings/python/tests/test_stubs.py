"""The stubs say what the module has, and the package is typed."""

import subprocess
import sys
from pathlib import Path

ALLOWED = Path(__file__).with_name("stubtest.txt")  # what PyO3 adds


def run(*command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stubs_are_those_of_the_module() -> None:
    run("mypy.stubtest", "del_dialects._lib", "--allowlist", str(ALLOWED), "--concise")


def test_the_package_is_typed() -> None:
    run("mypy", "--package", "del_dialects")
