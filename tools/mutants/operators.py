"""What is changed: each operator gives the replacements of a piece of text that it makes of a place.

They are the mistakes that review overlooks: a bound off by one, a missing element, a lost dependency, `and` for `or`,
a condition that always holds, a call or an exception that is not made.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tools.mutants.sites import Places
from tools.mutants.text import Text

NOTHING: Final = "pass"
_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_ARITHMETIC: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
_FUNCTIONS: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Change:
    """A replacement of the bytes from `start` to `end`."""

    operator: str
    start: int
    end: int
    new: str


Operator = Callable[[ast.AST, Places, Text], Iterator[Change]]


def comparison(node: ast.AST, _: Places, text: Text) -> Iterator[Change]:
    """`<` becomes `<=`, `==` becomes `!=`, `is` becomes `is not`, and back."""
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for n, operator in enumerate(node.ops):
            yield from _between("comparison", text, operands[n], operands[n + 1], _COMPARISONS[type(operator)])


def boolean(node: ast.AST, _: Places, text: Text) -> Iterator[Change]:
    """`and` becomes `or`, and back; `not` goes."""
    if isinstance(node, ast.BoolOp):
        swap = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from _between("boolean", text, left, right, swap)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        start = text.start(node)
        operand = text.between(start + len("not"), text.end(node)).lstrip()
        yield Change("boolean", start, text.end(node), operand)


def arithmetic(node: ast.AST, _: Places, text: Text) -> Iterator[Change]:
    """`+` becomes `-`, `*` becomes `/`, `|` becomes `&`, and back; not where a text is joined or a path extended."""
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC and not _is_text(node.right):
        yield from _between("arithmetic", text, node.left, node.right, _ARITHMETIC[type(node.op)])


def number(node: ast.AST, _: Places, text: Text) -> Iterator[Change]:
    """A number becomes one more, and one less unless it is 0."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        for other in (value + 1, value - 1):
            if other >= 0:
                yield _replaced("number", text, node, repr(other))


def flag(node: ast.AST, _: Places, text: Text) -> Iterator[Change]:
    """True becomes False, and back."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield _replaced("flag", text, node, repr(not node.value))


def string(node: ast.AST, _: Places, text: Text) -> Iterator[Change]:
    """A string without white space becomes empty: a key, a name, a value of an API."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) == 1:
        yield _replaced("string", text, node, '""')


def function(node: ast.AST, _: Places, text: Text) -> Iterator[Change]:
    """`min` becomes `max`, `any` becomes `all`, and back."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        yield _replaced("function", text, node.func, _FUNCTIONS[node.func.id])


def condition(node: ast.AST, _: Places, text: Text) -> Iterator[Change]:
    """The test of an `if` always holds, or never; a filter lets everything through."""
    if isinstance(node, ast.If | ast.IfExp):
        yield _replaced("condition", text, node.test, "True")
        yield _replaced("condition", text, node.test, "False")
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield _replaced("condition", text, test, "True")


def element(node: ast.AST, places: Places, text: Text) -> Iterator[Change]:
    """An element of a list, set or dict goes; of a tuple where that is a collection and no pair of unlike things."""
    if isinstance(node, ast.List | ast.Set) or (isinstance(node, ast.Tuple) and _is_collection(node, places)):
        starts = [text.start(item) for item in node.elts]
        yield from _cuts("element", starts, text.end(node) - 1)
    elif isinstance(node, ast.Dict):
        starts = [text.start(key) if key else text.before(value, "**") for key, value in _entries(node)]
        yield from _cuts("element", starts, text.end(node) - 1)


def argument(node: ast.AST, places: Places, text: Text) -> Iterator[Change]:
    """A keyword argument is not given."""
    if isinstance(node, ast.Call):
        given = sorted(text.start(item) for item in (*node.args, *node.keywords))
        starts = {text.start(item) for item in node.keywords if item in places}
        cuts = _cuts("argument", given, text.end(node) - 1)
        yield from (cut for cut in cuts if cut.start in starts)


def statement(node: ast.AST, _: Places, text: Text) -> Iterator[Change]:
    """A call, a `yield`, a `raise`, an entry or a jump does not happen."""
    match node:
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom() | ast.Await()):
            yield _replaced("statement", text, node, NOTHING)
        case ast.Raise() | ast.AugAssign() | ast.Continue() | ast.Break() | ast.Delete() | ast.Return(value=None):
            yield _replaced("statement", text, node, NOTHING)
        case ast.Assign(targets=[ast.Subscript()]):
            yield _replaced("statement", text, node, NOTHING)


OPERATORS: Final[Sequence[Operator]] = (
    comparison,
    boolean,
    arithmetic,
    number,
    flag,
    string,
    function,
    condition,
    element,
    argument,
    statement,
)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _replaced(operator: str, text: Text, node: ast.AST, new: str) -> Change:
    return Change(operator, text.start(node), text.end(node), new)


def _between(operator: str, text: Text, left: ast.AST, right: ast.AST, swap: tuple[str, str]) -> Iterator[Change]:
    """The operator between two operands, whatever brackets and comments are around it."""
    old, new = swap
    at = text.find(old, text.end(left), text.start(right))
    if at >= 0:
        yield Change(operator, at, at + len(old), new)


def _cuts(operator: str, starts: Sequence[int], end: int) -> Iterator[Change]:
    """Each item cut out with the comma behind it."""
    for n, start in enumerate(starts):
        yield Change(operator, start, starts[n + 1] if n + 1 < len(starts) else end, "")


def _entries(node: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    return zip(node.keys, node.values, strict=True)


def _is_collection(node: ast.Tuple, places: Places) -> bool:
    """Whether a tuple is the value of a name or attribute, is searched by `in`, or is an argument."""
    match places.parent(node):
        case ast.Assign(targets=[ast.Name() | ast.Attribute()], value=value) | ast.AnnAssign(value=value):
            return value is node
        case ast.Compare() | ast.Call() | ast.keyword():
            return True
    return False
