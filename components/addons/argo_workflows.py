"""Argo Workflows: pipelines of steps, each a pod, with artifacts in the bucket `state`
(argo-workflows.readthedocs.io).
"""

from collections.abc import Sequence
from typing import Any, Final

import pulumi

from components.base.addon import AddOnContext, ChartAddOn, Permissions
from components.base.iam import Inline, Statement, document
from components.base.placement import keeps_one, sized
from components.storage.buckets import ARTIFACTS, artifacts_of
from spec.catalog.software import CHARTS
from spec.settings.addons.batch import ArgoWorkflows as Settings

KEYS: Final = artifacts_of("{{workflow.namespace}}") + "{{workflow.name}}/{{pod.name}}"
"""Key of an artifact in the bucket: below the prefix of its namespace, which only pods of that namespace may write to
(`components.tenancy.workload_permissions`)."""
SERVER: Final = "argo-workflows-server"
WORKLOAD: Final = "workload"
"""Service account of workloads in team namespaces; steps run as it and write artifacts with its permissions."""


class ArgoWorkflows(ChartAddOn[Settings]):
    """Controller and server; the server reads artifacts to show them. Steps run in the namespace of their workflow."""

    name = "argo-workflows"
    software = CHARTS["argo-workflows"]

    def permissions(self, context: AddOnContext) -> Sequence[Permissions]:
        """Permissions of the server on the bucket."""
        known = pulumi.Output.all(bucket=context.storage.buckets["state"].arn, key=context.storage.key_arn)
        reading = Inline(document=known.apply(lambda arns: reading_policy(**arns)))
        return (Permissions(service_account=SERVER, policy=reading),)

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values for this cluster and its bucket."""
        return values(
            self.settings,
            bucket=context.storage.buckets["state"].name,
            region=context.cluster.region,
            placement=context.placement,
            monitored=context.monitored,
        )


def reading_policy(bucket: str, key: str) -> str:
    """Permissions to read artifacts, for the server. Steps write with the permissions of their own service account."""
    return document(
        Statement(
            "FindArtifacts", ["s3:ListBucket"], [bucket], conditions={"StringLike": {"s3:prefix": [f"{ARTIFACTS}/*"]}}
        ),
        Statement("ReadArtifacts", ["s3:GetObject"], [f"{bucket}/{ARTIFACTS}/*"]),
        Statement("DecryptArtifacts", ["kms:Decrypt"], [key]),
    )


def values(
    settings: Settings, *, bucket: pulumi.Input[str], region: str, placement: dict[str, Any], monitored: bool
) -> dict[str, Any]:
    """Values of the chart (1.0.18) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        bucket: Name of the artifact bucket.
        region: AWS Region of the bucket.
        placement: `nodeSelector` and `tolerations` of its pods.
        monitored: Whether Prometheus is installed.
    """
    sealed = {"seccompProfile": {"type": "RuntimeDefault"}}
    budget = {"pdb": {"enabled": True, "minAvailable": 1}} if keeps_one(settings.replicas) else {}
    return {
        # A job downloads full CRDs from the internet; the minimal ones are in the chart, but barely validate. The
        # controller validates workflows itself.
        "crds": {"install": True, "keep": True, "full": False},
        "controller": {
            "replicas": settings.replicas,
            "resources": sized("100m", "512Mi"),
            "podSecurityContext": sealed,
            # All namespaces: RBAC of their service accounts decides which of them can run workflows.
            "workflowNamespaces": [],
            "parallelism": settings.parallelism,
            "namespaceParallelism": settings.namespace_parallelism,
            "workflowDefaults": {
                "spec": {
                    "serviceAccountName": WORKLOAD,
                    "ttlStrategy": {"secondsAfterCompletion": settings.keep_days * 86400},
                    # Pods of successful steps are deleted immediately; failed ones are kept for debugging.
                    "podGC": {"strategy": "OnPodSuccess"},
                }
            },
            "metricsConfig": {"enabled": monitored},
            "serviceMonitor": {"enabled": monitored},
            **budget,
            **placement,
        },
        "executor": {"resources": sized("10m", "128Mi")},
        "server": {
            "replicas": settings.replicas,
            "resources": sized("50m", "256Mi"),
            "podSecurityContext": sealed,
            # Users see workflows with their own permissions in the cluster.
            "authModes": ["client"],
            **budget,
            **placement,
        },
        # No access keys: the SDK's credential chain finds EKS Pod Identity.
        "useStaticCredentials": False,
        "artifactRepository": {
            "archiveLogs": True,
            "s3": {
                "bucket": bucket,
                "region": region,
                "endpoint": "s3.amazonaws.com",
                "useSDKCreds": True,
                "keyFormat": KEYS,
            },
        },
    }
