"""What a change does to whom: settings old and new, quotas, jobs that no longer fit, nodes that are replaced."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from sandbox.rpc import diff
from slipway.report.plan import Plan, PropertyChange, ResourceChange, Verb
from slipway.report.plan.changes import at, shown
from slipway.report.terminal import TerminalContext, group

_QUEUE: Final = "ClusterQueue"
_ABSENT: Final = "0"
_CLASSES: Final = ("EC2NodeClass", "LaunchTemplate")
_TEMPLATE: Final = "spec.template."
_REQUIREMENTS: Final = "spec.template.spec.requirements"
Shares = Mapping[tuple[str, str], Mapping[str, tuple[str, str]]]
"""Nominal quota and borrowing limit by resource, of each queue and flavor."""


def settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[PropertyChange, ...]:
    """The settings that change, of two stack files."""
    paths = [one.path for one in diff.compare(before, after)]
    return tuple(
        PropertyChange(path=diff.write(path), before=shown(at(before, path)), after=shown(at(after, path)))
        for path in paths
    )


def concerned(
    before: Iterable[Mapping[str, Any]],
    after: Iterable[Mapping[str, Any]],
    plan: Plan,
    pools: Collection[str],
) -> tuple[tuple[str, str], ...]:
    """Whom the change of a rendering to another concerns, and how."""
    old, new = _shares(before), _shares(after)
    return (*_unfit(old, new), *_nodes(plan, pools), *_quotas(old, new))


def _shares(resources: Iterable[Mapping[str, Any]]) -> Shares:
    """Quotas of devices, and of CPUs in flavors without devices; those of memory and the like follow from them."""
    found: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
    for one in (one["inputs"] for one in resources if one["type"].endswith(f":{_QUEUE}")):
        for flavor in (each for part in one["spec"].get("resourceGroups") or () for each in part["flavors"]):
            rows = {
                row["name"]: (str(row.get("nominalQuota", _ABSENT)), str(row.get("borrowingLimit", "all")))
                for row in flavor["resources"]
            }
            devices = {name: row for name, row in rows.items() if "/" in name and row != (_ABSENT, _ABSENT)}
            shown_rows = devices or {name: row for name, row in rows.items() if name == "cpu"}
            found[one["metadata"]["name"], flavor["name"]] = shown_rows
    return found


def _unfit(old: Shares, new: Shares) -> Iterator[tuple[str, str]]:
    """Pools that offered a resource and no longer do: no job that requests it is admitted there."""
    offered = {(pool, name) for (_, pool), rows in old.items() for name in rows}
    for pool, name in sorted(offered - {(pool, name) for (_, pool), rows in new.items() for name in rows}):
        yield f"pool {pool}", f"no job that requests `{name}` fits any longer"


def _quotas(old: Shares, new: Shares) -> Iterator[tuple[str, str]]:
    for queue, pool in sorted({*old, *new}):
        was, is_ = old.get((queue, pool), {}), new.get((queue, pool), {})
        changed = [name for name in {**was, **is_} if was.get(name) != is_.get(name)]
        texts = [f"`{name}` {_share(was.get(name))} → {_share(is_.get(name))}" for name in changed]
        if texts:
            yield f"team {queue}", f"quota in pool {pool}: {', '.join(texts)}"


def _share(row: tuple[str, str] | None) -> str:
    if row is None:
        return "none"
    return row[0] if row[1] == _ABSENT else f"{row[0]} (may borrow {row[1]})"


def _nodes(plan: Plan, pools: Collection[str]) -> Iterator[tuple[str, str]]:
    """Pools whose nodes are replaced. Karpenter replaces nodes that have drifted from the template of their NodePool,
    of which requirements concern the nodes that don't meet them, and from their EC2NodeClass (kubernetes-sigs/karpenter
    013941a7, pkg/apis/v1/nodepool.go, Hash; 2026-11-29). EKS replaces those of a node group when the version of its
    launch template changes (EKS User Guide, "Update a managed node group")."""
    context = TerminalContext(stack="", pools=pools)
    found: dict[str, str] = {}
    for change in plan.changes:
        name, kind = group(change, context), change.type.rpartition(":")[2]
        if not name.startswith("pool ") or change.verb is Verb.CREATE:
            continue
        paths = [one.path for one in change.properties]
        if change.verb is Verb.DELETE and kind in ("NodePool", "NodeGroup"):
            found[name] = "its nodes are removed"
        elif _renews(change, kind, paths):
            found[name] = "its nodes are replaced, one after the other"
        elif any(path.startswith(_REQUIREMENTS) for path in paths):
            found.setdefault(name, "nodes that don't meet its new requirements are replaced")
    yield from sorted(found.items())


def _renews(change: ResourceChange, kind: str, paths: Collection[str]) -> bool:
    if kind == "NodePool":
        return any(path.startswith(_TEMPLATE) and not path.startswith(_REQUIREMENTS) for path in paths)
    return (kind in _CLASSES and change.verb is not Verb.DELETE) or (kind == "NodeGroup" and change.removes)
