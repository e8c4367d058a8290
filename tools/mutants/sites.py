"""Which places of a source file may be changed.

Left out is what no test can or should notice:

- docstrings, and strings with white space: text for people, which tests quote in part at most;
- f-strings: mostly messages; before Python 3.12 the parser does not say where their parts are;
- type annotations, `Literal[...]`, `cast(...)`, `TypeVar(...)`, and blocks under TYPE_CHECKING: mypy reads them; calls
  in annotations stay in, such as pydantic's `Field(ge=1)`, which run;
- decorators: `@dataclass(frozen=True)` guards against code that nobody writes;
- the arguments of an exception that is raised: a message; the `raise` itself stays in;
- `__all__`, and blocks under `if __name__ == "__main__"`;
- keywords whose values only people see, or that change nothing on a machine of UTF-8 (`IDLE_KEYWORDS`);
- calls that wait, log or flush (`IDLE_CALLS`): without them a program does the same at another time or in silence.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

IDLE_KEYWORDS: Final = frozenset({"description", "encoding", "help", "indent", "metavar", "stacklevel", "title"})
IDLE_CALLS: Final = frozenset({"debug", "exception", "flush", "info", "sleep", "warning"})
_TYPING_CALLS: Final = frozenset({"NewType", "ParamSpec", "TypeVar", "cast"})


class Places:
    """The places of a module that may be changed, each with what is around it."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
        self._nodes = dict.fromkeys(self._below(tree))

    def __iter__(self) -> Iterator[ast.AST]:
        """In the order of the source."""
        return iter(self._nodes)

    def __contains__(self, node: ast.AST) -> bool:
        """Whether a node may be changed."""
        return node in self._nodes

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node; None of the module."""
        return self._parents.get(node)

    def _below(self, node: ast.AST) -> Iterator[ast.AST]:
        for child in self._children(node):
            yield child
            yield from self._below(child)

    def _children(self, node: ast.AST) -> Iterator[ast.AST]:
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if not isinstance(child, ast.AST) or name == "decorator_list" or self._is_left_out(child, name):
                    continue
                if name in ("annotation", "returns") and not isinstance(child, ast.arg):
                    yield from _calls(child)
                else:
                    yield child

    def _is_left_out(self, node: ast.AST, field: str) -> bool:
        is_message = field == "exc" and isinstance(node, ast.Call)
        return is_message or _is_idle(node) or _is_for_types(node) or self._is_public_names(node)

    def _is_public_names(self, node: ast.AST) -> bool:
        return self._parents[node] is self._tree and _assigned(node) == "__all__"


def _is_idle(node: ast.AST) -> bool:
    """Whether a node is text for people, or has no effect but on time and logs."""
    match node:
        case ast.JoinedStr() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
            return name in IDLE_CALLS
        case ast.keyword(arg=str(name)):
            return name in IDLE_KEYWORDS
    return False


def _is_for_types(node: ast.AST) -> bool:
    """Whether a node is for mypy alone, or not for those who import the module."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _TYPING_CALLS
        case ast.Subscript(value=ast.Name(id=name)):
            return name == "Literal"
        case ast.If(test=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name == "TYPE_CHECKING"
        case ast.If(test=ast.Compare(left=ast.Name(id=name))):
            return name == "__name__"
    return False


def _calls(annotation: ast.AST) -> Iterator[ast.AST]:
    """The outermost calls in an annotation."""
    if isinstance(annotation, ast.Call):
        yield annotation
    else:
        for child in ast.iter_child_nodes(annotation):
            yield from _calls(child)


def _assigned(node: ast.AST) -> str:
    """The name that an assignment gives a value; empty for several or another target."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return ""
