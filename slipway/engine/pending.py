"""Operations that a killed run left open, and a state in which they are settled.

The engine writes each operation into the state before it begins, and removes it when it has ended (pulumi v3.258.0,
pkg/resource/deploy/snapshot.go, `PendingOperations`). What a killed run was creating may exist or not: the state has
its inputs, and its id only if the provider had answered. `pulumi up` warns of such operations and drops them, so that
the next run creates everything once more: what has a fixed name is refused, and anything else exists twice.
"""

import copy
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spec.errors import SlipwayError

CREATING: Final = "creating"


@dataclass(frozen=True)
class PendingOperation:
    """One operation without an end."""

    kind: str  # `creating`, `updating`, `deleting`, `reading`, `importing`
    urn: str  # of the resource
    type: str  # of the resource
    inputs: Mapping[str, Any]  # that were sent to the provider
    id: str  # of a resource that the provider had made before the run was killed; empty otherwise
    provider: str  # reference to its provider: `URN::ID`
    custom: bool = True  # whether a provider makes it; False for a component, which the engine alone knows
    parent: str = ""  # URN of the component above it; empty if there is none

    @property
    def name(self) -> str:
        """The logical name: the last part of the URN."""
        return self.urn.rpartition("::")[2]


def operations(document: str) -> tuple[PendingOperation, ...]:
    """The open operations in the output of `pulumi stack export`."""
    try:
        return tuple(_operation(each) for each in _deployment(json.loads(document)).get("pending_operations") or ())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(error) from error


def identifiers(document: str) -> Mapping[str, frozenset[str]]:
    """Ids that the state already has, by type: no open operation can have made one of these."""
    found: dict[str, set[str]] = {}
    for resource in _deployment(json.loads(document)).get("resources") or ():
        if resource.get("id"):
            found.setdefault(resource["type"], set()).add(resource["id"])
    return {type: frozenset(ids) for type, ids in found.items()}


UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""Stands for a value that only an update knows (pulumi v3.258.0, sdk/go/common/resource/plugin, UnknownStringValue)."""


def reopened(document: str, plan: str) -> str:
    """The document with an open operation for each resource that a plan would create and whose inputs are known.

    For a run that failed without being killed: its object may exist although no operation is open, because the reply
    was lost, or an earlier error kept it out of the state. Left out is what needs a resource that does not exist yet.
    """
    whole = json.loads(document)
    deployment = _deployment(whole)
    there = {resource["urn"] for resource in deployment.get("resources") or ()}
    opened = []
    try:
        steps = json.loads(plan).get("steps") or ()
        for resource in (step["newState"] for step in steps if step["op"] == "create"):
            known = UNKNOWN not in json.dumps(resource.get("inputs") or {})
            is_provider = resource["type"].startswith("pulumi:providers:")
            if known and not is_provider and there.issuperset(needs(resource)) and resource["urn"] not in there:
                there.add(resource["urn"])
                opened.append({"type": CREATING, "resource": resource})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(error) from error
    deployment["pending_operations"] = opened
    return json.dumps(whole)


def settled(document: str, adopted: Mapping[str, str]) -> str:
    """The document without open operations; resources in `adopted` (URN to id) become part of the state.

    An adopted resource has its inputs as outputs, until a refresh reads the live ones. An older resource with the same
    URN, which it was about to replace, is marked for deletion, as the engine does when the new one exists. Updates and
    deletions leave the state as it was; a refresh shows how far they came. A component has no id.
    """
    whole = json.loads(document)
    deployment = _deployment(whole)
    pending = deployment.pop("pending_operations", None) or []
    resources: list[dict[str, Any]] = deployment.setdefault("resources", [])
    made = [each["resource"] for each in pending if each["type"] == CREATING and each["resource"]["urn"] in adopted]
    for resource in _in_order(made):
        urn = resource["urn"]
        for older in resources:
            if older["urn"] == urn:
                older["delete"] = True
        id = {"id": adopted[urn]} if adopted[urn] else {}
        outputs = resource.get("outputs") or {**(resource.get("inputs") or {}), **id}
        there = {other["urn"] for other in resources}
        resources.append({**without_missing(resource, there), **id, "outputs": outputs})
    return json.dumps(whole, indent=2)


def _in_order(resources: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Each after those among them that it needs: the engine refuses a state in another order."""
    left = {resource["urn"]: resource for resource in resources}
    done: list[Mapping[str, Any]] = []

    def add(urn: str) -> None:
        resource = left.pop(urn, None)
        if resource is None:
            return
        for needed in needs(resource):
            add(needed)
        done.append(resource)

    for resource in resources:
        add(resource["urn"])
    return done


def without_missing(resource: Mapping[str, Any], there: Collection[str]) -> dict[str, Any]:
    """A copy without dependencies on what is not in the state: the next `up` writes them again."""
    made = copy.deepcopy(dict(resource))
    if made.get("deletedWith") not in there:
        made.pop("deletedWith", None)
    if "dependencies" in made:
        made["dependencies"] = [urn for urn in made["dependencies"] or () if urn in there]
    if "propertyDependencies" in made:
        properties = (made["propertyDependencies"] or {}).items()
        made["propertyDependencies"] = {name: [urn for urn in urns or () if urn in there] for name, urns in properties}
    return made


def needs(resource: Mapping[str, Any]) -> list[str]:
    """URNs of what has to be in a state before the resource: parent, provider, and what its inputs come from."""
    by_property = (urn for urns in (resource.get("propertyDependencies") or {}).values() for urn in urns or ())
    provider = str(resource.get("provider") or "").rpartition("::")[0]
    return [
        urn for urn in (resource.get("parent"), provider, *(resource.get("dependencies") or ()), *by_property) if urn
    ]


def _operation(entry: Mapping[str, Any]) -> PendingOperation:
    resource = entry["resource"]
    return PendingOperation(
        kind=entry["type"],
        urn=resource["urn"],
        type=resource["type"],
        inputs=resource.get("inputs") or {},
        id=resource.get("id") or "",
        provider=resource.get("provider") or "",
        custom=bool(resource.get("custom")),
        parent=resource.get("parent") or "",
    )


def _deployment(document: Any) -> dict[str, Any]:
    deployment: dict[str, Any] = document["deployment"] or {}
    return deployment


def _unreadable(error: Exception) -> SlipwayError:
    return SlipwayError(f"the output of `pulumi stack export` is not a stack's state ({type(error).__name__}: {error})")
