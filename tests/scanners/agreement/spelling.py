"""One row of the comparison: a way to write what identifiers of Checkov ask for, once right and once wrong for each."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

from tests.policies.build import Fixture, FixtureResource
from tests.policies.fixtures import load


@dataclass(frozen=True)
class Alone:
    """A difference that stays."""

    who: str  # who reports, while the other is silent: `checkov` or `pack`
    why: str  # the reason, as a sentence


def by_pack(why: str) -> Alone:
    return Alone("pack", why)


UNREVIEWED: Final = by_pack("nobody has reviewed the type: the pack reports it whatever it says")


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """One way to write it."""

    name: str  # unique in the table: the resource, and which of its properties
    good: Fixture  # a program in which neither reports one of the identifiers
    bad: Mapping[str, Fixture | Sequence[Fixture]]  # by identifier: programs in which both report it
    good_differs: Mapping[str, Alone] = field(default_factory=dict)  # by identifier: who alone reports the good program
    bad_differs: Mapping[str, Alone] = field(default_factory=dict)
    """By identifier: who alone reports the bad programs, all of them."""

    def bads(self, external_id: str) -> Sequence[Fixture]:
        """Bad programs of an identifier."""
        programs = self.bad[external_id]
        return [programs] if isinstance(programs, Mapping) else programs


def read(path: Path) -> Iterator[Spelling]:
    """The rows of a YAML file, with programs in the form of tests/policies/fixtures.

    A row has `good`, `bad` by identifier, and in `good alone` and `bad alone` what differs: `who` reports it, `why`,
    and `ids` if they are not all.
    """
    content, builder = load(path)
    for name, row in content.items():
        try:
            yield Spelling(
                name=name,
                good=builder.fixture(row["good"]),
                bad={one: tuple(chain.from_iterable(map(builder.fixtures, rows))) for one, rows in row["bad"].items()},
                good_differs=_alone(row, "good alone"),
                bad_differs=_alone(row, "bad alone"),
            )
        except (LookupError, TypeError, ValueError) as error:
            msg = f"{path.name}: {name}: {error}"
            raise ValueError(msg) from error
    builder.finish(path)


def _alone(row: Mapping[str, Any], key: str) -> dict[str, Alone]:
    entries = row.get(key, ())
    return {one: Alone(entry["who"], entry["why"]) for entry in entries for one in entry.get("ids", row["bad"])}


def of(kind: str, props: Mapping[str, Any] | None = None, /, **takes: str) -> FixtureResource:
    """A resource, and for properties the name of the resource whose output they use."""
    return FixtureResource(type=kind, props=props or {}, takes={key: (name,) for key, name in takes.items()})


def document(*statements: Mapping[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def allow(actions: Any, resources: Any = "*", **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": resources, **more}
