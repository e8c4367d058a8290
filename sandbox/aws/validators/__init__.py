"""What the AWS provider checks at plan and its documentation does not say, and what a service's API refuses: rows.

`FAMILY.yaml` has an entry for each type: `source`, and by path of an input what is required of it. The words are those
of `statements.Word`:

    metadataOptions.httpPutResponseHopLimit: {range: [1, 64]}
    instanceType: {conflicts: [instanceRequirements]}
    monitoringRoleArn: {needed: {monitoringInterval: [60, 30]}}

`when` beside a word is a condition: an input and its values. `needed`, `only`, `with` and `without` name another input
and its values; several words are given as a list. A name with a slash is an input of the type itself. `names.yaml` has
regular expressions of names instead of types and paths.

A row with `code` is the service's own: it refuses what the row says, with this code, whoever asks. Without one it is
the provider that refuses.

`source` is a file of hashicorp/terraform-provider-aws under internal/service, or an operation or page of AWS. Most
files were read on 2026-11-23 at commit d5102ec2e1 (2023-12-18, 5.32.0 in development), the newest whole tree at hand;
the heads of the YAML files name those read at another commit. pulumi-aws 7.51.1 has a newer provider: where its
documentation or the API models (botocore 1.44.5) allow more than an old file, the row does too, and a list of values
is kept only where the provider or the service refuses others. AWS's pages were not read again: these rows are from
the API models, and from knowledge of the pages where the model is silent.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.statements import Statement, Word, as_text
from spec import strict_yaml

_OF_NAMES: Final = frozenset(
    {Word.CONFLICTS, Word.ONE, Word.SOME, Word.NEEDS, Word.NEEDS_ONE, Word.AT_MOST, Word.AT_MOST_IF_ON}
)
_OF_A_NAME: Final = frozenset({Word.NEEDED, Word.ONLY, Word.WITH, Word.WITHOUT})
_NAMES: Final = "names.yaml"

Find = Callable[[str], tuple[Statement, ...]]
"""The statements about an input, by its path without indexes."""


def of(type_token: str) -> Find:
    """The statements about the inputs of a type."""
    by_path, by_name, _ = _all()
    rows = by_path.get(type_token)
    if type_token not in OPERATIONS:
        return lambda _: ()
    return lambda path: (*(rows or {}).get(path, ()), *_named(by_name, path.rpartition(".")[2]))


def paths(type_token: str) -> Mapping[str, tuple[Statement, ...]]:
    """The rows of a type."""
    return _all()[0].get(type_token, {})


def code(type_token: str) -> str:
    """The service's code for what the rows of a type refuse; empty if the provider refuses it."""
    return _all()[2].get(type_token, "")


def _named(by_name: Mapping[re.Pattern[str], tuple[Statement, ...]], name: str) -> Iterator[Statement]:
    return (one for pattern, found in by_name.items() if pattern.search(name) for one in found)


@functools.cache
def _all() -> tuple[
    Mapping[str, Mapping[str, tuple[Statement, ...]]],
    Mapping[re.Pattern[str], tuple[Statement, ...]],
    Mapping[str, str],
]:
    by_path, by_name, codes = {}, {}, {}
    for file in sorted(Path(__file__).parent.glob("*.yaml")):
        document = strict_yaml.read(file.read_text(encoding="utf-8"))
        if file.name == _NAMES:
            source = document.pop("source")
            by_name = {re.compile(pattern): tuple(_read(words, source)) for pattern, words in document.items()}
            continue
        for token, row in document.items():
            source = row["source"]
            codes[token] = row.get("code", "")
            by_path[token] = {
                path: tuple(_read(words, source)) for path, words in row.items() if path not in ("source", "code")
            }
    return by_path, by_name, codes


def _read(words: Any, source: str) -> Iterator[Statement]:
    for given in words if isinstance(words, list) else [words]:
        known = dict(given)
        when = known.pop("when", {})
        condition = tuple(as_text(item) for name, values in when.items() for item in (name, *values))
        for key, value in known.items():
            yield _statement(Word(key), value, source, condition)


def _statement(word: Word, value: Any, source: str, when: tuple[str, ...]) -> Statement:
    if word in _OF_A_NAME:
        ((name, values),) = value.items() if isinstance(value, Mapping) else ((value, ()),)
        return Statement(word, (name,), tuple(map(as_text, values)), source, when)
    listed = tuple(map(as_text, value if isinstance(value, list) else [value]))
    names, values = (listed, ()) if word in _OF_NAMES else ((), listed)
    return Statement(word, names, values, source, when)
