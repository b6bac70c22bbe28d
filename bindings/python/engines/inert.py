"""The parser modules of an engine, imported from its unpacked wheel on a machine without GPU and without torch.

What reads and writes text in them is the published code. What computes is replaced: modules whose names are listed import
as inert ones, whose attributes are classes that can be called, subclassed and used as decorators, and do nothing.
"""

import importlib.abc
import importlib.machinery
import sys
import types
from pathlib import Path
from typing import Any


class _Inert(type):
    def __getattr__(cls, name: str) -> Any:
        return _attribute(cls, name)

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        return _decorated(arguments, named) or super().__call__()

    def __or__(cls, other: Any) -> Any:
        return Any

    __ror__ = __or__

    def __iter__(cls) -> Any:
        return iter(())

    def __lt__(cls, other: Any) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__


class _Object(metaclass=_Inert):
    def __getattr__(self, name: str) -> Any:
        return _attribute(self, name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return _decorated(arguments, named) or self

    def __class_getitem__(cls, key: Any) -> Any:
        return cls


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        return _attribute(self, name)


def _attribute(owner: Any, name: str) -> Any:
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    made = _Inert(name, (_Object,), {})
    setattr(owner, name, made)
    return made


def _decorated(arguments: Any, named: Any) -> Any:
    """What a decorator gives back: what it decorates."""
    alone = len(arguments) == 1 and not named
    return arguments[0] if alone and isinstance(arguments[0], (types.FunctionType, type)) else None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Inert modules for `names` and all below them; the packages of `bare` without what their `__init__` runs."""

    def __init__(self, folder: Path, names: set[str], bare: set[str]) -> None:
        self.folder, self.names, self.bare = folder, names, bare

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        parts = name.split(".")
        if name in self.bare:
            spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
            spec.submodule_search_locations = [str(self.folder.joinpath(*parts))]
            return spec
        if any(".".join(parts[:count]) in self.names for count in range(1, len(parts) + 1)):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        if spec.name in self.bare:
            return types.ModuleType(spec.name)
        module = _Module(spec.name)
        module.__version__ = "0.0.0"  # type: ignore[attr-defined]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def unpacked(folder: Path, names: set[str], bare: set[str]) -> None:
    """From now on, the engine in `folder` can be imported."""
    sys.meta_path.insert(0, Finder(folder, names, bare))
    sys.path.insert(0, str(folder))
