"""Rules, one module a concern. A new module is added to `MODULES`; a new rule to `RULES` of its module."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Final

from policies.rule import AnyRule
from policies.rules import (
    addons,
    budgets,
    cluster_access,
    cluster_data,
    cluster_network,
    cluster_version,
    databases,
    efs,
    fabric,
    fleet,
    fsx,
    gpu_pools,
    helm,
    iam_rights,
    iam_trust,
    keys,
    load_balancers,
    machines,
    node_groups,
    node_role,
    node_software,
    plaintext,
    pool_cost,
    protection,
    queues,
    registries,
    s3_access,
    s3_data,
    secret_stores,
    security_groups,
    spot,
    vpc,
    vpc_shape,
)

MODULES: Final[Mapping[str, tuple[ModuleType, ...]]] = {
    "Control plane": (cluster_access, cluster_data, cluster_version, cluster_network, addons),
    "Nodes": (machines, node_software, node_groups, node_role, fleet),
    "GPU capacity and cost": (gpu_pools, spot, pool_cost, budgets, fabric),
    "Storage": (s3_access, s3_data, efs, fsx, databases, registries, protection),
    "Keys, rights and secrets": (keys, iam_rights, iam_trust, plaintext, secret_stores, queues),
    "Network": (vpc, security_groups, vpc_shape, load_balancers),
    "Helm": (helm,),
}
"""Modules by the heading under which the documentation lists their rules."""

RULES: Final[tuple[AnyRule, ...]] = tuple(
    rule for modules in MODULES.values() for module in modules for rule in module.RULES
)
"""All rules of the pack, in the order of the documentation."""

BY_NAME: Final[Mapping[str, AnyRule]] = {rule.name: rule for rule in RULES}
"""Rules by name."""
