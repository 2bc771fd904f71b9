"""Where the words of a text come from: from the place where it is used back to every literal that can end up in it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tests.user_texts.calls import Calls
from tests.user_texts.code import Call, Class, Code, Function, Module
from tests.user_texts.meanings import Meanings, Type

_SAME_TEXT = {
    *("strip", "rstrip", "lstrip", "removeprefix", "removesuffix", "lower", "upper", "capitalize", "title", "splitlines", "partition"),
    *("values", "items", "copy", "rpartition", "expandtabs"),
}
"""Methods of a text or a collection whose result has its words."""

_PASSED_ON = {
    "tuple",
    "list",
    "sorted",
    "set",
    "frozenset",
    "reversed",
    "dict",
    "next",
    "iter",
    "filter",
    "chain",
    "islice",
    "cast",
    "str",
    "repr",
    "max",
    "min",
    "zip",
    "enumerate",
}
"""Functions whose result has the words of what they are given."""


@dataclass(frozen=True)
class Words:
    """A literal that can be part of a text for users: its form (`{}` for what is put in), and where it stands."""

    form: str
    module: str
    line: int


@dataclass(frozen=True)
class Place:
    """A piece of code through which a text goes."""

    node: ast.expr
    module: str

    def __str__(self) -> str:
        return f"{self.module}:{getattr(self.node, 'lineno', 0)} {ast.unparse(self.node)[:80]}"


def form_of(node: ast.AST) -> str | None:
    """A literal, with `{}` for each value in it; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


