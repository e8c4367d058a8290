"""Outputs of a stack: what a second program takes by a StackReference, to add its own to the cluster.

None is a credential. Those of a part that the stack doesn't have are empty.
"""

from collections.abc import Mapping
from typing import Any

import pulumi

from components.base.outputs import ClusterOutputs, NetworkOutputs, StorageOutputs
from components.queues import LOCAL_QUEUE
from components.storage.volumes import CLAIMS
from components.tenancy.team import TeamOutputs
from spec.kubeconfig import update_command


def exported(
    cluster: ClusterOutputs,
    network: NetworkOutputs,
    storage: StorageOutputs | None,
    instance_profile: pulumi.Input[str],
    teams: Mapping[str, TeamOutputs],
    *,
    queued: bool,
) -> dict[str, Any]:
    """The outputs by name.

    Args:
        cluster: The cluster.
        network: Its network.
        storage: Its storage, if the stack makes some.
        instance_profile: That of Karpenter's nodes.
        teams: Teams by name.
        queued: Whether namespaces of teams have queues.
    """
    return {
        "accountId": cluster.account_id,
        "region": cluster.region,
        "clusterName": cluster.name,
        "clusterVersion": cluster.version,
        "clusterEndpoint": cluster.endpoint,
        "clusterCertificateAuthority": cluster.certificate_authority,
        "clusterSecurityGroupId": cluster.security_group_id,
        "oidcIssuer": cluster.oidc_issuer,
        "kubeconfig": cluster.kubeconfig,
        "kubeconfigCommand": update_command(cluster.name, cluster.region),
        "instanceProfile": instance_profile,
        "vpcId": network.vpc_id,
        "privateSubnetIds": _by_zone(network, network.private_subnets),
        "publicSubnetIds": _by_zone(network, network.public_subnets),
        "podSubnetIds": _by_zone(network, network.pod_subnets),
        "keyArn": storage.key_arn if storage else "",
        "buckets": {purpose: bucket.name for purpose, bucket in sorted(storage.buckets.items())} if storage else {},
        "storageClasses": dict(storage.classes) if storage else {},
        "efsId": storage.efs.id if storage and storage.efs else "",
        "lustreId": storage.lustre.id if storage and storage.lustre else "",
        "teams": {
            name: {
                "namespaces": list(team.namespaces),
                "queue": LOCAL_QUEUE if queued else "",
                "claims": list(CLAIMS) if storage else [],
            }
            for name, team in sorted(teams.items())
        },
    }


def _by_zone(network: NetworkOutputs, subnets: Mapping[str, pulumi.Output[str]]) -> dict[str, pulumi.Output[str]]:
    return {network.zones[letter]: subnet for letter, subnet in sorted(subnets.items())}
