"""Expressions in CEL, as the API server evaluates them in admission policies: what `components.admission` uses of the
language, and of Kubernetes' functions.

Objects are plain values, as they come from YAML. An expression is compiled to a function of its variables once. What is
not here is an error when it is compiled: a test compiles every rule.

Sources: cel-spec, doc/langdef.md (errors, and how `&&`, `||`, `all` and `exists` absorb them); k8s.io/apiserver 1.36.3,
pkg/cel/library (lists, quantity); cel-go, ext/strings.go.
"""

import ast
import json
import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache, partial
from typing import Any, Final, NoReturn

from spec.quantities import is_amount, parse

Env = Mapping[str, Any]
Evaluate = Callable[[Env], Any]


class CelError(Exception):
    """An expression has no value: a missing key, or a function of another type."""


def _fail(text: str) -> NoReturn:
    raise CelError(text)


_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<number>\d+)|(?P<text>r?"(?:\\.|[^"\\])*"|r?'(?:\\.|[^'\\])*')|(?P<name>[A-Za-z_]\w*)|"""
    r"""(?P<sign>&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()\[\]{}]))"""
)


@cache
def compiled(text: str) -> Evaluate:
    """The function of an expression.

    Raises:
        CelError: It uses what is not here.
    """
    reader = _Reader(text)
    found = reader.ternary()
    if reader.tokens[reader.at] != "":
        _fail(f"unexpected {reader.tokens[reader.at]} in {text}")
    return found


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    while rest := text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            _fail(f"can't read {rest[:20]} in {text}")
        found.append(match.group().strip())
        at = match.end()
    return [*found, ""]


class _Reader:
    """A recursive descent over the grammar of the language definition."""

    def __init__(self, text: str) -> None:
        self.tokens, self.at = _tokens(text), 0

    def next(self) -> str:
        if not self.tokens[self.at]:
            _fail("unexpected end")
        self.at += 1
        return self.tokens[self.at - 1]

    def took(self, sign: str) -> bool:
        if self.tokens[self.at] != sign:
            return False
        self.at += 1
        return True

    def expect(self, sign: str) -> None:
        if not self.took(sign):
            _fail(f"{self.tokens[self.at] or 'the end'} instead of {sign}")

    def ternary(self) -> Evaluate:
        condition = self.binary(0)
        if not self.took("?"):
            return condition
        yes = self.ternary()
        self.expect(":")
        no = self.ternary()
        return lambda env: yes(env) if _bool(condition(env)) else no(env)

    def binary(self, level: int) -> Evaluate:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.tokens[self.at] in _LEVELS[level]:
            make = _LEVELS[level][self.next()]
            left = make(left, self.binary(level + 1))
        return left

    def unary(self) -> Evaluate:
        if self.took("!"):
            inner = self.unary()
            return lambda env: not _bool(inner(env))
        if self.took("-"):
            inner = self.unary()
            return lambda env: -_number(inner(env))
        return self.postfix(self.primary())

    def postfix(self, value: Evaluate) -> Evaluate:
        while True:
            if self.took("."):
                name = self.next()
                value = self.call(name, value) if self.took("(") else _selected(value, name)
            elif self.took("["):
                value = _indexed(value, self.ternary())
                self.expect("]")
            else:
                return value

    def primary(self) -> Evaluate:
        if self.took("("):
            inner = self.ternary()
            self.expect(")")
            return inner
        if self.took("["):
            items = self.items("]")
            return lambda env: [each(env) for each in items]
        if self.took("{"):
            return self.mapping()
        word = self.next()
        if self.took("("):
            return self.has() if word == "has" else _function(word, self.items(")"))
        if word[:1].isdigit() or word[-1:] in ("'", '"') or word in _CONSTANTS:
            constant = _CONSTANTS[word] if word in _CONSTANTS else ast.literal_eval(word)
            return lambda _: constant
        return lambda env: _key(env, word)

    def items(self, end: str) -> list[Evaluate]:
        found: list[Evaluate] = []
        while not self.took(end):
            found.append(self.ternary())
            if not self.took(","):
                self.expect(end)
                break
        return found

    def mapping(self) -> Evaluate:
        pairs = []
        while not self.took("}"):
            key = self.ternary()
            self.expect(":")
            pairs.append((key, self.ternary()))
            if not self.took(","):
                self.expect("}")
                break
        return lambda env: {key(env): value(env) for key, value in pairs}

    def has(self) -> Evaluate:
        """`has(a.b)`: the last selection says whether its key is there."""
        inner = self.ternary()
        self.expect(")")
        holder, name = inner.holder, inner.name  # type: ignore[attr-defined]
        return lambda env: name in _map(holder(env))

    def call(self, name: str, value: Evaluate) -> Evaluate:
        if name not in _MACROS:
            return _function(name, [value, *self.items(")")])
        variable = self.next()
        self.expect(",")
        steps = [self.ternary()]
        while self.took(","):
            steps.append(self.ternary())
        self.expect(")")
        macro = _MACROS[name]
        return lambda env: macro(_items(value(env)), [partial(_within, step, env, variable) for step in steps])


