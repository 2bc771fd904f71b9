"""The server's code as the trace of texts reads it: modules, functions, classes, and what a name means in a place.

Read from the source alone, without importing it. Types are the annotations, which strict pyright keeps honest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.trees import FunctionNode, own_nodes, own_statements, parsed, statements


@dataclass(eq=False)
class Module:
    """One file. `names` are its imports: what a name stands for, as (module, name there or None for the module itself)."""

    name: str
    tree: ast.Module
    names: dict[str, tuple[str, str | None]] = field(default_factory=dict[str, tuple[str, str | None]])
    functions: dict[str, Function] = field(default_factory=dict[str, "Function"])
    classes: dict[str, Class] = field(default_factory=dict[str, "Class"])
    values: dict[str, list[ast.expr]] = field(default_factory=dict[str, list[ast.expr]])
    annotations: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])


@dataclass(eq=False)
class Class:
    """A class with its own fields, in their order, and its methods. `parents` are names of bases as written."""

    name: str
    module: Module
    parents: list[ast.expr]
    fields: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    defaults: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    methods: dict[str, Function] = field(default_factory=dict[str, "Function"])
    assigned: dict[str, list[tuple[ast.expr, Function]]] = field(default_factory=dict[str, list[tuple[ast.expr, "Function"]]])
    """What methods assign to `self.name`."""


@dataclass(eq=False)
class Function:
    """A function or a method, or one inside of another (`around`)."""

    node: FunctionNode | ast.Lambda
    module: Module
    owner: Class | None = None
    around: Function | None = None
    inner: dict[str, Function] = field(default_factory=dict[str, "Function"])
    bound: dict[str, list[Binding]] = field(default_factory=dict[str, "list[Binding]"])

    @property
    def name(self) -> str:
        """As it is written."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name

    @property
    def parameters(self) -> list[ast.arg]:
        """All of them, in the order in which positions count; without `self`."""
        given = self.node.args
        found = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        return found[1:] if self.owner is not None and found and found[0].arg in ("self", "cls") else found

    @property
    def defaults(self) -> dict[str, ast.expr]:
        """By the name of the parameter."""
        given = self.node.args
        by_position = [*given.posonlyargs, *given.args]
        last = by_position[len(by_position) - len(given.defaults) :]
        found = {each.arg: default for each, default in zip(last, given.defaults, strict=True)}
        found |= {each.arg: default for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is not None}
        return found

    @property
    def returns(self) -> list[ast.expr]:
        """What it returns, yields, or is, as a lambda."""
        if isinstance(self.node, ast.Lambda):
            return [self.node.body]
        found = (each.value for each in own_nodes(self.node) if isinstance(each, ast.Return | ast.Yield | ast.YieldFrom))
        return [each for each in found if each is not None]

    def is_a(self, decorator: str) -> bool:
        """Whether it is decorated so."""
        if isinstance(self.node, ast.Lambda):
            return False
        return any(isinstance(each, ast.Name) and each.id == decorator for each in self.node.decorator_list)


@dataclass(eq=False)
class Binding:
    """How a name got a value in a function: `value` itself, an element of it, or an instance of the class that it names."""

    value: ast.expr
    kind: str


@dataclass(eq=False)
class Call:
    """A call in the code, and in which function."""

    node: ast.Call
    function: Function


class Code:
    """The modules of a package."""

    def __init__(self, package: Path, left_out: frozenset[str]) -> None:
        self.modules: dict[str, Module] = {}
        self.calls: list[Call] = []
        self.narrowed: dict[int, ast.expr] = {}
        """Places where a name is known to be of a class, by the identity of the node: the branches of `match` and `isinstance`."""
        self.set_elsewhere: dict[str, list[tuple[ast.expr, ast.expr, Function]]] = {}
        """Attributes that are set on other objects than `self`, by their names: the object, the value, and where."""
        for path in sorted(package.rglob("*.py")):
            parts = path.relative_to(package.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if not any(name == each or name.startswith(f"{each}.") for each in left_out):
                self.modules[name] = Module(name, parsed(path))
        for module in self.modules.values():
            self._read(module)
        self.classes = [each for module in self.modules.values() for each in module.classes.values()]
        self.methods: dict[str, list[Function]] = {}
        for owner in self.classes:
            for name, method in owner.methods.items():
                self.methods.setdefault(name, []).append(method)

    def _read(self, module: Module) -> None:
        for node in statements(module.tree):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                for each in node.names:
                    module.names[each.asname or each.name] = (node.module, each.name)
            elif isinstance(node, ast.Import):
                for each in node.names:
                    module.names[each.asname or each.name.split(".")[0]] = (each.name, None)
        top = Function(ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Constant(None)), module)
        for statement in _statements(module.tree.body):
            if isinstance(statement, FunctionNode):
                module.functions[statement.name] = self._function(statement, module, None, None)
            elif isinstance(statement, ast.ClassDef):
                module.classes[statement.name] = self._class(statement, module)
            else:
                self._value_of(statement, module.values, module.annotations)
                self._collect(statement, top)

    @staticmethod
    def _value_of(statement: ast.stmt, values: dict[str, list[ast.expr]], annotations: dict[str, ast.expr]) -> None:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(statement.value)
                elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                    for each, value in zip(target.elts, statement.value.elts, strict=False):
                        if isinstance(each, ast.Name):
                            values.setdefault(each.id, []).append(value)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            annotations[statement.target.id] = statement.annotation
            if statement.value is not None:
                values.setdefault(statement.target.id, []).append(statement.value)

    def _class(self, node: ast.ClassDef, module: Module) -> Class:
        made = Class(node.name, module, node.bases)
        for statement in node.body:
            if isinstance(statement, FunctionNode):
                made.methods[statement.name] = self._function(statement, module, made, None)
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                made.fields[statement.target.id] = statement.annotation
                if statement.value is not None:
                    made.defaults[statement.target.id] = statement.value
            elif isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        made.defaults[target.id] = statement.value
        for method in made.methods.values():
            for each in own_statements(method.node):
                if not isinstance(each, ast.Assign | ast.AnnAssign):
                    continue
                for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
                    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                        if isinstance(each, ast.AnnAssign):
                            made.fields.setdefault(target.attr, each.annotation)
                        if each.value is not None:
                            made.assigned.setdefault(target.attr, []).append((each.value, method))
        return made

    def _function(self, node: FunctionNode, module: Module, owner: Class | None, around: Function | None) -> Function:
        made = Function(node, module, owner, around)
        for each in own_statements(node):
            if isinstance(each, FunctionNode):
                inner = self._function(each, module, None, made)
                made.inner[each.name] = inner
        for statement in node.body:
            self._collect(statement, made)
        return made

    def _collect(self, root: ast.AST, function: Function) -> None:
        for node in own_nodes(root, itself=True):
            for name, cls, where in _narrowing(node):
                for part in where:
                    for each in ast.walk(part):
                        if isinstance(each, ast.Name) and each.id == name:
                            self.narrowed[id(each)] = cls
            if isinstance(node, ast.Call):
                self.calls.append(Call(node, function))
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Attribute) and not (isinstance(target.value, ast.Name) and target.value.id == "self"):
                        self.set_elsewhere.setdefault(target.attr, []).append((target.value, node.value, function))
            for name, binding in _bindings(node):
                function.bound.setdefault(name, []).append(binding)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of a module, with the ones below a condition or a `try`."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try):
            yield from _statements([*statement.body, *statement.orelse])


