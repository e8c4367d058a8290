"""Rules, one module per subject. Add a new module to `MODULES`, and a new rule to `RULES` of its module."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Final

from policies.rule import AnyRule
from policies.rules import (
    addons,
    admission_enforced,
    budgets,
    cluster_access,
    cluster_data,
    cluster_exposure,
    cluster_identities,
    cluster_network,
    cluster_objects,
    cluster_version,
    databases,
    efs,
    fabric,
    fleet,
    foreign_accounts,
    fsx,
    gpu_nodes,
    gpu_pods,
    gpu_pools,
    helm,
    helm_values,
    iam_permissions,
    iam_trust,
    jobs,
    keys,
    kueue,
    kueue_tenancy,
    load_balancers,
    machines,
    message_queues,
    metrics,
    namespaces,
    node_groups,
    node_identity,
    node_role,
    node_software,
    options,
    outlets,
    plaintext,
    pod_hygiene,
    pod_isolation,
    pod_restriction,
    pool_cost,
    program_secrets,
    protection,
    providers,
    rbac,
    rbac_reach,
    rbac_subjects,
    registries,
    resource_policies,
    resource_types,
    s3_access,
    s3_data,
    secret_stores,
    security_groups,
    serving,
    spot,
    tags,
    training_pools,
    vpc,
    vpc_shape,
)

MODULES: Final[Mapping[str, tuple[ModuleType, ...]]] = {
    "Control plane": (cluster_access, cluster_identities, cluster_data, cluster_version, cluster_network, addons),
    "Nodes": (machines, node_software, node_groups, node_role, fleet),
    "GPU capacity and cost": (gpu_pools, gpu_nodes, spot, training_pools, pool_cost, budgets, tags, fabric),
    "Storage": (s3_access, s3_data, efs, fsx, databases, registries, protection),
    "Pods": (pod_isolation, pod_restriction, pod_hygiene, gpu_pods, jobs, serving),
    "Teams": (
        namespaces,
        admission_enforced,
        rbac,
        rbac_reach,
        rbac_subjects,
        cluster_objects,
        cluster_exposure,
        kueue,
        kueue_tenancy,
    ),
    "Keys, permissions and secrets": (
        keys,
        iam_permissions,
        iam_trust,
        resource_policies,
        foreign_accounts,
        node_identity,
        plaintext,
        program_secrets,
        secret_stores,
        message_queues,
    ),
    "Network": (vpc, security_groups, vpc_shape, outlets, load_balancers),
    "Monitoring": (metrics,),
    "Helm": (helm, helm_values),
    "Program": (resource_types, options, providers),
}
"""Modules by their heading in docs/policies.md."""

RULES: Final[tuple[AnyRule, ...]] = tuple(
    rule for modules in MODULES.values() for module in modules for rule in module.RULES
)
"""All rules of the pack, in the order of docs/policies.md."""

BY_NAME: Final[Mapping[str, AnyRule]] = {rule.name: rule for rule in RULES}
"""Rules by name."""