def _selected(value: Evaluate, name: str) -> Evaluate:
    def select(env: Env) -> Any:
        return _key(value(env), name)

    select.holder, select.name = value, name  # type: ignore[attr-defined]
    return select


def _indexed(value: Evaluate, index: Evaluate) -> Evaluate:
    def get(env: Env) -> Any:
        holder, at = value(env), index(env)
        if isinstance(holder, list):
            if not isinstance(at, int) or not 0 <= at < len(holder):
                _fail(f"no such index: {at}")
            return holder[at]
        return _key(holder, at)

    return get


def _key(holder: Any, name: Any) -> Any:
    found = _map(holder)
    if name not in found:
        _fail(f"no such key: {name}")
    return found[name]


def _typed(value: Any, *types: type) -> Any:
    if type(value) not in types and not (Mapping in types and isinstance(value, Mapping)):
        _fail(f"no such overload for {type(value).__name__}")
    return value


def _map(value: Any) -> Mapping[Any, Any]:
    found: Mapping[Any, Any] = _typed(value, Mapping)
    return found


def _bool(value: Any) -> bool:
    return bool(_typed(value, bool))


def _number(value: Any) -> Any:
    return _typed(value, int, float, Decimal)


def _items(value: Any) -> list[Any]:
    return list(_typed(value, list, Mapping))


def _equal(left: Any, right: Any) -> bool:
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)


def _absorbing(decisive: bool) -> Callable[[Evaluate, Evaluate], Evaluate]:
    """`||` is true and `&&` is false if one side is, whatever the other is."""

    def make(left: Evaluate, right: Evaluate) -> Evaluate:
        def of(env: Env) -> bool:
            return _any([lambda: left(env), lambda: right(env)], decisive)

        return of

    return make


def _any(parts: list[Callable[[], Any]], decisive: bool) -> bool:
    failed: CelError | None = None
    for part in parts:
        try:
            if _bool(part()) is decisive:
                return decisive
        except CelError as error:
            failed = failed or error
    if failed:
        raise failed
    return not decisive


def _operator(apply: Callable[[Any, Any], Any]) -> Callable[[Evaluate, Evaluate], Evaluate]:
    return lambda left, right: lambda env: apply(left(env), right(env))


def _same(apply: Callable[[Any, Any], Any], *types: type) -> Callable[[Evaluate, Evaluate], Evaluate]:
    """An operator of two numbers, or of two values of one of these types."""

    def checked(left: Any, right: Any) -> Any:
        numbers = {type(left), type(right)} <= {int, float, Decimal}
        if not numbers and (type(left) is not type(right) or type(left) not in types):
            _fail(f"no such overload for {type(left).__name__} and {type(right).__name__}")
        return apply(left, right)

    return _operator(checked)


