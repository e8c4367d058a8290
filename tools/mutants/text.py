"""The bytes of a source file and where the nodes of its tree are in them."""

import ast
from itertools import accumulate


class Text:
    """A source file; positions are offsets in bytes, as the parser counts columns."""

    def __init__(self, source: str) -> None:
        self.bytes = source.encode()
        lines = self.bytes.split(b"\n")
        self._lines = [0, *accumulate(len(line) + 1 for line in lines)]

    def start(self, node: ast.AST) -> int:
        """Offset of a node's first byte."""
        return self._lines[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined,no-any-return]

    def end(self, node: ast.AST) -> int:
        """Offset behind a node's last byte."""
        return self._lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined,no-any-return]

    def line(self, offset: int) -> int:
        """Number of the line of an offset, from 1."""
        return self.bytes.count(b"\n", 0, offset) + 1

    def between(self, start: int, end: int) -> str:
        """The text from `start` to `end`."""
        return self.bytes[start:end].decode()

    def find(self, token: str, start: int, end: int) -> int:
        """Offset of a token in a range; -1 where it is not there."""
        return self.bytes.find(token.encode(), start, end)

    def before(self, node: ast.AST, token: str) -> int:
        """Offset of the last such token before a node."""
        return self.bytes.rfind(token.encode(), 0, self.start(node))

    def replaced(self, start: int, end: int, new: str) -> str:
        """The source with other text from `start` to `end`."""
        return (self.bytes[:start] + new.encode() + self.bytes[end:]).decode()
