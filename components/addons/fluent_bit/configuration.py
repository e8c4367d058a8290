"""Fluent Bit's configuration (classic format). Pure.

Namespace, pod and container of a line are read from the name of its file, not from the API server: a DaemonSet on
hundreds of nodes would be its largest client, and labels and annotations of a pod would cost more to ingest than most
lines (kubelet names the files `<pod>_<namespace>_<container>-<container ID>.log`; kubernetes, pkg/kubelet/kuberuntime,
`logSymlink`). Options: docs.fluentbit.io, 5.1, and the option tables of its plugins (fluent/fluent-bit v5.1.1, plugins/
in_tail, filter_parser, out_cloudwatch_logs, out_s3; read 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from components.storage.container_logs import PLATFORM

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
