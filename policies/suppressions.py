"""Suppressions: accepted violations, with a reason, an owning team and an expiry date.

They are listed in `suppressions.yaml`; there is no other way to disable a rule for one resource.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from spec import strict_yaml

FILE: Final = Path(__file__).with_name("suppressions.yaml")
_FIELDS: Final = ("rule", "urn", "value", "reason", "owner", "until")
_UNRELATED: Final = {
    "aws:s3/bucket:Bucket": "x",
    "aws:iam/role:Role": "0",
    "kubernetes:core/v1:Pod": "qz",
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole": "7k",
}
"""Names by types, with nothing in common: a glob that matches two names neither a resource nor a type."""
_TEAM: Final = re.compile(r"[a-z][a-z0-9-]+")
SHORTEST_REASON: Final = 20  # characters. "Accepted" is not a reason
LONGEST: Final = timedelta(days=370)  # from today to `until`: a year, and days for its review
DUE: Final = timedelta(days=30)  # before `until`, a suppression is reported as due for review


class SuppressionError(ValueError):
    """The suppressions are invalid."""


@dataclass(frozen=True, kw_only=True)
class Suppression:
    """One suppression."""

    rule: str  # rule and check, `sg-least-open/egress`, or a rule with all its checks
    urn: str  # glob of the URNs that it covers
    reason: str  # why the violation is acceptable
    owner: str  # team that is responsible for it
    until: date  # last day on which it is valid
    value: tuple[str, ...] = ()
    """The values that it accepts, as findings name them; none accepts every value, which only suppressions from before
    the field do."""

    def covers(self, identity: str, urn: str, value: str | None = None) -> bool:
        """Whether it covers a check (`rule/check`) of a resource, with a value if one is given."""
        named = identity in {self.rule, f"{self.rule}/{identity.partition('/')[2]}"} and fnmatchcase(urn, self.urn)
        return named and (value is None or not self.value or value in self.value)

    def expired(self, today: date) -> bool:
        """Whether it is no longer valid."""
        return today > self.until

    def due(self, today: date) -> bool:
        """Whether it expires within `DUE`."""
        return self.until - DUE <= today <= self.until

    def valid(self, today: date) -> bool:
        """Whether it excuses anything: it has not expired, and was not made for too long."""
        return not self.expired(today) and not self.too_long(today)

    def too_long(self, today: date) -> bool:
        """Whether it is valid for longer than `LONGEST`."""
        return self.until > today + LONGEST


@dataclass(frozen=True)
class Suppressions:
    """All suppressions, in file order."""

    all: Sequence[Suppression] = ()

    def find(self, identity: str, urn: str, value: str | None = None) -> Suppression | None:
        """The suppression that covers a violation; of several, the one that expires last."""
        matching = [suppression for suppression in self.all if suppression.covers(identity, urn, value)]
        return max(matching, key=lambda suppression: suppression.until, default=None)


def parse(entries: Any, known: Iterable[str]) -> Suppressions:
    """Suppressions from the content of a YAML file.

    Args:
        entries: List of maps with `rule`, `urn`, `value`, `reason`, `owner`, `until`.
        known: Names of rules, and of checks as `rule/check`.

    Raises:
        SuppressionError: Entries are invalid; the message lists all of them.
    """
    names = frozenset(known)
    listed = entries or []
    if not isinstance(listed, list):
        msg = f"suppressions.yaml must contain a list of entries with {', '.join(_FIELDS)}"
        raise SuppressionError(msg)
    wrong = [f"[{index}] {text}" for index, entry in enumerate(listed) for text in _wrong(entry, names)]
    if wrong:
        raise SuppressionError("suppressions.yaml: " + "; ".join(wrong))
    return Suppressions(tuple(made(entry) for entry in listed))


def made(entry: Mapping[str, Any]) -> Suppression:
    """A suppression from an entry that is valid; one from before the field `value` has none."""
    value = entry.get("value", ())
    return Suppression(**{**entry, "value": (value,) if isinstance(value, str) else tuple(value)})


def load(known: Iterable[str], path: Path = FILE) -> Suppressions:
    """Suppressions of the pack."""
    return parse(strict_yaml.read(path.read_text(encoding="utf-8")), known)


def _wrong(entry: Any, known: frozenset[str]) -> list[str]:
    if not isinstance(entry, Mapping) or set(entry) != set(_FIELDS):
        return [f"must have exactly the keys {', '.join(_FIELDS)}; it is {entry!r}"]
    wrong = []
    if entry["rule"] not in known:
        wrong.append(f"rule: {entry['rule']!r} is neither a rule nor `rule/check`; docs/policies.md lists them")
    if not str(entry["urn"]).startswith("urn:pulumi:"):
        wrong.append(f"urn: {entry['urn']!r} must be a glob that begins with urn:pulumi:")
    elif _covers_all(str(entry["urn"])):
        wrong.append(
            f"urn: {entry['urn']!r} covers every resource; name a resource or a type, as in urn:pulumi:*::NAME"
        )
    values = entry["value"] if isinstance(entry["value"], list) else [entry["value"]]
    if not values or not all(isinstance(one, str) and one.strip("*? ") for one in values):
        wrong.append(
            f"value: {entry['value']!r} must be the accepted value, or a list of them, as the finding names it "
            "(`slipway policies STACK --suppressed --json`)"
        )
    if len(str(entry["reason"])) < SHORTEST_REASON:
        wrong.append(f"reason: {entry['reason']!r} must explain in a sentence why the violation is acceptable")
    if not _TEAM.fullmatch(str(entry["owner"])):
        wrong.append(f"owner: {entry['owner']!r} must name the responsible team")
    if type(entry["until"]) is not date:
        wrong.append(f"until: {entry['until']!r} must be a date, as in 2027-06-30")
    return wrong


def _covers_all(glob: str) -> bool:
    stack = glob.partition("::")[0]
    parents = ("", "slipway:a:B$")
    covered = {
        (kind, name)
        for kind, name in _UNRELATED.items()
        if any(fnmatchcase(f"{stack}::slipway::{parent}{kind}::{name}", glob) for parent in parents)
    }
    return len(covered) > 1
