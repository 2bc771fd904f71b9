"""Dependencies point one way, as ARCHITECTURE.md draws them: read from the imports themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import ullage
from tests.trees import right_below

ROOT = Path(ullage.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"}

MAY_IMPORT = {
    "context": set[str](),
    "platforms": set[str](),
    "store": {"context", "platforms"},
    "processes": {"platforms"},
    "workspace": {"context", "platforms", "processes"},
    "mcp_servers": {"context", "processes", "workspace"},
    "models": {"context", "store", "workspace"},
    "tools": {"context", "platforms", "store", "workspace", "processes", "mcp_servers"},
    "recorded": {"context", "store", "models"},
    "session": {"context", "store", "workspace", "models", "tools", "recorded", "mcp_servers"},
    "replay": {"context", "store", "models", "processes", "recorded"},
    "lsp": {"context", "store", "workspace", "models", "tools", "session", "mcp_servers"},
    "acp": {"context", "store", "workspace", "models", "tools", "session", "mcp_servers"},
}
"""Beside itself, by folder. Modules at the top (the command line) may import anything."""

MAY_KNOW_PACKAGES = {"session", "replay"}
"""May import `installed_policies`, which loads other people's packages, from the top; what they look at is below all of them."""

INSIDE_CONTEXT = {
    "view": set[str](),
    "counting": {"view"},
    "moves": {"view", "counting"},
    "summary": {"view", "counting"},
    "symbols": set[str](),
    "changes": set[str](),
    "engines": {"view", "counting", "moves", "summary", "symbols"},
    "policies": {"view", "counting", "moves", "summary", "symbols", "engines"},
    "compaction": {"view", "counting", "moves", "summary", "symbols", "engines", "policies"},
}
"""Beside itself, by folder of `context/`; all of them use its values (blocks, entries, policy)."""

GRAMMARS = {
    "tree_sitter",
    *(f"tree_sitter_{language}" for language in ("c", "cpp", "go", "java", "javascript", "python", "ruby", "rust", "typescript")),
}

ONLY_IN = {
    "pygls": {"lsp"},
    "lsprotocol": {"lsp"},
    "cattrs": {"lsp", "store"},
    "attrs": {"lsp"},
    "attr": {"lsp"},
    "acp": {"acp"},
    "pydantic": {"acp", "mcp_servers"},
    "mcp": {"mcp_servers"},
    "mcp_types": {"mcp_servers"},
    "jsonschema": {"mcp_servers"},
    "anthropic": {"models"},
    "httpx2": {"models", "workspace", "mcp_servers"},
    "ctok": {"models"},
    "psycopg": {"store"},
    "psycopg_pool": {"store"},
    "PIL": {"workspace"},
    "pygit2": {"workspace"},
    "fastjsonschema": {"tools"},
    **{package: {"context"} for package in GRAMMARS},
    "tree_sitter": {"context", "tools"},
    "tree_sitter_bash": {"tools"},
}
"""Packages that one folder alone knows."""

LATE_ONLY = {
    "anthropic",
    "psycopg",
    "psycopg_pool",
    "mcp",
    "mcp_types",
    "jsonschema",
    "httpx2",
    "ctok",
    "pygit2",
    *GRAMMARS,
    "tree_sitter_bash",
}
"""Slow to import, so imported in functions alone: the server must answer `initialize` first."""

NO_IO_NO_CLOCK = {
    "asyncio",
    "os",
    "random",
    "secrets",
    "shutil",
    "socket",
    "sqlite3",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "uuid",
}
"""Standard modules that `context/` has no use for."""


@dataclass(frozen=True)
class Import:
    """One module that a file imports. `early` where that happens as soon as the file itself is imported."""

    file: str
    """Its path from the package, with slashes."""
    line: int
    module: str
    early: bool

    @cached_property
    def folder(self) -> str:
        """The folder of Ullage that the file is in; empty for those at the top."""
        return self.file.partition("/")[0] if "/" in self.file else ""

    @cached_property
    def package(self) -> str:
        return self.module.partition(".")[0]

    @cached_property
    def target(self) -> str:
        """The folder of Ullage that is imported from; empty for its top and for other packages."""
        parts = self.module.split(".")
        return parts[1] if parts[0] == "ullage" and len(parts) > 1 and parts[1] in FOLDERS else ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


def imports_of(file: Path) -> Iterator[Import]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    there = file.relative_to(ROOT)
    yield from _imports_in(tree.body, there.as_posix(), ["ullage", *there.parts[:-1]], early=True)


