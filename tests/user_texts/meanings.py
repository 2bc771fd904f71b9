"""Of which class a value is in the server's code, and what a call of it runs."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache

from tests.user_texts.code import Binding, Class, Code, Function, Module
from tests.user_texts.names import Names

_TRANSPARENT = {
    "sorted",
    "list",
    "tuple",
    "set",
    "frozenset",
    "reversed",
    "iter",
    "cast",
    "filter",
    "islice",
    "chain",
    "replace",
    "deque",
    "dict",
}
_ELEMENT_AT = {"dict": -1, "Mapping": -1, "Generator": 0, "AsyncGenerator": 0}


@dataclass(frozen=True)
class Type:
    """An annotation, and the module in which its names mean something."""

    node: ast.expr
    module: Module


class Meanings(Names):
    """Answers about one package."""

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.types = cache(self._types)
        self.called = cache(self._called)
        self._busy: set[tuple[int, int]] = set()

    def classes(self, node: ast.expr, function: Function) -> list[Class]:
        """The classes of a value; none where that is not known."""
        found: dict[int, Class] = {}
        for each in self.types(node, function):
            for owner in self.classes_in(each):
                found[id(owner)] = owner
        return list(found.values())

    def classes_in(self, kind: Type) -> list[Class]:
        """The classes that an annotation names, without those in brackets."""
        node = _parsed(kind.node)
        match node:
            case ast.BinOp(left=left, right=right):
                return [*self.classes_in(Type(left, kind.module)), *self.classes_in(Type(right, kind.module))]
            case ast.Subscript(
                value=ast.Name(id="Annotated" | "type" | "ClassVar" | "Final" | "Awaitable" | "Union" | "Optional"), slice=inner
            ):
                parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return [owner for part in parts for owner in self.classes_in(Type(part, kind.module))]
            case ast.Tuple(elts=parts):
                return [owner for part in parts for owner in self.classes_in(Type(part, kind.module))]
            case ast.Subscript(value=inner):
                return self.classes_in(Type(inner, kind.module))
            case ast.Name() | ast.Attribute():
                found = self.of_expression(node, kind.module)
                if isinstance(found, Class):
                    return [found]
                alias = self._alias(node, kind.module)
                return [] if alias is None else self.classes_in(alias)
            case _:
                return []

    def _alias(self, node: ast.expr, module: Module) -> Type | None:
        if isinstance(node, ast.Attribute):
            inside = self.of_expression(node.value, module)
            if not isinstance(inside, Module):
                return None
            node, module = ast.Name(node.attr), inside
        home = self.home(node.id, module) if isinstance(node, ast.Name) else None
        if home is None or not home[0].values.get(home[1]):
            return None
        if "TypeAlias" not in ast.unparse(home[0].annotations.get(home[1], ast.Name("TypeAlias"))):
            return None
        return Type(home[0].values[home[1]][-1], home[0])

    def holds_text(self, kind: Type) -> bool:
        """Whether a value of that type can be a text, or hold one that is no part of an object."""
        node = _parsed(kind.node)
        match node:
            case ast.Name(id="str" | "Any" | "object" | "StrEnum"):
                return True
            case ast.BinOp(left=left, right=right):
                return self.holds_text(Type(left, kind.module)) or self.holds_text(Type(right, kind.module))
            case ast.Subscript(value=value, slice=inner):
                name = ast.unparse(value).split(".")[-1]
                parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                if name in ("Literal", "Pattern", "type"):
                    return False
                if name in ("Callable", "dict", "Mapping", "defaultdict"):
                    parts = parts[-1:]
                return any(self.holds_text(Type(part, kind.module)) for part in parts)
            case ast.Name() | ast.Attribute():
                alias = self._alias(node, kind.module)
                return alias is not None and self.holds_text(alias)
            case _:
                return False

    def element(self, kind: Type, index: int | None = None) -> list[Type]:
        """What is in a container of that type."""
        node = _parsed(kind.node)
        match node:
            case ast.BinOp(left=left, right=right):
                return [*self.element(Type(left, kind.module), index), *self.element(Type(right, kind.module), index)]
            case ast.Subscript(value=value, slice=inner):
                name = ast.unparse(value).split(".")[-1]
                parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                if name == "tuple" and index is not None and index < len(parts) and not isinstance(parts[-1], ast.Constant):
                    return [Type(parts[index], kind.module)]
                at = _ELEMENT_AT.get(name)
                chosen = [parts[at]] if at is not None else parts if name == "tuple" else parts[:1]
                return [Type(part, kind.module) for part in chosen]
            case ast.Name() | ast.Attribute():
                alias = self._alias(node, kind.module)
                return [] if alias is None else self.element(alias, index)
            case _:
                return []

    def _types(self, node: ast.expr, function: Function) -> tuple[Type, ...]:
        key = (id(node), id(function))
        if key in self._busy:
            return ()
        self._busy.add(key)
        try:
            return tuple(self._find(node, function))
        finally:
            self._busy.discard(key)

    def _find(self, node: ast.expr, function: Function) -> list[Type]:
        if id(node) in self.code.narrowed:
            return [Type(self.code.narrowed[id(node)], function.module)]
        match node:
            case ast.Name(id=name):
                return self._of_name(name, function)
            case ast.Attribute():
                return self._of_attribute(node, function)
            case ast.Await(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value):
                return list(self.types(value, function))
            case ast.Call():
                return self._of_call(node, function)
            case ast.IfExp(body=body, orelse=orelse):
                return [*self.types(body, function), *self.types(orelse, function)]
            case ast.BoolOp(values=values):
                return [each for value in values for each in self.types(value, function)]
            case ast.BinOp(left=left, right=right):
                return [*self.types(left, function), *self.types(right, function)]
            case ast.Subscript(value=value, slice=at):
                if isinstance(at, ast.Slice):
                    return list(self.types(value, function))
                index = at.value if isinstance(at, ast.Constant) and isinstance(at.value, int) else None
                return [inner for each in self.types(value, function) for inner in self.element(each, index)]
            case ast.ListComp(elt=elt) | ast.SetComp(elt=elt) | ast.GeneratorExp(elt=elt):
                return [_listed(each) for each in self.types(elt, function)]
            case ast.DictComp(value=value):
                return [_listed(each) for each in self.types(value, function)]
            case ast.List(elts=elts) | ast.Set(elts=elts) | ast.Tuple(elts=elts):
                return [_listed(each) for elt in elts for each in self.types(elt, function)]
            case ast.Dict(values=values):
                return [_listed(each) for value in values for each in self.types(value, function)]
            case _:
                return []

    def _of_name(self, name: str, function: Function | None) -> list[Type]:
        while function is not None:
            if name in ("self", "cls") and function.owner is not None:
                return [Type(ast.Name(function.owner.name), function.module)]
            found = [each for binding in function.bound.get(name, ()) for each in self._of_binding(binding, function)]
            given = function.node.args
            named = (each for each in (*given.posonlyargs, *given.args, *given.kwonlyargs) if each.arg == name)
            found += [Type(each.annotation, function.module) for each in named if each.annotation is not None]
            if given.vararg is not None and given.vararg.arg == name and given.vararg.annotation is not None:
                found.append(_listed(Type(given.vararg.annotation, function.module)))
            if found:
                return found
            module, function = function.module, function.around
            if function is None:
                return self._of_value(name, module)
        return []

    def _of_value(self, name: str, module: Module) -> list[Type]:
        home = self.home(name, module)
        if home is None:
            return []
        there, own = home
        if own in there.annotations:
            return [Type(there.annotations[own], there)]
        top = Function(ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Constant(None)), there)
        return [each for value in there.values[own] for each in self.types(value, top)]

    def _of_binding(self, binding: Binding, function: Function) -> list[Type]:
        match binding.kind.split():
            case ["annotation"] | ["class"]:
                return [Type(binding.value, function.module)]
            case ["itself"]:
                return list(self.types(binding.value, function))
            case ["itself", index]:
                return [inner for each in self.types(binding.value, function) for inner in self.element(each, int(index))]
            case ["element", *index]:
                return self._of_elements(binding.value, function, int(index[0]) if index else None)
            case ["field"] if isinstance(binding.value, ast.Attribute):
                owners = self.classes_in(Type(binding.value.value, function.module))
                return [each for owner in owners for each in self.of_member(owner, binding.value.attr)]
            case _:
                return []

    def _of_elements(self, value: ast.expr, function: Function, index: int | None) -> list[Type]:
        match value:
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
                return self._of_elements(inner, function, None) if index == 1 else []
            case ast.Call(func=ast.Name(id="zip"), args=args):
                return self._of_elements(args[index], function, None) if index is not None and index < len(args) else []
            case ast.Call(func=ast.Attribute(value=inner, attr="items")):
                return self._of_elements(inner, function, None) if index == 1 else []
            case _:
                found = [inner for each in self.types(value, function) for inner in self.element(each)]
                return found if index is None else [inner for each in found for inner in self.element(each, index)] or found
        return []

    def _of_attribute(self, node: ast.Attribute, function: Function) -> list[Type]:
        whole = self.of_expression(node, function.module)
        if isinstance(whole, Class):
            return [Type(ast.Name(whole.name), whole.module)]
        inside = self.of_expression(node.value, function.module)
        if isinstance(inside, Module):
            return self._of_value(node.attr, inside)
        return [each for owner in self.classes(node.value, function) for each in self.of_member(owner, node.attr)]

    def of_member(self, owner: Class, name: str) -> list[Type]:
        """The type of a field or a property."""
        for each in self.parents(owner):
            if name in each.fields:
                return [Type(each.fields[name], each.module)]
            if name in each.methods:
                method = each.methods[name].node
                return [] if isinstance(method, ast.Lambda) or method.returns is None else [Type(method.returns, each.module)]
            if name in each.assigned:
                return [kind for value, method in each.assigned[name] for kind in self.types(value, method)]
        return []

    def _of_call(self, node: ast.Call, function: Function) -> list[Type]:
        match node.func:
            case ast.Name(id="next"):
                return [inner for each in self.types(node.args[0], function) for inner in self.element(each)] if node.args else []
            case ast.Name(id=name) if name in _TRANSPARENT and node.args:
                return [each for arg in node.args for each in self.types(arg, function)]
            case ast.Name(id="max" | "min") if node.args:
                return [inner for each in self.types(node.args[0], function) for inner in self.element(each)]
            case ast.Name(id="partial") if node.args:
                made = [each for target in self.called(node.args[0], function) for each in self._made(target)]
                made = made or self._given_by(node.args[0], function)
                return [Type(_callable_giving(each.node), each.module) for each in made]
            case ast.Attribute(attr="to_thread") if node.args:
                return [each for target in self.called(node.args[0], function) for each in self._made(target)]
            case ast.Name(id="map") if len(node.args) == 2:
                made = self.of_expression(node.args[0], function.module)
                return [_listed(each) for each in self._made(made)]
            case ast.Attribute(value=value, attr="get" | "pop" | "popleft" | "setdefault"):
                inner = [inner for each in self.types(value, function) for inner in self.element(each)]
                if inner:
                    return inner
            case ast.Attribute(value=value, attr="values" | "copy"):
                return list(self.types(value, function))
            case ast.Attribute(value=value, attr="items"):
                return [_listed(_listed(inner)) for each in self.types(value, function) for inner in self.element(each)]
            case _:
                pass
        found = [each for target in self.called(node.func, function) for each in self._made(target)]
        if not found:  # a field, a parameter or a variable that holds a function
            found = self._given_by(node.func, function)
        return found

    def _given_by(self, node: ast.expr, function: Function) -> list[Type]:
        """What a function gives that is held by a field, a parameter or a variable."""
        kinds = ((each, _given(each.node)) for each in self.types(node, function))
        return [Type(made, each.module) for each, made in kinds if made is not None]

    @staticmethod
    def _made(target: Function | Class | Module | None) -> list[Type]:
        if isinstance(target, Class):
            return [Type(ast.Name(target.name), target.module)]
        if isinstance(target, Function) and not isinstance(target.node, ast.Lambda) and target.node.returns is not None:
            returns = target.node.returns
            if isinstance(returns, ast.Name) and returns.id == "Self" and target.owner is not None:
                return [Type(ast.Name(target.owner.name), target.module)]
            return [Type(returns, target.module)]
        return []

    def _called(self, target: ast.expr, function: Function) -> list[Function | Class]:
        """What a call may run: a function, a class that is made, methods of the value's class and of those that may stand for it."""
        if isinstance(target, ast.Name):
            around: Function | None = function
            while around is not None:
                if target.id in around.inner:
                    return [around.inner[target.id]]
                around = around.around
        found = self.of_expression(target, function.module)
        if isinstance(found, Function | Class):
            return [found]
        if not isinstance(target, ast.Attribute):
            return []
        if isinstance(target.value, ast.Call) and isinstance(target.value.func, ast.Name) and target.value.func.id == "super":
            above = self.parents(function.owner)[1:] if function.owner is not None else []
            return [*[each.methods[target.attr] for each in above if target.attr in each.methods][:1]]
        owners = self.classes(target.value, function)
        found_methods: dict[int, Function | Class] = {}
        for owner in owners:
            everyone = self.code.methods.get(target.attr, ())
            own = self.method(owner, target.attr)
            if own is not None and (self.is_protocol(owner) or own.owner is None):
                found_methods |= {id(each): each for each in everyone}
            elif own is not None:
                found_methods[id(own)] = own
                found_methods |= {id(each): each for each in everyone if each.owner is not None and owner in self.parents(each.owner)}
        return list(found_methods.values())


def _given(node: ast.expr) -> ast.expr | None:
    """The result in `Callable[[…], result]`; None for any other type."""
    match node:
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[_, made])) if ast.unparse(value).endswith("Callable"):
            return made
        case _:
            return None


def _callable_giving(made: ast.expr) -> ast.expr:
    return ast.Subscript(ast.Name("Callable"), ast.Tuple([ast.Constant(...), made]))


def _listed(inner: Type) -> Type:
    return Type(ast.Subscript(ast.Name("list"), inner.node), inner.module)


@cache
def _unquoted(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _parsed(node: ast.expr) -> ast.expr:
    """A quoted annotation is read."""
    return _unquoted(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else node
