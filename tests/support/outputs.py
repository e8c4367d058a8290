"""Sample outputs of a network and a cluster, for tests of components that need them. Call them inside `run`."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.base.outputs import ClusterOutputs, NetworkOutputs
from tests.support.mocks import ACCOUNT, REGION

TAGS: Mapping[str, str] = {"environment": "test", "owner": "ml-platform"}


def network_outputs(letters: str = "ab", *, pods: bool = False) -> NetworkOutputs:
    """Outputs of a network with some zones."""

    def subnets(kind: str) -> dict[str, pulumi.Output[str]]:
        return {letter: pulumi.Output.from_input(f"subnet-{kind}-{letter}") for letter in letters}

    return NetworkOutputs(
        vpc_id=pulumi.Output.from_input("vpc-0123456789abcdef0"),
        vpc_cidr="10.0.0.0/16",
        zones={letter: f"{REGION}{letter}" for letter in letters},
        private_subnets=subnets("private"),
        public_subnets=subnets("public"),
        pod_subnets=subnets("pods") if pods else {},
    )


def cluster_outputs(
    provider: pulumi.ProviderResource, name: str = "slipway-test", version: str = "1.35"
) -> ClusterOutputs:
    """Outputs of a cluster, the only resource, declared with a provider."""
    cluster = aws.eks.Cluster(
        "cluster",
        name=name,
        role_arn=f"arn:aws:iam::{ACCOUNT}:role/cluster",
        version=version,
        vpc_config={"subnet_ids": ["subnet-private-a", "subnet-private-b"]},
        opts=pulumi.ResourceOptions(provider=provider),
    )
    return ClusterOutputs(
        name=name,
        resource=cluster,
        endpoint=cluster.endpoint,
        certificate_authority=cluster.certificate_authority.data,
        kubeconfig=pulumi.Output.from_input("{}"),
        version=version,
        security_group_id=cluster.vpc_config.cluster_security_group_id,
        service_cidr="172.20.0.0/16",
        oidc_issuer=cluster.identities[0].oidcs[0].issuer,
        account_id=ACCOUNT,
        region=REGION,
        tags=TAGS,
    )