def _imports_in(statements: Iterable[ast.AST], file: str, package: list[str], *, early: bool) -> Iterator[Import]:
    for each in statements:
        if isinstance(each, ast.Import):
            yield from (Import(file, each.lineno, name.name, early) for name in each.names)
        elif isinstance(each, ast.ImportFrom):
            above = package[: len(package) - each.level + 1] if each.level else []
            module = ".".join([*above, *([each.module] if each.module else [])])
            yield Import(file, each.lineno, module, early)
            yield from (Import(file, each.lineno, f"{module}.{name.name}", early) for name in each.names)
        elif isinstance(each, ast.If) and _is_for_types_alone(each):
            yield from _imports_in(each.body, file, package, early=False)
            yield from _imports_in(each.orelse, file, package, early=early)
        else:
            is_function = isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _imports_in(right_below(each), file, package, early=early and not is_function)


def _is_for_types_alone(statement: ast.If) -> bool:
    return ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


@cache
def every_import() -> Sequence[Import]:
    """Of all files. Read when the first test asks."""
    return tuple(each for file in FILES for each in imports_of(file))


def check_none(offending: list[Import]) -> None:
    assert sorted({str(each) for each in offending}) == []


def test_the_folders_are_those_of_the_picture():
    assert MAY_IMPORT.keys() == FOLDERS


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_a_folder_imports_only_what_is_below_it(folder: str):
    allowed = MAY_IMPORT[folder] | {folder, ""}
    check_none([each for each in every_import() if each.folder == folder and each.target not in allowed])


@pytest.mark.parametrize("folder", INSIDE_CONTEXT)
def test_a_folder_of_the_context_imports_only_what_is_below_it(folder: str):
    inside = f"context/{folder}/"
    others = tuple(f"ullage.context.{other}." for other in INSIDE_CONTEXT if other not in INSIDE_CONTEXT[folder] | {folder})
    check_none([each for each in every_import() if each.file.startswith(inside) and f"{each.module}.".startswith(others)])


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_no_folder_imports_the_command_line(folder: str):
    check_none([each for each in every_import() if each.folder == folder and each.module.startswith(("ullage.cli", "ullage.__main__"))])


def test_no_two_modules_import_each_other():
    """Such a pair works or fails by which of the two is imported first."""
    modules = {_name_of(file): file.relative_to(ROOT).as_posix() for file in FILES}
    early: dict[str, set[str]] = {file: set() for file in modules.values()}
    for each in every_import():
        imported = modules.get(each.module)
        if each.early and imported is not None and not imported.endswith("__init__.py") and imported != each.file:
            early[each.file].add(imported)
    try:
        TopologicalSorter(early).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def _name_of(file: Path) -> str:
    return ".".join(["ullage", *file.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")


def test_policies_of_packages_are_looked_for_only_where_a_session_or_a_replay_is_carried_out():
    found = [each for each in every_import() if each.module.startswith("ullage.installed_policies")]
    check_none([each for each in found if each.folder not in MAY_KNOW_PACKAGES | {""}])
    own = [each for each in every_import() if each.file.endswith("installed_policies.py") and each.package == "ullage"]
    check_none([each for each in own if each.target != "context"])


def test_policies_are_looked_for_late_before_initialize_is_answered():
    check_none(
        [each for each in every_import() if each.folder == "lsp" and each.early and each.module.startswith("ullage.installed_policies")]
    )


@pytest.mark.parametrize("package", sorted(ONLY_IN))
def test_a_package_is_known_only_where_it_belongs(package: str):
    check_none([each for each in every_import() if each.package == package and each.folder not in ONLY_IN[package]])


def test_source_texts_are_read_in_one_folder_alone():
    commands = "tools/command_lines/parsing.py"
    elsewhere = [each for each in every_import() if each.package in GRAMMARS and not each.file.startswith("context/symbols/")]
    check_none([each for each in elsewhere if each.file != commands or each.package != "tree_sitter"])
    check_none([each for each in every_import() if each.package == "tree_sitter_bash" and each.file != commands])


@pytest.mark.parametrize("package", sorted(LATE_ONLY))
def test_what_is_slow_to_import_is_imported_late(package: str):
    check_none([each for each in every_import() if each.package == package and each.early])


def test_the_context_has_no_io_and_no_clock():
    check_none([each for each in every_import() if each.folder == "context" and each.package in NO_IO_NO_CLOCK])
