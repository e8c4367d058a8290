"""Looks up a cluster that exists, with the provider's data sources, at every preview and update.

The answers are plain values, as those of an existing VPC, and everything is refused before a resource is declared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.base.outputs import ClusterOutputs
from components.cluster.access import kubeconfig
from spec.settings.environment import Account
from spec.settings.found_cluster import PATH, FoundCluster
from spec.settings.problems import ConfigurationError, Problem

_NONE_FOUND: Final = "couldn't find resource"
"""An error of the AWS provider (hashicorp/terraform-provider-aws, internal/retry, NotFoundError)."""


def look_up(
    name: str, account: Account, addons: Collection[str], named: Mapping[str, Any], opts: pulumi.InvokeOptions
) -> tuple[FoundCluster, ClusterOutputs]:
    """The cluster, as the settings are held against it and as components use it.

    Args:
        name: Its name.
        account: Account and Region.
        addons: EKS add-ons to ask for.
        named: `prefix` and `tags` of what the program makes.
        opts: The provider.

    Raises:
        ConfigurationError: If the account has none of this name.
    """
    try:
        one = aws.eks.get_cluster(name=name, opts=opts)
    except Exception as error:
        rule = f"EKS must have the cluster in {account.region}"
        why = str(error).rpartition("error: ")[2] or str(error)
        raise ConfigurationError([Problem(f"{PATH}.name", rule, name, f"AWS: {why}")], "existing cluster") from error
    found = FoundCluster(
        name=one.name,
        status=one.status,
        version=one.version,
        service_cidr=one.kubernetes_network_configs[0].service_ipv4_cidr or "",
        authentication=one.access_configs[0].authentication_mode,
        auto=any(compute.enabled for compute in one.compute_configs or ()),
        addons=frozenset(each for each in addons if _has(one.name, each, opts)),
        vpc=one.vpc_config.vpc_id,
        subnets=tuple(sorted(one.vpc_config.subnet_ids)),
    )
    authority = one.certificate_authorities[0].data
    known = pulumi.Output.from_input
    return found, ClusterOutputs(
        name=one.name,
        endpoint=known(one.endpoint),
        certificate_authority=known(authority),
        kubeconfig=kubeconfig(one.name, account.region, one.endpoint, authority),
        version=one.version,
        security_group_id=known(one.vpc_config.cluster_security_group_id),
        service_cidr=found.service_cidr,
        oidc_issuer=known(one.identities[0].oidcs[0].issuer),
        account_id=account.id,
        region=account.region,
        **named,
    )


def _has(cluster: str, addon: str, opts: pulumi.InvokeOptions) -> bool:
    """The data source raises an error where there is none."""
    try:
        aws.eks.get_addon(cluster_name=cluster, addon_name=addon, opts=opts)
    except Exception as error:
        if _NONE_FOUND not in str(error):
            raise
        return False
    return True
