"""Fluent Bit: logs of containers to CloudWatch Logs or S3 (fluentbit.io), from a DaemonSet that may write logs and
nothing else.

Namespace, pod and container of a line are read from the name of its file, not from the API server: a DaemonSet on
hundreds of nodes would be its largest client, and labels and annotations of a pod would cost more to ingest than most
lines (kubelet names the files `<pod>_<namespace>_<container>-<container ID>.log`; kubernetes, pkg/kubelet/kuberuntime,
`logSymlink`). Options: docs.fluentbit.io, 5.1, and the option tables of its plugins (fluent/fluent-bit v5.1.1, plugins/
in_tail, filter_parser, out_cloudwatch_logs, out_s3; read 2026-11).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pulumi

from components.base.addon import AddOnContext, AddOnFacts, ChartAddOn, Permissions
from components.base.iam import Inline, Statement, document
from components.base.operator import UNPRIVILEGED
from components.base.outputs import ClusterOutputs
from components.base.placement import every_toleration, sized
from components.storage.buckets import CONTAINER_LOGS
from components.storage.container_logs import PLATFORM, container_groups
from spec.catalog.software import CHARTS
from spec.settings.addons.observability import FluentBit as Settings

STATE: Final = "/var/lib/fluent-bit"
"""Directory on the node: positions in files, and chunks that were not delivered yet. They outlive the pod."""
FIELDS: Final = ("log", "stream", "namespace", "pod", "container", "node", "group")
"""Fields of a record that are kept; CloudWatch Logs bills every byte."""
BUFFER: Final = "500M"
"""Limit of undelivered chunks on a node, without which an outage of the destination would fill its disk."""

Section = Sequence[tuple[str, str]]


def section(kind: str, entries: Section) -> str:
    """One section of the configuration."""
    lines = [f"    {key} {value}" for key, value in entries]
    return "\n".join([f"[{kind}]", *lines]) + "\n"


def service() -> str:
    """The server: positions and chunks on disk, metrics and health on port 2020."""
    return section(
        "SERVICE",
        [
            ("Daemon", "Off"),
            ("Flush", "5"),
            ("Log_Level", "warn"),
            ("Parsers_File", "/fluent-bit/etc/parsers.conf"),
            ("Parsers_File", "/fluent-bit/etc/conf/custom_parsers.conf"),
            ("HTTP_Server", "On"),
            ("HTTP_Listen", "0.0.0.0"),  # noqa: S104 - of the pod; a NetworkPolicy lets only Prometheus in
            ("HTTP_Port", "2020"),
            ("Health_Check", "On"),
            ("storage.path", f"{STATE}/chunks"),
            ("storage.backlog.mem_limit", "16M"),
        ],
    )


def inputs(own: str) -> str:
    """All containers of the node, except Fluent Bit's own, whose errors would cause new lines.

    Args:
        own: Its namespace.
    """
    return section(
        "INPUT",
        [
            ("Name", "tail"),
            ("Tag", "kube"),
            ("Path", "/var/log/containers/*.log"),
            ("Exclude_Path", f"/var/log/containers/fluent-bit-*_{own}_*.log"),
            ("Path_Key", "file"),
            ("multiline.parser", "cri"),
            ("DB", f"{STATE}/positions.db"),
            ("DB.locking", "On"),
            # Pods of a new node may start before this one.
            ("Read_from_Head", "On"),
            ("Refresh_Interval", "5"),
            ("Buffer_Max_Size", "256k"),
            ("Skip_Long_Lines", "On"),
            ("storage.type", "filesystem"),
        ],
    )


def file_pattern(namespaces: Sequence[str]) -> str:
    """Regular expression (Onigmo) of a file's name.

    Args:
        namespaces: Namespaces that have a log group of their own; without any the pattern matches all namespaces, and
            has no group `group`.
    """
    own = "|".join(re.escape(name).replace(r"\-", "-") for name in namespaces)
    namespace = f"(?<namespace>(?<group>{own}))" if namespaces else "(?<namespace>[^_]+)"
    return rf"^.*/(?<pod>[^_/]+)_{namespace}_(?<container>.+)-[0-9a-f]{{64}}\.log$"


def parsers(namespaces: Sequence[str]) -> str:
    """Parsers of the file's name: of namespaces with a group of their own, then of all others."""
    named = {"own-group": file_pattern(namespaces)} if namespaces else {}
    patterns = {**named, "any-group": file_pattern(())}
    return "\n".join(
        section("PARSER", [("Name", name), ("Format", "regex"), ("Regex", pattern)])
        for name, pattern in patterns.items()
    )


def filters(namespaces: Sequence[str]) -> str:
    """Namespace, pod, container, node and group of each record, and nothing that isn't needed."""
    tried = [("Parser", "own-group")] if namespaces else []
    named = [("Name", "parser"), ("Match", "kube"), ("Key_Name", "file")]
    return "\n".join(
        [
            section("FILTER", [*named, *tried, ("Parser", "any-group"), ("Reserve_Data", "On")]),
            # `Add` adds a field only if it doesn't exist.
            section("FILTER", [("Name", "modify"), ("Match", "kube"), ("Add", f"group {PLATFORM}")]),
            section(
                "FILTER",
                [
                    ("Name", "record_modifier"),
                    ("Match", "kube"),
                    ("Record", "node ${NODE_NAME}"),
                    *(("Allowlist_key", field) for field in FIELDS),
                ],
            ),
        ]
    )


