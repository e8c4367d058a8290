"""Reconciles an estimate, which is computed from settings, with the resources of the program: what can be counted in
resources is counted there as well."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from slipway.cost.declared import Resource
from spec.pools import keys
from spec.pricing import services
from spec.pricing.model import Estimate

Key = tuple[str, str, str]
"""Service, pool and item of a line (`spec.pricing.model.Line.key`)."""
Counts = Iterator[tuple[Key, int]]


def disagreements(estimate: Estimate, resources: Iterable[Resource]) -> tuple[str, ...]:
    """Lines whose maximum count differs from that of the resources; empty if all agree."""
    counted: Counter[Key] = Counter()
    for token, inputs in resources:
        for key, count in _COUNTS[token](inputs) if token in _COUNTS else ():
            counted[key] += count
    lines = {line.key: line.maximum for line in estimate.lines if line.key in counted or _countable(line.key)}
    # A pool without a node price has no line to compare; it is among the unpriced items.
    for key in [key for key in counted if key[1] and key not in lines]:
        name = key[2].replace(f"{_NODES}, fallback ", f"{key[1]}-").replace(_NODES, str(key[1]))
        if any(item.what.startswith(f"pool {name}:") for item in estimate.unpriced):
            del counted[key]
    return tuple(
        f"{_named(key)}: {_plain(lines.get(key, Decimal(0)))} in the estimate, {counted[key]} in the resources"
        for key in sorted({*counted, *lines})
        if lines.get(key, Decimal(0)) != counted[key]
    )


def _countable(key: Key) -> bool:
    return key in _FIXED or (key[0] == services.EC2 and key[2].startswith(_NODES)) or key[2].startswith(_DATABASE)


def _named(key: Key) -> str:
    return ": ".join(part for part in key if part)


def _plain(count: Decimal) -> str:
    return f"{count.normalize():f}"


_CLUSTER: Final = (services.EKS, "", "control plane")
_NAT: Final = (services.NAT, "", "gateways")
_ADDRESS: Final = (services.ADDRESSES, "", "of NAT gateways")
_ENDPOINT: Final = (services.ENDPOINTS, "", "interface endpoints")
_KEY: Final = (services.KMS, "", "keys")
_LUSTRE: Final = (services.FSX, "", "Lustre file system")
_FIXED: Final = frozenset({_CLUSTER, _NAT, _ADDRESS, _ENDPOINT, _KEY, _LUSTRE})
_NODES: Final = "nodes"
_DATABASE: Final = "database "


def _one(key: Key) -> Callable[[Mapping[str, Any]], Counts]:
    def count(_: Mapping[str, Any]) -> Counts:
        yield key, 1

    return count


def _endpoints(inputs: Mapping[str, Any]) -> Counts:
    if inputs.get("vpcEndpointType") == "Interface":
        yield _ENDPOINT, len(inputs["subnetIds"])


def _lustre(inputs: Mapping[str, Any]) -> Counts:
    yield _LUSTRE, int(inputs["storageCapacity"])


def _database(inputs: Mapping[str, Any]) -> Counts:
    yield (services.RDS, "", f"{_DATABASE}{inputs['dbName']}"), 2 if inputs.get("multiAz") else 1


def _node_group(inputs: Mapping[str, Any]) -> Counts:
    yield (services.EC2, inputs["labels"][keys.POOL], "nodes"), int(inputs["scalingConfig"]["maxSize"])


def _node_pool(inputs: Mapping[str, Any]) -> Counts:
    spec = inputs["spec"]
    pool, name = spec["template"]["metadata"]["labels"][keys.POOL], inputs["metadata"]["name"]
    item = _NODES if name == pool else f"{_NODES}, fallback {name.removeprefix(f'{pool}-')}"
    yield (services.EC2, pool, item), int(spec["limits"]["nodes"])


_COUNTS: Final[Mapping[str, Callable[[Mapping[str, Any]], Counts]]] = {
    "aws:eks/cluster:Cluster": _one(_CLUSTER),
    "aws:ec2/natGateway:NatGateway": _one(_NAT),
    "aws:ec2/eip:Eip": _one(_ADDRESS),
    "aws:kms/key:Key": _one(_KEY),
    "aws:ec2/vpcEndpoint:VpcEndpoint": _endpoints,
    "aws:fsx/lustreFileSystem:LustreFileSystem": _lustre,
    "aws:rds/instance:Instance": _database,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "kubernetes:karpenter.sh/v1:NodePool": _node_pool,
}
"""How much each resource type adds to which line."""