class Trace:
    """Collects the words of what it is shown."""

    def __init__(self, code: Code, own: frozenset[tuple[str, str]] = frozenset(), never: frozenset[str] = frozenset()) -> None:
        self._code = code
        self._own = own
        self._never = never
        self._meanings = Meanings(code)
        self._seen: set[object] = set()
        self.words: dict[Words, tuple[Place, ...]] = {}
        """With the way to each, from where it is used."""
        self.path: list[Place] = []
        self._made: dict[int, list[Call]] = {}
        self._calls = Calls(code, self._meanings)

    def field(self, owner: Class, name: str) -> None:
        """Everything that a field of a class can hold."""
        if not self._is_new(("field", id(owner), name)):
            return
        if (owner.name, name) in self._own or name in self._never:
            return
        kinds = self._meanings.of_member(owner, name)
        if kinds and not any(map(self._meanings.holds_text, kinds)):
            return
        for each in self._meanings.parents(owner):
            for value, method in each.assigned.get(name, ()):
                self._expression(value, method)
            if name in each.defaults:
                self._expression(each.defaults[name], _top(each.module))
        for target, value, function in self._code.set_elsewhere.get(name, ()):
            if any(owner in self._meanings.parents(each) for each in self._meanings.classes(target, function)):
                self._expression(value, function)
        initial = self._meanings.method(owner, "__init__")
        if initial is None:
            position = self._meanings.fields(owner).index(name) if name in self._meanings.fields(owner) else None
            for call in self._calls.makers(owner):
                self._argument(call, position, name)
        for call in self._calls.named("replace"):
            if any(each.arg == name for each in call.node.keywords):
                kinds = self._meanings.classes(call.node.args[0], call.function) if call.node.args else []
                if not kinds or any(owner in self._meanings.parents(kind) for kind in kinds):
                    self._argument(call, None, name)

    def argument(self, function: str, position: int, name: str, modules: frozenset[str]) -> None:
        """What is given to a function or a class that is called by that name in those modules."""
        for call in self._calls.named(function):
            if call.function.module.name in modules:
                self._argument(call, position, name)

    def message(self, owner: Class) -> None:
        """What an exception of that class, or of one below it, says."""
        for each in self._code.classes:
            if owner in self._meanings.parents(each) and self._is_new(("message", id(each))):
                self._own_message(each)

    def _own_message(self, owner: Class) -> None:
        said = self._meanings.method(owner, "__str__")
        if said is not None:
            self._returns(said)
            return
        initial = self._meanings.method(owner, "__init__")
        if initial is None:
            for call in self._calls.makers(owner):
                self._argument(call, 0, None)
            return
        for call in self._calls.named("__init__"):
            if call.function is initial and isinstance(call.node.func, ast.Attribute) and call.node.args:
                self._expression(call.node.args[0], initial)

    def _is_new(self, key: object) -> bool:
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _argument(self, call: Call, position: int | None, name: str | None) -> None:
        for each in call.node.keywords:
            if each.arg == name and name is not None:
                self._expression(each.value, call.function)
        if position is None:
            return
        for index, each in enumerate(call.node.args):
            if isinstance(each, ast.Starred) and index <= position:
                inside = each.value
                if isinstance(inside, ast.Tuple | ast.List) and position - index < len(inside.elts):
                    self._expression(inside.elts[position - index], call.function)
                    return
                if isinstance(inside, ast.Tuple | ast.List):
                    position -= len(inside.elts) - 1
                    continue
                self._expression(inside, call.function)
                return
            if index == position:
                self._expression(each, call.function)
                return

    def _returns(self, function: Function) -> None:
        kind = None if isinstance(function.node, ast.Lambda) else function.node.returns
        if (kind is None or self._meanings.holds_text(Type(kind, function.module))) and self._is_new(("returns", id(function))):
            for value in function.returns:
                self._expression(value, function)

    def _parameter(self, function: Function, name: str) -> None:
        if name in self._never or not self._is_new(("parameter", id(function), name)):
            return
        kind = next((each.annotation for each in function.parameters if each.arg == name), None)
        if kind is not None and not self._meanings.holds_text(Type(kind, function.module)):
            return
        if name in function.defaults:
            self._expression(function.defaults[name], function)
        names = [each.arg for each in function.parameters]
        position = names.index(name) if name in names else len(names)
        keyword_only = name in {each.arg for each in function.node.args.kwonlyargs}
        makes = function.owner if function.name == "__init__" else None
        for call in self._calls.makers(makes) if makes is not None else self._calls.callers(function):
            if function.node.args.vararg is not None and function.node.args.vararg.arg == name:
                for each in call.node.args[len(function.node.args.args) - (function.owner is not None) :]:
                    self._expression(each, call.function)
            else:
                self._argument(call, None if keyword_only else position, name)
        if makes is not None:
            for call in self._calls.named("__init__"):
                if function in self._meanings.called(call.node.func, call.function):
                    self._argument(call, None if keyword_only else position, name)
        for call, before in self._calls.elsewhere(function):
            self._argument(call, position + before, None)

    # Expressions

    def _expression(self, node: ast.expr, function: Function) -> None:
        if not self._is_new((id(node), id(function))):
            return
        self.path.append(Place(node, function.module.name))
        try:
            self._inside(node, function)
        finally:
            self.path.pop()

    def _inside(self, node: ast.expr, function: Function) -> None:
        form = form_of(node)
        if form is not None:
            self.words[Words(form, function.module.name, node.lineno)] = tuple(self.path)
        match node:
            case ast.JoinedStr(values=values):
                for each in values:
                    if isinstance(each, ast.FormattedValue):
                        self._expression(each.value, function)
            case ast.Name(id=name):
                self._name(name, function)
            case ast.Attribute():
                self._attribute(node, function)
            case ast.Call():
                self._call(node, function)
            case ast.Await(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value) | ast.Subscript(value=value):
                self._expression(value, function)
            case ast.IfExp(body=body, orelse=orelse):
                self._expression(body, function)
                self._expression(orelse, function)
            case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values):
                for each in values:
                    self._expression(each, function)
            case ast.Dict(keys=keys, values=values):  # a table of reasons may have them on either side
                for each in (*keys, *values):
                    if each is not None:
                        self._expression(each, function)
            case ast.BinOp(left=left, op=ast.Add() | ast.BitOr(), right=right):
                self._expression(left, function)
                self._expression(right, function)
            case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt) | ast.SetComp(elt=elt) | ast.DictComp(value=elt):
                self._expression(elt, function)
            case ast.Lambda(body=body):
                self._expression(body, function)
            case _:
                pass

    def _name(self, name: str, function: Function) -> None:
        around = function
        while True:
            if name in around.inner:
                self._returns(around.inner[name])
                return
            is_parameter = name in {each.arg for each in around.parameters} or (
                around.node.args.vararg is not None and around.node.args.vararg.arg == name
            )
            bindings = around.bound.get(name, ())
            for binding in bindings:
                self._binding(binding.kind, binding.value, around)
            if is_parameter:
                self._parameter(around, name)
            if bindings or is_parameter:
                return
            if around.around is None:
                self._value(name, function.module)
                return
            around = around.around

    def _binding(self, kind: str, value: ast.expr, function: Function) -> None:
        if kind.startswith(("itself", "element")):
            self._expression(value, function)
        elif kind == "class":
            found = self._meanings.of_expression(value, function.module)
            if isinstance(found, Class):
                self._said_by(found)
        elif kind == "field" and isinstance(value, ast.Attribute):
            found = self._meanings.of_expression(value.value, function.module)
            if isinstance(found, Class):
                self.field(found, value.attr)

    def _said_by(self, owner: Class) -> None:
        if any(ast.unparse(base).endswith(("Exception", "Error")) for each in self._meanings.parents(owner) for base in each.parents):
            self.message(owner)

    def _value(self, name: str, module: Module) -> None:
        found = self._meanings.function(name, module)
        if found is not None:
            self._returns(found)
            return
        home = self._meanings.home(name, module)
        if home is not None:
            for value in home[0].values.get(home[1], ()):
                self._expression(value, _top(home[0]))

    def _attribute(self, node: ast.Attribute, function: Function) -> None:
        inside = self._meanings.of_expression(node.value, function.module)
        if isinstance(inside, Module):
            self._value(node.attr, inside)
            return
        owners = self._meanings.classes(node.value, function)
        for owner in owners:
            self._member(owner, node.attr)

    def _member(self, owner: Class, name: str) -> None:
        everyone = self._code.methods.get(name, ()) if self._meanings.is_protocol(owner) else ()
        found = [each for each in (self._meanings.method(owner, name), *everyone) if each is not None]
        for each in found:
            self._returns(each)
        if not found:
            self.field(owner, name)
        for each in self._code.classes:  # what a class below it says instead
            if owner is not each and owner in self._meanings.parents(each):
                if name in each.methods:
                    self._returns(each.methods[name])
                else:
                    self.field(each, name)

    def _call(self, node: ast.Call, function: Function) -> None:
        match node.func:
            case ast.Attribute(value=value, attr="join") if form_of(value) is not None or isinstance(value, ast.Name):
                self._expression(value, function)
                for each in node.args:
                    self._expression(each, function)
                return
            case ast.Attribute(value=value, attr="get") if node.args:
                self._expression(value, function)
                for each in node.args[1:]:
                    self._expression(each, function)
            case ast.Attribute(value=value, attr="replace" | "format") if not isinstance(value, ast.Name) or value.id not in (
                "dataclasses",
                "attrs",
            ):
                self._expression(value, function)
                for each in [*node.args[1:], *(keyword.value for keyword in node.keywords)]:
                    self._expression(each, function)
            case ast.Attribute(value=value, attr=attr) if attr in _SAME_TEXT:
                self._expression(value, function)
            case ast.Attribute(attr="sub" | "subn") if len(node.args) > 1:
                self._expression(node.args[0], function)
                self._expression(node.args[1], function)
            case ast.Attribute(attr="to_thread"):
                for target in self._meanings.called(node.args[0], function):
                    if isinstance(target, Function):
                        self._returns(target)
            case ast.Name(id="map"):
                for target in self._meanings.called(node.args[0], function):
                    if isinstance(target, Function):
                        self._returns(target)
                for each in node.args[1:]:
                    self._expression(each, function)
            case ast.Name(id="str") if node.args:
                for owner in self._meanings.classes(node.args[0], function):
                    self._said_by(owner)
                    said = self._meanings.method(owner, "__str__")
                    if said is not None:
                        self._returns(said)
            case _:
                pass
        if isinstance(node.func, ast.Name) and node.func.id in _PASSED_ON:
            for each in node.args[1:] if node.func.id == "cast" else node.args:
                self._expression(each, function)
        for target in self._meanings.called(node.func, function):
            if isinstance(target, Function):
                self._returns(target)
        if isinstance(node.func, ast.Name | ast.Attribute) and not self._meanings.called(node.func, function):
            self._expression(node.func, function)  # a field or a parameter that holds a function


def _top(module: Module) -> Function:
    found = _TOPS.get(id(module))
    if found is None:
        found = Function(ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Constant(None)), module)
        _TOPS[id(module)] = found
    return found


_TOPS: dict[int, Function] = {}