_LEVELS: Final[tuple[Mapping[str, Callable[[Evaluate, Evaluate], Evaluate]], ...]] = (
    {"||": _absorbing(True)},
    {"&&": _absorbing(False)},
    {
        "==": _operator(_equal),
        "!=": _operator(lambda left, right: not _equal(left, right)),
        "<": _same(operator.lt, str),
        "<=": _same(operator.le, str),
        ">": _same(operator.gt, str),
        ">=": _same(operator.ge, str),
        "in": _operator(lambda left, right: any(_equal(left, each) for each in _items(right))),
    },
    {"+": _same(operator.add, str, list), "-": _same(operator.sub)},
    # Rules divide whole numbers above zero by constants: CEL truncates (cel-spec, "Arithmetic").
    {"*": _same(operator.mul), "/": _same(operator.floordiv)},
)


def _within(step: Evaluate, env: Env, variable: str, value: Any) -> Any:
    return step({**env, variable: value})


_Step = Callable[[Any], Any]


def _quantified(decisive: bool) -> Callable[[list[Any], list[_Step]], bool]:
    return lambda values, steps: _any([partial(steps[0], each) for each in values], decisive)


def _filtered(values: list[Any], steps: list[_Step]) -> list[Any]:
    return [each for each in values if _bool(steps[0](each))]


def _mapped(values: list[Any], steps: list[_Step]) -> list[Any]:
    *condition, result = steps
    return [result(each) for each in values if all(_bool(one(each)) for one in condition)]


_MACROS: Final[Mapping[str, Callable[[list[Any], list[_Step]], Any]]] = {
    "all": _quantified(False), "exists": _quantified(True), "filter": _filtered, "map": _mapped,
}  # fmt: skip


def _size(value: Any) -> int:
    return len(_typed(value, str, list, Mapping))


def _int(value: Any) -> int:
    try:
        return int(_typed(value, int, float, str))
    except ValueError as error:
        raise CelError(str(error)) from error


def _string(value: Any) -> str:
    _typed(value, str, int, float, bool)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quantity(value: Any) -> Decimal:
    if not is_amount(_typed(value, str)):
        _fail(f"{value} is no quantity")
    return parse(value)


def _as_integer(value: Any) -> int:
    if _typed(value, Decimal) % 1:
        _fail(f"{value} is no integer")
    return int(value)


def _text(apply: Callable[..., Any]) -> Callable[..., Any]:
    """A method of strings, whose numbers are positions."""
    return lambda *given: apply(*(_typed(each, str, int) for each in given))


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "dyn": lambda value: value,
    "int": _int,
    "string": _string,
    "size": _size,
    "type": type,
    "quantity": _quantity,
    "asInteger": _as_integer,
    "sum": lambda values: sum(map(_number, _items(values))),
    "min": lambda values: min(map(_number, _items(values))),
    "max": lambda values: max(map(_number, _items(values))),
    "join": lambda values, by="": by.join(_typed(each, str) for each in _items(values)),
    "contains": _text(lambda text, part: part in text),
    "startsWith": _text(str.startswith),
    "endsWith": _text(str.endswith),
    "matches": _text(lambda text, pattern: re.search(pattern, text) is not None),
    "lowerAscii": _text(str.lower),
    "replace": _text(str.replace),
    "split": _text(str.split),
    # cel-go writes maps and lists much as JSON: rules only ask how long the text is.
    "format": lambda text, values: (
        _typed(text, str) % tuple(each if isinstance(each, str) else json.dumps(each) for each in _items(values))
    ),
    "substring": _text(lambda text, start, end=None: text[start:end]),
}
_CONSTANTS: Final[Mapping[str, Any]] = {"true": True, "false": False, "null": None, "int": int, "string": str}


def _function(name: str, arguments: list[Evaluate]) -> Evaluate:
    if name not in _FUNCTIONS:
        _fail(f"function {name} is not known")
    found = _FUNCTIONS[name]

    def of(env: Env) -> Any:
        try:
            return found(*(each(env) for each in arguments))
        except TypeError as error:
            raise CelError(str(error)) from error

    return of
