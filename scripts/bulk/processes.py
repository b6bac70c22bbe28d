"""Processes that a trial has started: their memory, and their end."""

import os
import signal
from pathlib import Path


def below(pid: int) -> dict[int, str]:
    """The processes that `pid` has started, and those that these have, with their names."""
    children: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            names[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ").strip()
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(entry.name))
    found, waiting = {}, [pid]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found[child] = names.get(child, "")
            waiting.append(child)
    return found


def peak(pid: int) -> int:
    """The most memory that a process has had, in bytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
