"""Rules, one module per subject. Add a new module to `MODULES`; a rule is found by being in one."""

from collections.abc import Mapping
from types import ModuleType
from typing import Final

from policies.rule import AnyRule
from policies.rules import (
    addons,
    boundaries,
    cluster_access,
    cluster_network,
    cluster_objects,
    clusters,
    costs,
    databases,
    extensions,
    fabric,
    file_systems,
    fleet,
    gpu_pods,
    gpu_pools,
    helm,
    iam,
    jobs,
    keys,
    kueue,
    load_balancers,
    machines,
    message_queues,
    metrics,
    node_groups,
    node_identity,
    node_software,
    pods,
    program,
    protection,
    rbac,
    registries,
    rendering,
    resource_policies,
    s3,
    secrets,
    serving,
    spot,
    training_pools,
    vpc,
)

MODULES: Final[Mapping[str, tuple[ModuleType, ...]]] = {
    "Control plane": (cluster_access, clusters, cluster_network, addons),
    "Nodes": (machines, node_software, node_groups, fleet),
    "GPU capacity and cost": (gpu_pools, spot, training_pools, costs, fabric),
    "Storage": (s3, file_systems, databases, registries, protection),
    "Pods": (pods, gpu_pods, jobs, serving),
    "Teams": (boundaries, extensions, rbac, cluster_objects, kueue),
    "Keys, permissions and secrets": (keys, iam, resource_policies, node_identity, secrets, message_queues),
    "Network": (vpc, load_balancers),
    "Monitoring": (metrics,),
    "Helm": (helm,),
    "Program": (program, rendering),
}
"""Modules by their heading in docs/policies.md."""


def rules_of(module: ModuleType) -> list[AnyRule]:
    """The rules that a module defines, in the order of the file."""
    return [value for value in vars(module).values() if isinstance(value, AnyRule)]


RULES: Final[tuple[AnyRule, ...]] = tuple(
    rule for modules in MODULES.values() for module in modules for rule in rules_of(module)
)
"""All rules of the pack, in the order of docs/policies.md."""

BY_NAME: Final[Mapping[str, AnyRule]] = {rule.name: rule for rule in RULES}  # rules by name
