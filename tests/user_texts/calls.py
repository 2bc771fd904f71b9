"""Who calls what in the server's code, also under the name of a parameter or a field that holds a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tests.user_texts.code import Call, Class, Code, Function
from tests.user_texts.meanings import Meanings


class Calls:
    """The calls of a package."""

    def __init__(self, code: Code, meanings: Meanings) -> None:
        self._code = code
        self._meanings = meanings
        self._calls_by_name: dict[str, list[Call]] = {}
        self._given: dict[str, list[tuple[Call, int, str | None, ast.expr]]] = {}
        """Names that stand as arguments: in which call, and where."""
        self._aliases: dict[str, set[str]] = {}
        """What classes and functions are called where they are imported."""
        for module in code.modules.values():
            for alias, (_, there) in module.names.items():
                if there is not None:
                    self._aliases.setdefault(there, set()).add(alias)
        for call in code.calls:
            if (
                isinstance(call.node.func, ast.Attribute)
                and isinstance(call.node.func.value, ast.Name)
                and call.node.func.value.id == "logger"
            ):
                continue
            keywords = [each.arg for each in call.node.keywords]
            for index, each in enumerate([*call.node.args, *(keyword.value for keyword in call.node.keywords)]):
                given = each.id if isinstance(each, ast.Name) else each.attr if isinstance(each, ast.Attribute) else None
                if given is not None:
                    keyword = keywords[index - len(call.node.args)] if index >= len(call.node.args) else None
                    self._given.setdefault(given, []).append((call, index, keyword, each))
            name = call.node.func.attr if isinstance(call.node.func, ast.Attribute) else getattr(call.node.func, "id", "")
            self._calls_by_name.setdefault(name, []).append(call)

    def named(self, name: str) -> Sequence[Call]:
        """All calls by that name, whatever it stands for."""
        return self._calls_by_name.get(name, ())

    def makers(self, owner: Class) -> Iterator[Call]:
        """Calls that make one of that class."""
        for name in {owner.name} | self._aliases.get(owner.name, set()):
            for call in self.named(name):
                if owner in self._meanings.called(call.node.func, call.function):
                    yield call
        for call in self.named("cls"):
            if call.function.owner is not None and owner in (call.function.owner, *self._meanings.parents(call.function.owner)):
                yield call

    def callers(self, function: Function) -> Iterator[Call]:
        """Calls that may run it; those of a method by its name where nothing is known of the object."""
        for call in self.named(function.name):
            if function in self._meanings.called(call.node.func, call.function) or (
                function.owner is not None
                and isinstance(call.node.func, ast.Attribute)
                and not self._meanings.called(call.node.func, call.function)
                and not self._meanings.types(call.node.func.value, call.function)
                and not isinstance(self._meanings.of_expression(call.node.func, call.function.module), Function)
            ):
                yield call

    def elsewhere(self, function: Function) -> Iterator[tuple[Call, int]]:
        """A function that is given away is called under another name: that of the parameter or the field that takes it, and so on.

        With how many arguments stand before its own.
        """
        names: set[str] = set()
        for call, index, keyword, each in self._given.get(function.name, ()):
            if function in self._meanings.called(each, call.function):
                if getattr(call.node.func, "attr", "") == "to_thread":
                    yield call, 1
                names |= self._taken_as(call, index, keyword)
        waiting, found = list(names), set(names)
        while waiting:
            for call, index, keyword, _ in self._given.get(waiting.pop(), ()):
                more = self._taken_as(call, index, keyword) - found
                found |= more
                waiting += more
        for name in found:
            for other in self.named(name):
                if not self._meanings.called(other.node.func, other.function):
                    yield other, 0

    def _taken_as(self, call: Call, index: int, keyword: str | None) -> set[str]:
        """How the function is called where it was given to that call."""
        names: set[str] = set()
        for target in self._meanings.called(call.node.func, call.function):
            initial = self._meanings.method(target, "__init__") if isinstance(target, Class) else target
            if initial is None and isinstance(target, Class):
                fields = self._meanings.fields(target)
                names |= {keyword} if keyword is not None else set(fields[index : index + 1])
            elif isinstance(initial, Function):
                parameters = [each.arg for each in initial.parameters]
                taken = keyword if keyword is not None else next(iter(parameters[index : index + 1]), None)
                if taken is not None:
                    names.add(taken)
                    kept = initial.owner.assigned if initial.owner is not None else {}
                    names |= {
                        name for name, values in kept.items() for value, _ in values if isinstance(value, ast.Name) and value.id == taken
                    }
        return names
