"""The two providers of the program, both explicit: nothing falls back to ambient credentials or a local kubeconfig."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from components.base.outputs import ClusterOutputs
from spec.naming import platform_tags
from spec.settings.platform import Platform


def tags_of(platform: Platform) -> dict[str, str]:
    """Tags of every resource of an environment."""
    environment = platform.environment
    return platform_tags(environment.name, environment.owner, environment.cost_center, environment.tags)


def aws_provider(platform: Platform, parent: pulumi.Resource | None = None) -> aws.Provider:
    """AWS in the environment's region; credentials of another account are refused."""
    return aws.Provider(
        "aws",
        region=platform.account.region,
        allowed_account_ids=[platform.account.id],
        default_tags={"tags": tags_of(platform)},
        opts=pulumi.ResourceOptions(parent=parent),
    )


def kubernetes_provider(cluster: ClusterOutputs, parent: pulumi.Resource | None = None) -> kubernetes.Provider:
    """The cluster's API, reached as the identity that runs the program.

    `cluster_identifier` is the cluster's ARN, which settings alone determine: a rotated CA or a moved endpoint then
    updates the provider and does not replace it and everything below it.
    """
    return kubernetes.Provider(
        "kubernetes",
        kubeconfig=cluster.kubeconfig,
        cluster_identifier=cluster.arn,
        enable_server_side_apply=True,
        # A manual change is drift, in the cluster as in AWS: a preview shows it and `up` reverts it, instead of failing
        # on a conflict of field managers. Fields that a controller owns are in `ignore_changes`.
        enable_patch_force=True,
        # Otherwise a changed ConfigMap is deleted and made anew, as none of ours has a generated name. The API server
        # refuses all that teams create while the parameters of the admission policies are gone.
        enable_config_map_mutable=True,
        # The identity that runs the program has permissions in the cluster only through its access entry.
        opts=pulumi.ResourceOptions(parent=parent, depends_on=list(cluster.access)),
    )
