"""Fluent Bit as a DaemonSet on every node, with permission to write logs and nothing else."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import pulumi

from components.addons.fluent_bit import configuration
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts, Permissions
from components.base.iam import Inline, Statement, document
from components.base.outputs import ClusterOutputs
from components.base.placement import every_toleration
from components.base.sizing import scraped, sized
from components.storage.container_logs import container_groups, team_namespaces
from components.storage.prefixes import CONTAINER_LOGS
from spec.catalog.charts import FLUENT_BIT
from spec.settings.addons.observability import FluentBit as Settings

NAME: Final = "fluent-bit"
NAMESPACE: Final = "logging"
MONITORING: Final = "monitoring"


class FluentBit(AddOn[Settings]):
    """The DaemonSet. Its namespace is privileged because it reads the log files of the host."""

    name: ClassVar[str] = NAME
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="privileged")

    def parts(self, context: AddOnContext) -> Parts:
        """One release, with permission to write to its destination."""
        cluster, bucket = context.cluster, context.storage.buckets["logs"]
        region = cluster.region
        output: pulumi.Input[str]
        if self.settings.destination == "cloudwatch":
            policy: pulumi.Input[str] = to_groups(cluster)
            output = configuration.cloud_watch(region, container_groups(cluster.name))
        else:
            policy = bucket.arn.apply(to_bucket)
            output = bucket.name.apply(lambda name: configuration.s3(region, name, CONTAINER_LOGS))
        return Parts(
            permissions=[Permissions(service_account=NAME, policy=Inline(document=policy))],
            before={"ingress": ingress()},
            releases=[ChartRelease(ref=FLUENT_BIT, release_name=NAME, values=values(context, output=output))],
        )


def to_groups(cluster: ClusterOutputs) -> str:
    """Permission to write to the log groups of the containers; they exist, so it needs no other."""
    groups = f"arn:{cluster.partition}:logs:{cluster.region}:{cluster.account_id}:log-group:"
    return document(
        Statement(
            sid="Write",
            actions=["logs:CreateLogStream", "logs:PutLogEvents"],
            resources=[f"{groups}{container_groups(cluster.name)}/*"],
        )
    )


def to_bucket(arn: str) -> str:
    """Permission to write objects below its prefix; the bucket is encrypted with S3's own key."""
    return document(Statement(sid="Write", actions=["s3:PutObject"], resources=[f"{arn}/{CONTAINER_LOGS}/*"]))


def values(context: AddOnContext, *, output: pulumi.Input[str]) -> dict[str, Any]:
    """Values of the chart (0.58.1) that differ from its defaults.

    Args:
        context: The platform.
        output: The output section of the configuration.
    """
    namespaces = team_namespaces(context.platform)
    return {
        "testFramework": {"enabled": False},
        "serviceAccount": {"create": True, "name": NAME, "automountServiceAccountToken": False},
        # It doesn't use the API server.
        "rbac": {"create": False},
        "serviceMonitor": {"enabled": scraped(context)},
        "config": {
            "service": configuration.service(),
            "inputs": configuration.inputs(NAMESPACE),
            "filters": configuration.filters(namespaces),
            "customParsers": configuration.parsers(namespaces),
            "outputs": output,
        },
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "podSecurityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        # Root owns the log files, and only it may read them; no other privilege of root is needed.
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
            "runAsUser": 0,
        },
        "daemonSetVolumes": [
            {"name": "logs", "hostPath": {"path": "/var/log", "type": "Directory"}},
            {"name": "state", "hostPath": {"path": configuration.STATE, "type": "DirectoryOrCreate"}},
        ],
        "daemonSetVolumeMounts": [
            {"name": "logs", "mountPath": "/var/log", "readOnly": True},
            {"name": "state", "mountPath": configuration.STATE},
        ],
        "tolerations": every_toleration(context.pools),
        "priorityClassName": "system-node-critical",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
        "resources": sized("50m", "128Mi"),
    }


def ingress() -> dict[str, Any]:
    """Only Prometheus may connect, to the port of health and metrics. Its own connections aren't restricted."""
    monitoring = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": MONITORING}}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {
            "podSelector": {"matchLabels": {"app.kubernetes.io/name": NAME}},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [monitoring], "ports": [{"protocol": "TCP", "port": 2020}]}],
        },
    }
