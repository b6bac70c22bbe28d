"""The cases of all dialects, as the tests of the parser have them."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DIALECTS = Path(__file__).resolve().parents[3] / "crates/del-dialects/dialects"
TOOLS: list[dict[str, Any]] = json.loads((DIALECTS / "tools.json").read_text())


@dataclass
class Case:
    dialect: str
    slug: str
    text: str
    starts_in: str
    cut: bool
    tools: list[dict[str, Any]]
    expect: dict[str, Any]
    canonical: bool = False  # it is what the dialect writes for these calls

    @property
    def id(self) -> str:
        return f"{self.dialect}/{self.slug}"

    def pieces(self, size: int) -> Iterator[str]:
        return (self.text[at : at + size] for at in range(0, len(self.text), size))


def load(path: Path) -> Case:
    case = tomllib.loads(path.read_text())
    return Case(
        dialect=path.parent.parent.name,
        slug=path.stem,
        text=case["text"],
        starts_in=case.get("starts_in", "text"),
        cut=case.get("finish") == "cut",
        tools=[] if case.get("tools") == "none" else TOOLS,
        expect=case.get("expect", {}),
        canonical=case.get("canonical", False),
    )


CASES = [load(path) for path in sorted(DIALECTS.glob("*/cases/*.toml"))]