def _bindings(node: ast.AST) -> Iterator[tuple[str, Binding]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _bound(target, value, "itself")
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
            yield name, Binding(annotation, "annotation")
            if value is not None:
                yield name, Binding(value, "itself")
        case ast.AugAssign(target=ast.Name(id=name), value=value) | ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield name, Binding(value, "itself")
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield from _bound(target, value, "element")
        case ast.withitem(context_expr=value, optional_vars=target) if target is not None:
            yield from _bound(target, value, "element")
        case ast.ExceptHandler(type=caught, name=name) if name is not None and caught is not None:
            yield name, Binding(caught, "class")
        case ast.MatchAs(pattern=ast.MatchClass(cls=cls), name=name) if name is not None:
            yield name, Binding(cls, "class")
        case ast.Match(subject=subject, cases=cases):
            for case in cases:
                yield from _matched(subject, case.pattern)
        case ast.If(test=ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), cls])):
            yield name, Binding(cls, "class")
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend" | "insert" | "add"), args=[*_, value])
        ):
            yield name, Binding(value, "itself")
        case _:
            pass


def _narrowing(node: ast.AST) -> Iterator[tuple[str, ast.expr, list[ast.AST]]]:
    """Names of which a class is known, and the branch in which it is."""
    if isinstance(node, ast.Match) and isinstance(node.subject, ast.Name):
        for case in node.cases:
            if isinstance(case.pattern, ast.MatchClass):
                yield node.subject.id, case.pattern.cls, [*case.body, *([case.guard] if case.guard else [])]
    elif isinstance(node, ast.If | ast.IfExp):
        tests = node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) else [node.test]
        for test in tests:
            match test:
                case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), cls]):
                    yield name, cls, [*node.body] if isinstance(node, ast.If) else [node.body]
                case _:
                    pass
    elif isinstance(node, ast.comprehension | ast.GeneratorExp | ast.ListComp | ast.DictComp):
        inside = [node] if isinstance(node, ast.comprehension) else [*node.generators]
        for test in (test for each in inside for test in each.ifs):
            match test:
                case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), cls]):
                    yield name, cls, [node]
                case _:
                    pass


def _bound(target: ast.expr, value: ast.expr, kind: str) -> Iterator[tuple[str, Binding]]:
    if isinstance(target, ast.Name):
        yield target.id, Binding(value, kind)
    elif isinstance(target, ast.Starred):
        yield from _bound(target.value, value, kind)
    elif isinstance(target, ast.Tuple | ast.List):
        if isinstance(value, ast.Tuple | ast.List) and kind == "itself" and len(value.elts) == len(target.elts):
            for each, own in zip(target.elts, value.elts, strict=True):
                yield from _bound(each, own, kind)
        else:
            for index, each in enumerate(target.elts):
                yield from _bound(each, value, f"{kind} {index}")


def _matched(subject: ast.expr, pattern: ast.pattern) -> Iterator[tuple[str, Binding]]:
    if isinstance(pattern, ast.MatchOr):
        for each in pattern.patterns:
            yield from _matched(subject, each)
    elif isinstance(pattern, ast.MatchClass):
        if isinstance(subject, ast.Name):
            yield subject.id, Binding(pattern.cls, "class")
        for name, each in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            inside = each.pattern if isinstance(each, ast.MatchAs) and each.pattern is not None else each
            if isinstance(each, ast.MatchAs) and each.name is not None:
                yield each.name, Binding(ast.Attribute(pattern.cls, name), "field")
            yield from _matched(ast.Constant(None), inside)
    elif isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is not None:
        yield pattern.name, Binding(subject, "itself")
