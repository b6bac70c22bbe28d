"""What the documents show is what happens."""

import doctest
from pathlib import Path
from types import ModuleType

import pytest

import del_dialects.tables

FOLDER = Path(__file__).parents[1]
FILES = [FOLDER / "README.md", FOLDER.parents[1] / "docs/python.md"]


@pytest.mark.parametrize("module", [del_dialects, del_dialects.tables], ids=lambda module: module.__name__)
def test_the_module(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_file(file: Path) -> None:
    tested = doctest.testfile(str(file), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tested.attempted > 0 and tested.failed == 0
