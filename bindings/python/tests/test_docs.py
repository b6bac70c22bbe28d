"""What the documents show is what happens."""

import doctest
import re
from pathlib import Path
from types import ModuleType

import pytest

import del_dialects.tables
from del_dialects.transformers import TemplateError, response_template

FOLDER = Path(__file__).parents[1]
FILES = [FOLDER / "README.md", FOLDER.parents[1] / "docs/python.md"]


@pytest.mark.parametrize("module", [del_dialects, del_dialects.tables], ids=lambda module: module.__name__)
def test_the_module(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_file(file: Path) -> None:
    tested = doctest.testfile(str(file), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tested.attempted > 0 and tested.failed == 0


def has_template(name: str) -> bool:
    try:
        response_template(name)
    except TemplateError:
        return False
    return True


def test_the_page_knows_which_dialects_have_a_template() -> None:
    page = FILES[1].read_text()
    names = [dialect.name for dialect in del_dialects.dialects()]
    without = {name for name in names if not has_template(name)}
    row = next(line for line in page.splitlines() if line.startswith("| Without a template |"))
    assert set(re.findall(r"`([^`]+)`", row)) == without
    assert f"all {len(names) - len(without)} dialects that have a template" in page