def cloud_watch(region: str, groups: str) -> str:
    """Output to one log group for each namespace of a team and one for the rest; a stream for each container.

    The groups exist: it may not create any.

    Args:
        region: AWS Region.
        groups: Prefix of the groups' names.
    """
    return section(
        "OUTPUT",
        [
            ("Name", "cloudwatch_logs"),
            ("Match", "kube"),
            ("region", region),
            ("log_group_name", f"{groups}/{PLATFORM}"),
            ("log_group_template", f"{groups}/$group"),
            ("log_stream_prefix", "unnamed-"),
            ("log_stream_template", "$pod.$container"),
            ("auto_create_group", "Off"),
            *_LIMITS,
        ],
    )


def s3(region: str, bucket: str, prefix: str) -> str:
    """Output of compressed files to a bucket, one for each node and ten minutes.

    Args:
        region: AWS Region.
        bucket: Name of the bucket.
        prefix: Prefix of its objects.
    """
    return section(
        "OUTPUT",
        [
            ("Name", "s3"),
            ("Match", "kube"),
            ("region", region),
            ("bucket", bucket),
            ("s3_key_format", f"/{prefix}/%Y/%m/%d/%H/${{NODE_NAME}}-$UUID.gz"),
            ("compression", "gzip"),
            ("use_put_object", "On"),
            ("total_file_size", "50M"),
            ("upload_timeout", "10m"),
            ("store_dir", f"{STATE}/s3"),
            ("store_dir_limit_size", BUFFER),
            *_LIMITS,
        ],
    )


_LIMITS: Final = (("Retry_Limit", "10"), ("storage.total_limit_size", BUFFER))


NAME: Final = "fluent-bit"
NAMESPACE: Final = "logging"
MONITORING: Final = "monitoring"


class FluentBit(ChartAddOn[Settings]):
    """The DaemonSet. Its namespace is privileged because it reads the log files of the host."""

    name = NAME
    software = CHARTS["fluent-bit"]

    def boundaries(self, _facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """Who reaches its pods."""
        return {"ingress": ingress()}

    def permissions(self, context: AddOnContext) -> Sequence[Permissions]:
        """Permission to write to its destination."""
        by_cloud_watch = self.settings.destination == "cloudwatch"
        policy = to_groups(context.cluster) if by_cloud_watch else context.storage.buckets["logs"].arn.apply(to_bucket)
        return (Permissions(service_account=NAME, policy=Inline(document=policy)),)

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values with the output of its destination."""
        cluster, bucket = context.cluster, context.storage.buckets["logs"]
        if self.settings.destination == "cloudwatch":
            return values(context, output=cloud_watch(cluster.region, container_groups(cluster.owner)))
        return values(context, output=bucket.name.apply(lambda name: s3(cluster.region, name, CONTAINER_LOGS)))


def to_groups(cluster: ClusterOutputs) -> str:
    """Permission to write to the log groups of the containers; they exist, so it needs no other."""
    groups = f"arn:{cluster.partition}:logs:{cluster.region}:{cluster.account_id}:log-group:"
    return document(
        Statement(
            "Write", ["logs:CreateLogStream", "logs:PutLogEvents"], [f"{groups}{container_groups(cluster.owner)}/*"]
        )
    )


def to_bucket(arn: str) -> str:
    """Permission to write objects below its prefix; the bucket is encrypted with S3's own key."""
    return document(Statement("Write", ["s3:PutObject"], [f"{arn}/{CONTAINER_LOGS}/*"]))


def values(context: AddOnContext, *, output: pulumi.Input[str]) -> dict[str, Any]:
    """Values of the chart (0.58.1) that differ from its defaults.

    Args:
        context: The platform.
        output: The output section of the configuration.
    """
    namespaces = sorted(space for name, team in context.teams.items() for space in team.namespaces_of(name))
    return {
        "testFramework": {"enabled": False},
        "serviceAccount": {"create": True, "name": NAME, "automountServiceAccountToken": False},
        # It doesn't use the API server.
        "rbac": {"create": False},
        "serviceMonitor": {"enabled": context.monitored},
        "config": {
            "service": service(),
            "inputs": inputs(NAMESPACE),
            "filters": filters(namespaces),
            "customParsers": parsers(namespaces),
            "outputs": output,
        },
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "podSecurityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        # Root owns the log files, and only it may read them; no other privilege of root is needed.
        "securityContext": {**UNPRIVILEGED, "readOnlyRootFilesystem": True, "runAsUser": 0},
        "daemonSetVolumes": [
            {"name": "logs", "hostPath": {"path": "/var/log", "type": "Directory"}},
            {"name": "state", "hostPath": {"path": STATE, "type": "DirectoryOrCreate"}},
        ],
        "daemonSetVolumeMounts": [
            {"name": "logs", "mountPath": "/var/log", "readOnly": True},
            {"name": "state", "mountPath": STATE},
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
