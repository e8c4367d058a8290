"""Bad inputs that must be refused: the files beside this one, each a list of mistakes of one family.

A row has these keys; `set`, `at`, `rule` and `fix` are of the report that it must cause, and of no other one:

    id     number in the project's list of 64 kinds of bad inputs; a number may have several rows, and a row none
    what   the mistake, in a few words
    with   what else is in the stack: keys of `WITH`
    teams  teams that are in the stack, each with a share of the pool `cpu`
    set    values at dotted paths
    at     the reported path; by default the first of `set`
    rule   part of the reported rule
    fix    part of the reported fix

`{k*129}` in a text or a key is k 129 times, and the value `{absent}` removes the key.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from spec.strict_yaml import StrictLoader
from tests.spec.settings.stack import DELETE, EXISTING, ON_A_CLUSTER, team

NOT_GIVEN: Final = {
    4: "subnets are not in the file: spec.subnets computes them from the VPC's range",
    5: "subnets are not in the file: spec.subnets computes them from the VPC's range",
    16: "the running version is not in the file: the plan of an upgrade compares with the state",
    17: "the running version is not in the file: the plan of an upgrade compares with the state",
    34: "no load balancer's name is in the file",
    36: "names of Helm releases are constants of the add-ons",
}
"""Numbers that concern no setting of these families, and why."""

_SCHEDULED: Final = {"cluster.version": "1.36", "teams": {"vision": team(gpus={"a100": {"nominalQuota": 2}})}}
_FIXED: Final = {"provisioner": "managed", "min": 2, "max": 2}
WITH: Final[dict[str, dict[str, Any]]] = {
    "kueue": {"addons.kueue": {}},
    "protected": {"environment.protect": True},
    "kserve": {"addons.certManager": {}, "addons.loadBalancerController": {}, "addons.kserve": {}},
    "certificate": {
        "addons.kserve.certificateArn": [
            "arn:aws:acm:us-east-1:111122223333:certificate/12345678-1234-1234-1234-123456789012"
        ]
    },
    "yunikorn": {"addons.yunikorn": {}, **_SCHEDULED},
    "volcano": {
        "addons.volcano": {},
        "pools.a100.zones": ["us-east-1a"],
        **{f"pools.{pool}.{key}": value for pool in ("cpu", "a100") for key, value in _FIXED.items()},
        **_SCHEDULED,
    },
    "existing": EXISTING,
    "on a cluster": ON_A_CLUSTER,
}
"""Stacks that have no problem."""
_REPEATED: Final = re.compile(r"\{(\w)\*(\d+)\}")


@dataclass(frozen=True)
class Bad:
    """One mistake: changes to the base stack, and the one problem that they must cause."""

    number: int | None
    what: str
    place: str  # where the row is: file and line
    changes: dict[str, Any] = field(hash=False)  # values at dotted paths, for `tests.spec.settings.stack.changed`
    path: str
    rule: str
    fix: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def _expanded(value: Any) -> Any:
    if isinstance(value, str):
        if value == "{absent}":
            return DELETE
        return _REPEATED.sub(lambda match: match[1] * int(match[2]), value)
    if isinstance(value, list):
        return [_expanded(item) for item in value]
    if isinstance(value, dict):
        return {_expanded(key): _expanded(item) for key, item in value.items()}
    return value


def _row(
    place: str,
    *,
    what: str,
    rule: str,
    fix: str,
    id: int | None = None,
    set: dict[str, Any] | None = None,
    at: str | None = None,
    with_: tuple[str, ...] = (),
    teams: tuple[str, ...] = (),
) -> Bad:
    changes = {path: value for name in with_ for path, value in WITH[name].items()}
    changes |= {f"teams.{name}.{key}": value for name in teams for key, value in team().items()}
    given = {path for path in changes if (set or {}).get(path) is DELETE}
    changes = {path: value for path, value in (changes | (set or {})).items() if path not in given}
    return Bad(id, what, place, changes, at or next(iter(set or {})), rule, fix)


def _rows(file: Path) -> Iterator[tuple[str, Any]]:
    """The entries of a list, each with its place as `FILE:LINE`."""
    reader = StrictLoader(file.read_text(encoding="utf-8"))
    for entry in reader.get_single_node().value:
        yield f"{file.name}:{entry.start_mark.line + 1}", reader.construct_object(entry, deep=True)
    reader.dispose()


ROWS: Final = tuple(
    _row(place, **{"with_" if key == "with" else key: value for key, value in _expanded(row).items()})
    for file in sorted(Path(__file__).parent.glob("*.yaml"))
    for place, row in _rows(file)
)
