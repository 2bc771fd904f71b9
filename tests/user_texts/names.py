"""What a name stands for in the server's code."""

from __future__ import annotations

import ast
from functools import cache

from tests.user_texts.code import Class, Code, Function, Module


class Names:
    """Answers about one package."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.parents = cache(self._parents)
        """A class and what it inherits from, the nearest first."""
        self.fields = cache(self._fields)
        """Those of a class, in the order in which a constructor takes them."""
        self.is_protocol = cache(self._is_protocol)
        """Whether other classes may stand for a class without naming it."""

    def function(self, name: str, module: Module, seen: frozenset[str] = frozenset()) -> Function | None:
        """The function of that name as seen in a module."""
        found = self._named(name, module, seen)
        return found if isinstance(found, Function) else None

    def class_(self, name: str, module: Module) -> Class | None:
        """The class of that name as seen in a module."""
        found = self._named(name, module, frozenset())
        return found if isinstance(found, Class) else None

    def _named(self, name: str, module: Module, seen: frozenset[str]) -> Function | Class | Module | None:
        if name in module.functions:
            return module.functions[name]
        if name in module.classes:
            return module.classes[name]
        if name not in module.names or f"{module.name}:{name}" in seen:
            return None
        source, there = module.names[name]
        if there is None:
            return self.code.modules.get(source)
        inside = self.code.modules.get(f"{source}.{there}")
        if inside is not None:
            return inside
        other = self.code.modules.get(source)
        return None if other is None else self._named(there, other, seen | {f"{module.name}:{name}"})

    def home(self, name: str, module: Module) -> tuple[Module, str] | None:
        """The module whose value has that name, and what it is called there."""
        for _ in range(5):
            if name in module.values or name in module.annotations:
                return module, name
            if name not in module.names:
                return None
            source: str
            there: str | None
            source, there = module.names[name]
            if source not in self.code.modules or there is None:
                return None
            module = self.code.modules[source]
            name = there
        return None

    def of_expression(self, node: ast.expr, module: Module) -> Function | Class | Module | None:
        """What `name` or `module.name` stands for."""
        if isinstance(node, ast.Name):
            return self._named(node.id, module, frozenset())
        if isinstance(node, ast.Attribute):
            inside = self.of_expression(node.value, module)
            if isinstance(inside, Module):
                return self._named(node.attr, inside, frozenset())
            if isinstance(inside, Class):
                return self.method(inside, node.attr)
        return None

    def _parents(self, owner: Class) -> list[Class]:
        found = [owner]
        for each in owner.parents:
            parent = self.of_expression(each.value if isinstance(each, ast.Subscript) else each, owner.module)
            if isinstance(parent, Class):
                found += self.parents(parent)
        return found

    def _is_protocol(self, owner: Class) -> bool:
        written = [ast.unparse(each) for each in owner.parents]
        return any(each.startswith(("Protocol", "ABC")) for each in written)

    def method(self, owner: Class, name: str) -> Function | None:
        """Its own, or an inherited one."""
        return next((each.methods[name] for each in self.parents(owner) if name in each.methods), None)

    def _fields(self, owner: Class) -> list[str]:
        names: dict[str, None] = {}
        for each in reversed(self.parents(owner)):
            names |= dict.fromkeys(name for name, kind in each.fields.items() if not ast.unparse(kind).startswith("ClassVar"))
        return list(names)
