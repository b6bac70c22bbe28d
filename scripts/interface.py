#!/usr/bin/env python3
"""Compares the public interface of the libraries with the one that is written down, in interface.txt beside each.

It is read from the pages of `cargo doc`, which have to be there: every public item with its declaration, its methods
and the traits that it implements, but for what rustdoc lists for any type. UPDATE_INTERFACE=1 writes the files.
"""

import difflib
import html
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

LIBRARIES = ["del-detect", "del-dialects", "del-grammar", "del-wire"]
ROOT = Path(__file__).resolve().parent.parent
# Of the traits that a type has by itself, those that a program may need.
OF_ITSELF = ("Send for ", "Sync for ")
# Sections of what any type has, and of what stands in the declaration.
SAID_ABOVE = ("blanket-implementations", "provided-", "required-", "variants")
EMPTY_ELEMENTS = {"br", "hr", "img", "input", "link", "meta", "wbr"}


class Page(HTMLParser):
    """The declaration on a page, and the heads below it with the section that each stands in."""

    def __init__(self):
        super().__init__()
        self.declaration, self.heads = "", []
        self.section, self.inner = "", ""
        # The elements that are open, and how deep the one that is read began.
        self.open, self.began, self.hidden = [], None, None

    def handle_starttag(self, tag, attributes):
        if tag in EMPTY_ELEMENTS:
            return
        self.open.append(tag)
        known = dict(attributes)
        classes = (known.get("class") or "").split()
        if tag == "h2" and "section-header" in classes:
            self.section = known.get("id") or ""
        elif tag == "section":
            self.inner = " ".join(classes)
        elif self.began is None and tag == "pre" and "item-decl" in classes:
            self.began = ("declaration", len(self.open))
        elif self.began is None and tag in ("h3", "h4") and "code-header" in classes:
            self.began = ("head", len(self.open))
            self.heads.append([self.section, self.inner, ""])
        elif self.began and self.hidden is None and tag == "summary":
            self.hidden = len(self.open)
        if tag == "div":
            self.handle_data("\n")

    def handle_endtag(self, tag):
        if tag not in self.open:
            return
        while self.open.pop() != tag:
            pass
        if tag == "div":
            self.handle_data("\n")
        if self.hidden and len(self.open) < self.hidden:
            self.hidden = None
        if self.began and len(self.open) < self.began[1]:
            self.began = None

    def handle_data(self, text):
        if self.hidden or not self.began:
            return
        if self.began[0] == "declaration":
            self.declaration += text
        else:
            self.heads[-1][2] += text

    def lines(self):
        yield from (line for line in self.declaration.replace(" ⓘ", "").splitlines() if line.strip())
        for section, inner, head in self.heads:
            head = " ".join(head.replace("ⓘ", "").split())
            if section.startswith(SAID_ABOVE) or inner.startswith("method trait-impl"):
                continue
            if section == "synthetic-implementations" and not head.split("impl", 1)[-1].strip(" !").startswith(OF_ITSELF):
                continue
            yield head if inner == "impl" else f"    {head}"


def used(page):
    """What a module offers under a second path."""
    for shown in re.findall(r'<dt id="reexport\.[^>]*><code>(.*?)</code>', page.read_text(encoding="utf-8"), re.DOTALL):
        yield "    " + " ".join(html.unescape(re.sub("<[^>]*>", "", shown)).split())


def interface(pages):
    """Every item of a library, by its path."""
    items, modules_found = {}, {()}
    # Pages of items that are gone may still lie there.
    for file in re.findall(r'<li><a href="([^"]+)">', (pages / "all.html").read_text(encoding="utf-8")):
        *modules, file_name = file.split("/")
        kind, name, _ = file_name.split(".")
        page = Page()
        page.feed((pages / file).read_text(encoding="utf-8"))
        modules_found.add(tuple(modules))
        path = "::".join([pages.name, *modules, name])
        items[path, kind] = "".join(f"    {line}".rstrip() + "\n" for line in page.lines())
    for modules in modules_found:
        if lines := sorted(used(pages.joinpath(*modules, "index.html"))):
            items["::".join([pages.name, *modules]), "mod"] = "\n".join(lines) + "\n"
    return "".join(f"{kind} {path}\n{lines}\n" for (path, kind), lines in sorted(items.items()))


def main():
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    failed = False
    for library in LIBRARIES:
        pages, known = target / "doc" / library.replace("-", "_"), ROOT / "crates" / library / "interface.txt"
        if not pages.is_dir():
            sys.exit(f"interface: expected the pages of {library} in {pages}; run: cargo doc --workspace --no-deps")
        got = interface(pages)
        if os.environ.get("UPDATE_INTERFACE"):
            known.write_text(got, encoding="utf-8")
        expected = known.read_text(encoding="utf-8") if known.is_file() else ""
        if got != expected:
            names = f"crates/{library}/interface.txt", "the documentation"
            sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), got.splitlines(True), *names))
            failed = True
        print(f"{library}: {got.count(chr(10) + chr(10))} items")
    if failed:
        sys.exit("interface: it has changed (see above). If it should: UPDATE_INTERFACE=1 scripts/interface.py, "
                 "and a line in CHANGELOG.md")


main()
