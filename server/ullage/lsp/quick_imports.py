"""What is imported at the start is imported quickly.

attrs and dataclasses make the methods of a class as Python text and compile it, each time that a process makes the class: 2,300 texts until
the sessions are open, two fifths of the time. Here the compiled code is kept, as Python keeps that of modules: in `__pycache__`, trusted as
the files beside it, by the interpreter that made it, and not written where Python is told to write none. Code is looked up by the whole
text that it was compiled from, so it never is that of another class.
"""

from __future__ import annotations
import __future__

import builtins
import dataclasses
import gc
import importlib.util
import marshal
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, cast

from attr import _make  # it has no public place where compiling can be told otherwise

_MAGIC = importlib.util.MAGIC_NUMBER
"""Of the interpreter: code of another one is not read."""

Known = dict[tuple[str, str], CodeType]
"""Code by the name and the text that it was compiled from."""


@contextmanager
def quick_imports(name: str, folder: Path | None = None) -> Generator[None]:
    """Imports in it compile what was not compiled at an earlier start; `name` says which imports these are.

    The collector rests meanwhile, and never looks at what was imported, which lives as long as the process: an eighth of the time.
    """
    file = (folder or _cache_folder()) / f"{name}.{sys.implementation.cache_tag}-{sys.flags.optimize}.code"
    known, used = _read(file), Known()
    was_enabled = gc.isenabled()
    gc.disable()
    _compile_by(_make, dataclasses, known, used)
    try:
        yield
    finally:
        _compile_as_ever(_make, dataclasses)
        if was_enabled:
            gc.freeze()
            gc.enable()
    if used.keys() - known.keys() and not sys.dont_write_bytecode:
        with suppress(OSError):  # as with modules: where nothing can be written, it is compiled each time
            _write(file, used)


def _compile_by(attrs: ModuleType, of_dataclasses: ModuleType, known: Known, used: Known) -> None:
    """Both find `compile` and `exec` among the builtins, as long as their own module has none."""

    def code_of(text: str, filename: str, flags: int) -> CodeType:
        key = filename, text
        code = known.get(key)
        if code is None:
            code = builtins.compile(text, filename, "exec", flags, dont_inherit=True)
        used[key] = code
        return code

    flags_of_attrs, flags_of_dataclasses = _flags(attrs), _flags(of_dataclasses)

    def compile_for_attrs(script: str, filename: str, _mode: str) -> CodeType:
        return code_of(script, filename, flags_of_attrs)

    def exec_for_dataclasses(text: str, *names: dict[str, Any]) -> None:
        builtins.exec(code_of(text, "<string>", flags_of_dataclasses), *names)  # noqa: S102 - what dataclasses itself does

    vars(attrs)["compile"] = compile_for_attrs
    vars(of_dataclasses)["exec"] = exec_for_dataclasses


def _compile_as_ever(attrs: ModuleType, of_dataclasses: ModuleType) -> None:
    vars(attrs).pop("compile", None)
    vars(of_dataclasses).pop("exec", None)


def _flags(module: ModuleType) -> int:
    """Whether annotations stay text in what the module compiles, as Python itself would have it there."""
    return __future__.annotations.compiler_flag if vars(module).get("annotations") is __future__.annotations else 0


def _cache_folder() -> Path:
    return Path(importlib.util.cache_from_source(__file__)).parent


def _read(file: Path) -> Known:
    try:
        data = file.read_bytes()
        known: object = marshal.loads(data[len(_MAGIC) :]) if data.startswith(_MAGIC) else None  # noqa: S302 - as Python its modules
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    return cast("Known", known) if isinstance(known, dict) else {}


def _write(file: Path, code: Known) -> None:
    """Whole or not at all: other processes read it at any time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        part.write_bytes(_MAGIC + marshal.dumps(code))
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
