"""Argo Workflows as a release, with the bucket `state` as its store of artifacts."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import pulumi

from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts, Permissions
from components.base.iam import Inline, Statement, document
from components.base.placement import system_placement
from components.base.sizing import keeps_one, scraped, sized
from components.storage.prefixes import ARTIFACTS, artifacts_of
from spec.catalog.charts import ARGO_WORKFLOWS
from spec.settings.addons.batch import ArgoWorkflows as Settings

KEYS: Final = artifacts_of("{{workflow.namespace}}") + "{{workflow.name}}/{{pod.name}}"
"""Where in the bucket artifacts are: below the place of the namespace, which its pods alone may write to (see
`components.tenancy.workload_permissions`)."""
SERVER: Final = "argo-workflows-server"
WORKLOAD: Final = "workload"
"""Service account of work in the namespaces of teams; steps run as it and write their artifacts by its rights."""


class ArgoWorkflows(AddOn[Settings]):
    """Controller and server, which reads artifacts to show them. Steps run where their workflow is."""

    name: ClassVar[str] = "argo-workflows"
    namespace: ClassVar[Namespace] = Namespace(name="argo", enforce="restricted")

    def parts(self, context: AddOnContext) -> Parts:
        """Rights and one release."""
        bucket = context.storage.buckets["state"]
        known = pulumi.Output.all(bucket=bucket.arn, key=context.storage.key_arn)
        reading = Inline(document=known.apply(lambda found: reading_policy(**found)))
        given = values(
            self.settings,
            bucket=bucket.name,
            region=context.cluster.region,
            placement=system_placement(context),
            monitored=scraped(context),
        )
        return Parts(
            permissions=[Permissions(service_account=SERVER, policy=reading)],
            releases=[ChartRelease(ref=ARGO_WORKFLOWS, release_name="argo-workflows", values=given)],
        )


def reading_policy(bucket: str, key: str) -> str:
    """Reading artifacts, for the server that shows them. Steps write by the rights of their own service account."""
    return document(
        Statement(
            sid="FindArtifacts",
            actions=["s3:ListBucket"],
            resources=[bucket],
            conditions={"StringLike": {"s3:prefix": [f"{ARTIFACTS}/*"]}},
        ),
        Statement(sid="ReadArtifacts", actions=["s3:GetObject"], resources=[f"{bucket}/{ARTIFACTS}/*"]),
        Statement(sid="DecryptArtifacts", actions=["kms:Decrypt"], resources=[key]),
    )


def values(
    settings: Settings,
    *,
    bucket: pulumi.Input[str],
    region: str,
    placement: dict[str, Any],
    monitored: bool,
) -> dict[str, Any]:
    """Values of the chart (1.0.18) that differ from its own.

    Args:
        settings: Settings of the add-on.
        bucket: Name of the bucket of artifacts.
        region: AWS Region of the bucket.
        placement: `nodeSelector` and `tolerations` of its pods.
        monitored: Whether Prometheus is there.
    """
    sealed = {"seccompProfile": {"type": "RuntimeDefault"}}
    budget = {"pdb": {"enabled": True, "minAvailable": 1}} if keeps_one(settings.replicas) else {}
    return {
        # Full CRDs come by a job from the internet; the minimal ones are in the chart and validate as little as
        # `kubectl apply` of a workflow ever did. The controller checks workflows itself.
        "crds": {"install": True, "keep": True, "full": False},
        "controller": {
            "replicas": settings.replicas,
            "resources": sized("100m", "512Mi"),
            "podSecurityContext": sealed,
            # Every namespace: which of them may run workflows is said by their service accounts' rights.
            "workflowNamespaces": [],
            "parallelism": settings.parallelism,
            "namespaceParallelism": settings.namespace_parallelism,
            "workflowDefaults": {
                "spec": {
                    "serviceAccountName": WORKLOAD,
                    "ttlStrategy": {"secondsAfterCompletion": settings.keep_days * 86400},
                    # Pods of steps that went well go at once; those that failed stay to be looked at.
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
            # Who looks at workflows does it with rights of their own in the cluster, and sees what those let them.
            "authModes": ["client"],
            **budget,
            **placement,
        },
        # No keys anywhere: the SDK's chain finds the pod's identity.
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
