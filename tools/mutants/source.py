"""The mutants of a source file: candidates first, of which only those that are drawn are made."""

import ast
import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from tools.mutants.operators import OPERATORS, Change
from tools.mutants.sites import Places
from tools.mutants.text import Text


@dataclass(frozen=True)
class Candidate:
    """A change of a file that may turn out to be none."""

    path: PurePosixPath  # the file, from the top of the tree
    change: Change  # what is replaced
    identity: str
    """The file, what is replaced by what, and how often the same is found above: without the line, so that a change
    elsewhere in the file leaves it as it is."""


@dataclass(frozen=True)
class Mutant:
    """One changed source file."""

    path: PurePosixPath  # the file, from the top of the tree
    line: int  # number of the changed line
    operator: str  # name of what was changed
    before: str  # the file as it is
    after: str  # the file with the change

    @property
    def place(self) -> str:
        """`folder/file.py:12`."""
        return f"{self.path}:{self.line}"

    @property
    def diff(self) -> str:
        """The change as a unified diff with one line of context."""
        before, after = (text.splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(before, after, str(self.path), "mutant", n=1)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def candidates(path: PurePosixPath, source: str) -> Iterator[Candidate]:
    """Every change that an operator proposes for a file, in no order that counts."""
    tree, text = ast.parse(source), Text(source)
    places, seen = Places(tree), Counter[str]()
    for node in places:
        for operator in OPERATORS:
            for change in operator(node, places, text):
                what = f"{change.operator}\0{text.between(change.start, change.end)}\0{change.new}"
                seen[what] += 1
                yield Candidate(path, change, f"{path}\0{what}\0{seen[what]}")


def made(candidate: Candidate, source: str) -> Mutant | None:
    """The mutant of a candidate; None where the result is no Python (a cut through brackets) or the same program."""
    change, text = candidate.change, Text(source)
    after = text.replaced(change.start, change.end, change.new)
    try:
        changed = ast.dump(ast.parse(after)) != ast.dump(ast.parse(source))
    except SyntaxError:
        return None
    return Mutant(candidate.path, text.line(change.start), change.operator, source, after) if changed else None
