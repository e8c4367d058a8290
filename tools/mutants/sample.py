"""Which mutants are tried: the same ones for the same seed.

Each operator has an equal share, as far as it has candidates. Drawn evenly from all 52,000 of them (2026-11), two
thirds of a sample would be emptied strings, missing elements and missing arguments. Within an operator the order is
that of a digest of seed and identity, so a change of one file leaves the sample of the others as it is.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from tools.mutants.source import Candidate, Mutant, candidates, made


def sources(root: Path, folders: Sequence[str], within: str = "") -> list[PurePosixPath]:
    """The source files below some folders, those that exist, whose path begins with `within`."""
    files = (file for folder in folders for file in (root / folder).rglob("*.py"))
    paths = (PurePosixPath(file.relative_to(root)) for file in files)
    return sorted(path for path in paths if str(path).startswith(within))


def sample(root: Path, paths: Iterable[PurePosixPath], seed: int, count: int) -> list[Mutant]:
    """`count` mutants of these files, in the order of the files; fewer where there are no more."""
    drawn: list[Mutant] = []
    for candidate in _ranked(root, paths, seed):
        if len(drawn) == count:
            break
        if mutant := made(candidate, (root / candidate.path).read_text(encoding="utf-8")):
            drawn.append(mutant)
    return sorted(drawn, key=lambda mutant: (mutant.path, mutant.line, mutant.operator))


def _ranked(root: Path, paths: Iterable[PurePosixPath], seed: int) -> list[Candidate]:
    """The first of each operator, then the second of each, and so on."""
    by_operator: defaultdict[str, list[tuple[str, Candidate]]] = defaultdict(list)
    for path in paths:
        for candidate in candidates(path, (root / path).read_text(encoding="utf-8")):
            digest = hashlib.sha256(f"{seed}\0{candidate.identity}".encode()).hexdigest()
            by_operator[candidate.change.operator].append((digest, candidate))
    ranks = []
    for found in by_operator.values():
        found.sort(key=lambda pair: pair[0])
        ranks += [(rank, digest, candidate) for rank, (digest, candidate) in enumerate(found)]
    return [candidate for _, _, candidate in sorted(ranks, key=lambda entry: entry[:2])]
