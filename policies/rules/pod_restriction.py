"""Least privilege of pods: the Pod Security level `restricted`, and read-only root file systems."""

from __future__ import annotations

from typing import Final

from pulumi_policy import Severity

from policies.checks.pods import Pod, node_software, of_container
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.tokens import WORKLOADS
from policies.rule import Check, ResourceRule

_LOWEST: Final = 1000
"""User IDs below are system users (Debian Policy, section 9.2.2, which images of NVIDIA and Python follow)."""


def _as_root(pod: Pod, container: Node) -> Node | None:
    node, user = pod.security(container, "runAsNonRoot"), pod.security(container, "runAsUser")
    named = user.unknown or (user.known and user.raw != 0)
    return None if named or not node.is_false(default=False) else node


def _root_user(pod: Pod, container: Node) -> Node | None:
    user = pod.security(container, "runAsUser")
    return user if user.raw == 0 else None


def _root_group(pod: Pod, container: Node) -> Node | None:
    group = pod.security(container, "runAsGroup")
    return group if group.raw == 0 else None


def _system_user(pod: Pod, container: Node) -> Node | None:
    user = pod.security(container, "runAsUser")
    number = user.number()
    return user if number is not None and 0 < number < _LOWEST else None


def _escalates(_: Pod, container: Node) -> Node | None:
    node = container["securityContext"]["allowPrivilegeEscalation"]
    return node if node.is_true(default=True) else None


def _not_dropped(_: Pod, container: Node) -> Node | None:
    drop = container["securityContext"]["capabilities"]["drop"]
    dropped = [entry.unknown or str(entry.raw).upper() == "ALL" for entry in drop.items()]
    return None if drop.unknown or any(dropped) else drop


def _unfiltered(pod: Pod, container: Node) -> Node | None:
    node = pod.security(container, "seccompProfile")["type"]
    return node if node.is_not("RuntimeDefault", "Localhost") else None


def _writable(_: Pod, container: Node) -> Node | None:
    node = container["securityContext"]["readOnlyRootFilesystem"]
    return node if node.is_false(default=False) else None


POD_RESTRICTED = ResourceRule(
    name="pod-restricted",
    title="Pods run as an unprivileged user",
    types=WORKLOADS,
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    why="A process that escapes its container keeps the user and the capabilities that it had inside.",
    fix="Set runAsNonRoot, allowPrivilegeEscalation false, capabilities.drop [ALL] and seccompProfile RuntimeDefault.",
    settings=node_software(),
    checks={
        "non-root": Check(
            asks="must be true, or runAsUser must be set",
            find=of_container(_as_root),
            external_ids=("CKV_K8S_23", "CKV_K8S_29", "CKV_K8S_30", "KSV-0012", "KSV-0118"),
        ),
        "root": Check(
            asks="must not be 0",
            find=of_container(_root_user),
            external_ids=("KSV-0105",),
        ),
        "group": Check(
            asks="must not be 0",
            find=of_container(_root_group),
            external_ids=("KSV-0021", "KSV-0116"),
        ),
        "high-user": Check(
            asks="must be 1000 or more",
            find=of_container(_system_user),
            external_ids=("CKV_K8S_40", "KSV-0020"),
        ),
        "escalation": Check(
            asks="must be false",
            find=of_container(_escalates),
            external_ids=("CKV_K8S_20", "KSV-0001", "CIS-4.2.5"),
        ),
        "capabilities": Check(
            asks="must drop ALL",
            find=of_container(_not_dropped),
            external_ids=("CKV_K8S_28", "CKV_K8S_37", "KSV-0003", "KSV-0004", "KSV-0106"),
        ),
        "seccomp": Check(
            asks="must be RuntimeDefault or Localhost",
            find=of_container(_unfiltered),
            external_ids=("CKV_K8S_31", "KSV-0030", "KSV-0104"),
        ),
    },
)

POD_READ_ONLY = ResourceRule(
    name="pod-read-only-root",
    title="Containers have a read-only root file system",
    types=WORKLOADS,
    severity=Severity.LOW,
    levels=Levels("A/A/A"),
    why="An attacker can't run what can't be written; the rule is advisory because servers that compile models for "
    "the GPU write to various paths.",
    fix="Set readOnlyRootFilesystem, and mount an emptyDir where the container writes.",
    settings=node_software(),
    checks={
        "read-only": Check(
            asks="must be true",
            find=of_container(_writable),
            external_ids=("CKV_K8S_22", "KSV-0014"),
        ),
    },
)

RULES = (POD_RESTRICTED, POD_READ_ONLY)
