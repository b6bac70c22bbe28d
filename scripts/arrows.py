#!/usr/bin/env python3
"""Looks for crates whose modules import each other in a circle.

A module here is a file at the root of a crate, with the folder of the same name. What it imports is read from its text,
tests left out. An arrow from one module to another points down as long as none leads back.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def tests(sources):
    """The files of a crate that are compiled for its tests alone."""
    for path in sources.rglob("*.rs"):
        folder = path.parent if path.stem in ("lib", "main") else path.with_suffix("")
        for name in re.findall(r"#\[cfg\(test\)\]\s*(?:pub\(\w+\) )?mod (\w+);", path.read_text()):
            yield folder / f"{name}.rs"


def imports(crate):
    """For each module of a crate, those that it imports, and the file that does."""
    sources = crate / "src"
    modules = {path.stem for path in sources.iterdir()} - {"lib", "main"}
    arrows = {module: {} for module in modules}
    for path in sorted(set(sources.rglob("*.rs")) - set(tests(sources))):
        module = path.relative_to(sources).parts[0].removesuffix(".rs")
        if module not in modules:
            continue
        text = path.read_text().split("#[cfg(test)]")[0]
        text = re.sub(r"//.*", "", text)
        named = re.findall(r"\bcrate::(\w+)", text)
        for group in re.findall(r"\bcrate::\{(.*?)\};", text, re.DOTALL):
            named += re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"\{[^{}]*\}", "", group))
        for other in named:
            if other in modules and other != module:
                arrows[module].setdefault(other, path.relative_to(ROOT))
    return arrows


def circles(arrows):
    """The strongly connected modules, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in arrows[module]:
            if other not in index:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == index[module]:
            place = stack.index(module)
            if len(stack) - place > 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for module in sorted(arrows):
        if module not in index:
            visit(module)
    return found


def main():
    code = 0
    for crate in sorted(path.parent for path in (ROOT / "crates").glob("*/src")):
        arrows = imports(crate)
        for circle in circles(arrows):
            code = 1
            print(f"{crate.name}: expected arrows that point down, got a circle of {', '.join(circle)}")
            for module in circle:
                for other, path in sorted(arrows[module].items()):
                    if other in circle:
                        print(f"    {path} -> {other}")
    return code


if __name__ == "__main__":
    sys.exit(main())
