"""A valid stack, and functions that change it."""

from copy import deepcopy
from typing import Any, Final

from spec.settings import ConfigurationError, Loaded, Problem, load
from tests.support.day import TODAY

STACK: Final = "test"
DELETE: Final = object()
"""As a value: remove the key."""

BASE: Final[dict[str, Any]] = {
    "environment": {"name": STACK, "owner": "ml-platform", "costCenter": "research"},
    "account": {"id": "111122223333", "region": "us-east-1",
        "zoneIds": {"us-east-1a": "use1-az6", "us-east-1b": "use1-az1"}},
    "network": {"cidr": "10.16.0.0/16", "podCidr": "100.64.0.0/16", "zones": ["us-east-1a", "us-east-1b"],
        "peers": {"corporate": "10.0.0.0/12"}},
    "cluster": {"endpoint": {"publicAccess": True, "publicAccessCidrs": ["203.0.113.0/24"]}, "access": {"admins": {
                "principalArn": "arn:aws:iam::111122223333:role/platform-admin",
                "policy": "AmazonEKSClusterAdminPolicy"}}},
    "pools": {"system": {"preset": "system"}, "cpu": {"preset": "cpu"},
        "a100": {"preset": "a100", "mig": {"layout": "all-1g.5gb"}},
        "h100": {"preset": "h100", "provisioner": "managed", "zones": ["us-east-1a"], "efa": True},
        "l4": {"preset": "gpu-spot"}},
    "addons": {"gpuOperator": {}, "efaDevicePlugin": {}},
}  # fmt: skip


EXISTING: Final[dict[str, Any]] = {
    "network.podCidr": DELETE,
    "network.existing.vpc.id": "vpc-0a1b2c3d4e5f67890",
    "network.existing.privateSubnets.ids": {
        "us-east-1a": "subnet-0000000000000000a", "us-east-1b": "subnet-0000000000000000b"},
}  # fmt: skip
"""Changes of the base that use an existing VPC."""
ON_A_CLUSTER: Final[dict[str, Any]] = {
    "network.podCidr": DELETE, "cluster": {"existing": {"name": "ml-prod"}}, "pools.system": DELETE}  # fmt: skip
"""Changes of the base that use an existing cluster."""


def team(**more: Any) -> dict[str, Any]:
    """A team's settings, with a share of the pool `cpu`."""
    return {"project": "cameras", "costCenter": "ml-vision", "cpus": {"cpu": {"nominalQuota": 8}}, **more}


def team_with_gpus(nominal: Any, pool: str = "a100", **more: Any) -> dict[str, Any]:
    """A team's settings, with a share of a pool of GPUs too."""
    return team(gpus={pool: {"nominalQuota": nominal, **more}})


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    """The base with values at dotted paths replaced, added or (`DELETE`) removed."""
    data = deepcopy(BASE)
    for path, value in changes.items():
        *above, last = path.split(".")
        node = data
        for part in above:
            node = node.setdefault(part, {})
        if value is DELETE:
            del node[last]
        else:
            node[last] = deepcopy(value)
    return data


def loaded(changes: dict[str, Any], *, stack: str = STACK) -> Loaded:
    return load(changed(changes), stack=stack, today=TODAY)


def problems(data: object, *, stack: str = STACK) -> tuple[Problem, ...]:
    """Problems of the settings; empty if they load."""
    try:
        load(data, stack=stack, today=TODAY)
    except ConfigurationError as error:
        return error.problems
    return ()
