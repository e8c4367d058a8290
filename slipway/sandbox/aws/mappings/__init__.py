"""All resource mappings: the types of pulumi_aws that are kept in moto."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from slipway.sandbox.aws.mapping import ResourceMapping
from slipway.sandbox.aws.mappings import (
    capacity,
    ecr,
    efs,
    eks_access,
    eks_addons,
    eks_cluster,
    eks_node_group,
    endpoints,
    events,
    fsx,
    iam_policies,
    iam_roles,
    kms,
    launch_templates,
    logs,
    nat,
    rds,
    routes,
    s3,
    security_groups,
    sns,
    sqs,
    vpc,
)

_FAMILIES = (
    vpc, nat, routes, security_groups, endpoints, launch_templates, iam_roles, iam_policies, kms, logs, sqs, events,
    eks_cluster, eks_node_group, eks_addons, eks_access, s3, efs, fsx, sns, ecr, rds, capacity,
)  # fmt: skip

MAPPINGS: Mapping[str, ResourceMapping] = MappingProxyType(
    {mapping.type: mapping for family in _FAMILIES for mapping in family.MAPPINGS}
)
