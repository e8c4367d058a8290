"""Changes of resources as data: operations, changed properties, and losses; and their values as text."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from sandbox.aws import replacement
from sandbox.kubernetes import manifests
from sandbox.kubernetes.targets import Settings
from sandbox.rpc.diff import Path
from sandbox.rpc.wire import REDACTED, UNKNOWN
from slipway.engine import remains
from slipway.engine.gate import TABLE

# Formats property values of a plan for readers.


LONGEST: Final = 160
LATER: Final = "known after the update"
_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
"""Key of a special value, such as a secret, in the engine's JSON (sdk/go/common/resource/sig/sig.go)."""
_MISSING: Final = object()


def at(values: Mapping[str, Any], path: Path) -> Any:
    """The value at a path; a sentinel that `shown` formats as empty if there is none."""
    value: Any = values
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return _MISSING
    return value


def shown(value: Any) -> str:
    """A value as short text: JSON, strings without quotes, truncated if it is long; empty if missing.

    Secrets are masked at any depth.
    """
    if value is _MISSING:
        return ""
    plain = _plain(value)
    text = plain if isinstance(plain, str) else json.dumps(plain, sort_keys=True, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _plain(value: Any) -> Any:
    if value == UNKNOWN:
        return LATER
    if isinstance(value, Mapping):
        return REDACTED if _SIGNATURE in value else {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


# Changes of resources as data: operations, changed properties, and losses.


class Verb(StrEnum):
    """The operation on a resource, as far as it can be predicted; sorted by importance to the reader."""

    REPLACE = "replace"
    MAYBE = "update or replace"  # the resource changes, but it is not known whether AWS applies the change in place
    DELETE = "delete"
    UPDATE = "update"
    CREATE = "create"


@dataclass(frozen=True, kw_only=True)
class PropertyChange:
    """One changed property."""

    path: str  # path of the property: `scalingConfig.maxSize`
    before: str = ""  # old value as text; empty if it was not set
    after: str = ""  # new value as text; empty if it is no longer set
    forces: bool | None = False  # whether it forces a replacement; None if unknown


@dataclass(frozen=True, kw_only=True)
class ResourceChange:
    """A changed resource."""

    urn: str
    type: str
    verb: Verb
    properties: tuple[PropertyChange, ...] = ()
    loses: str = ""
    """What is permanently lost when it is replaced or deleted; empty if the program can recreate everything."""
    fix: str = ""  # what to do instead
    cause: str = ""  # logical name of the resource whose replacement causes this change; empty if it changes by itself
    retained: bool = False  # whether it is retained in the cloud when it is removed from the stack
    remains: str = ""  # what AWS keeps of it although it is deleted; empty if nothing

    @property
    def name(self) -> str:
        """Logical name."""
        return self.urn.rpartition("::")[2]

    @property
    def removes(self) -> bool:
        """Whether the existing resource is removed, or may be."""
        return self.verb in {Verb.REPLACE, Verb.MAYBE, Verb.DELETE}

    @property
    def dangerous(self) -> bool:
        """Whether something is permanently lost, or may be."""
        return bool(self.loses) and self.removes


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The changes of a stack."""

    against: str = ""  # name of the baseline for readers: `main (1a2b3c4)`; empty without a comparison
    changes: tuple[ResourceChange, ...] = ()  # changed resources, sorted by verb and URN
    unchanged: int = 0  # number of unchanged resources
    problem: str = ""  # why the comparison failed, if one was requested
    notes: tuple[str, ...] = ()  # how the comparison was made, as far as readers must know

    @property
    def asked(self) -> bool:
        """Whether a comparison was requested."""
        return bool(self.against)

    @property
    def counts(self) -> dict[Verb, int]:
        """Number of resources for every verb."""
        counter = Counter(change.verb for change in self.changes)
        return {verb: counter[verb] for verb in Verb}

    @property
    def dangerous(self) -> tuple[ResourceChange, ...]:
        """Changes with permanent losses."""
        return tuple(change for change in self.changes if change.dangerous)

    def own(self, verb: Verb) -> tuple[ResourceChange, ...]:
        """Changes with a verb that no other change causes, and those with permanent losses."""
        return tuple(one for one in self.changes if one.verb is verb and (not one.cause or one.dangerous))

    def dependents(self) -> dict[str, tuple[ResourceChange, ...]]:
        """All other changes, by the name of the resource whose replacement causes them."""
        groups: dict[str, list[ResourceChange]] = {}
        for one in self.changes:
            if one.cause and not one.dangerous:
                groups.setdefault(one.cause, []).append(one)
        return {name: tuple(ones) for name, ones in sorted(groups.items())}

    def by_kind(self) -> dict[str, dict[Verb, int]]:
        """Number of resources by kind and verb, sorted by kind."""
        kinds: dict[str, dict[Verb, int]] = {}
        for change in self.changes:
            counts = kinds.setdefault(kind(change.type), dict.fromkeys(Verb, 0))
            counts[change.verb] += 1
        return dict(sorted(kinds.items()))


NOTHING: Final = Plan()  # the plan if no comparison was requested


def ordered(changes: list[ResourceChange]) -> tuple[ResourceChange, ...]:
    """Changes with permanent losses first, then by verb and URN."""
    rank = {verb: index for index, verb in enumerate(Verb)}
    return tuple(sorted(changes, key=lambda one: (not one.dangerous, rank[one.verb], one.urn)))


_SERVICES: Final = {
    "autoscaling": "Auto Scaling",
    "budgets": "Budgets",
    "cloudwatch": "CloudWatch",
    "costexplorer": "Cost Explorer",
    "fsx": "FSx",
    "secretsmanager": "Secrets Manager",
}
"""Names of AWS services that are not simply their module in capitals."""


_PLAIN_GROUPS: Final = ("core", "apps", "batch", "autoscaling", "policy", "helm.sh")
"""Built-in API groups of Kubernetes without a dot, and Helm's; their kinds are shown without the group."""


def kind(token: str) -> str:
    """A readable name for a type token: `EKS NodeGroup`, `Namespace`, `NodePool (karpenter.sh)`."""
    package, module, name = [*token.split(":"), "", ""][:3]
    if package == "kubernetes":
        group = module.partition("/")[0]
        built_in = group in _PLAIN_GROUPS or group.endswith(".k8s.io")
        return name if built_in else f"{name} ({group})"
    if package == "pulumi":
        return f"provider {name}" if module == "providers" else token
    service = module.partition("/")[0]
    return f"{_SERVICES.get(service, service.upper())} {name}" if package == "aws" else token


# Whether a change forces a replacement, according to the tables of the sandbox's providers.


RELEASE: Final = "kubernetes:helm.sh/v3:Release"
_OF_RELEASE: Final = ("name", "namespace")
"""A changed name or namespace is another release (pulumi-kubernetes v4.34.2, provider/pkg/provider/helm_release.go)."""
_SETTINGS: Final = Settings(config_map_mutable=True)  # as the platform's provider is set (infra/providers.py)


def forces_new(type_token: str, path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool | None:
    """Whether a change at a path forces a replacement; None if unknown."""
    if type_token == RELEASE:
        return path[0] in _OF_RELEASE
    if type_token.startswith("kubernetes:"):
        return manifests.forces_new(path, old, _SETTINGS)
    if path[0] in {"tags", "tagsAll"}:
        return False  # no AWS type is replaced because of its tags
    if type_token.startswith("aws:") and replacement.known(type_token):
        return replacement.forces_new(type_token, path, old, new)
    return None


def verdict(forces: list[bool | None]) -> Verb:
    """The verb for a resource with such changes."""
    if any(forced is True for forced in forces):
        return Verb.REPLACE
    return Verb.MAYBE if any(forced is None for forced in forces) else Verb.UPDATE


def with_losses(change: ResourceChange, inputs: Mapping[str, Any], *, retained: bool = False) -> ResourceChange:
    """The change with its permanent losses, according to the gate's table of stateful types, and with what remains.

    Without its state, a stateful resource is assumed to hold data. A retained one loses nothing when it is deleted.
    """
    if change.removes and not retained:
        change = replace(change, remains=remains.of(change.type, inputs))
    stateful = TABLE.get(change.type)
    if stateful is None or not change.removes:
        return change
    if retained and change.verb is Verb.DELETE:
        return replace(change, retained=True)
    # The inputs of a node group show whether it can have nodes.
    if stateful.holds is not None and not stateful.holds(inputs, inputs):
        return change
    return replace(change, loses=stateful.loses, fix=stateful.fix)
