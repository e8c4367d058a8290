"""Which changes force a replacement, for plans without a sandbox: the rows of `replacement.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from sandbox.rpc import diff
from sandbox.rpc.diff import Path as PropertyPath
from spec import strict_yaml

Inputs: TypeAlias = Mapping[str, Any]
_ROWS: Final[Mapping[str, list[str]]] = strict_yaml.beside(__file__)


def known(type_token: str) -> bool:
    """Whether it is known which changes of a type force a replacement."""
    return type_token in _ROWS


def forces_new(type_token: str, path: PropertyPath, old_inputs: Inputs, news: Inputs) -> bool:
    """Whether a change at a path forces a replacement; false for a type that is not `known`."""
    name = diff.without_indexes(path)
    forcing = (*_ROWS.get(type_token, ()), "region")
    if any(name == forced or name.startswith(f"{forced}.") or _is_set(news, name, forced) for forced in forcing):
        return True
    decides = _BY_VALUE.get((type_token, name))
    return decides is not None and decides(old_inputs, news)


def _is_set(news: Mapping[str, Any], name: str, forced: str) -> bool:
    """Whether a newly added object includes a property that can't be set later."""
    return forced.startswith(f"{name}.") and diff.value(news, forced) is not None


def _shrinks(old: Inputs, new: Inputs) -> bool:
    """Capacity can only grow in place, and on SCRATCH_1 it can't change at all."""
    smaller = int(new.get("storageCapacity", 0)) < int(old.get("storageCapacity", 0))
    return smaller or new.get("deploymentType", "SCRATCH_1") == "SCRATCH_1"


def _changes_tenancy(old: Inputs, new: Inputs) -> bool:
    return [inputs.get("instanceTenancy") or "default" for inputs in (old, new)] != ["dedicated", "default"]


_BY_VALUE: Final[Mapping[tuple[str, str], Callable[[Inputs, Inputs], bool]]] = MappingProxyType({
    ("aws:ec2/vpc:Vpc", "instanceTenancy"): _changes_tenancy,
    # Only the private DNS of an interface endpoint can be changed in place.
    ("aws:ec2/vpcEndpoint:VpcEndpoint", "privateDnsEnabled"): lambda _, new: new.get("vpcEndpointType") != "Interface",
    ("aws:eks/cluster:Cluster", "encryptionConfig"): lambda _, new: "encryptionConfig" not in new,
    ("aws:eks/nodeGroup:NodeGroup", "launchTemplate"):
        lambda old, new: ("launchTemplate" in old) != ("launchTemplate" in new),
    ("aws:fsx/lustreFileSystem:LustreFileSystem", "storageCapacity"): _shrinks,
})  # fmt: skip
"""Properties of which the values decide."""
