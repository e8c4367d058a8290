"""Pods with as few rights as work needs: what Pod Security calls `restricted`, and a root that nobody writes."""

from __future__ import annotations

from typing import Any, Final

from pulumi_policy import Severity

from policies.access import Node
from policies.fixtures import Fixture, edited, one
from policies.levels import Levels
from policies.pods import Pod, node_software, of_container
from policies.rule import Check, ResourceRule
from policies.tokens import DEPLOYMENT, POD, WORKLOADS

_LOWEST: Final = 1000
"""Users below are of the system (Debian Policy, section 9.2.2, which images of NVIDIA and Python follow)."""


def _as_root(pod: Pod, container: Node) -> Node | None:
    node, user = pod.security(container, "runAsNonRoot"), pod.security(container, "runAsUser")
    named = user.unknown or (user.known and user.raw != 0)
    return None if named or not node.is_false(default=False) else node


def _root_named(pod: Pod, container: Node) -> Node | None:
    user = pod.security(container, "runAsUser")
    return user if user.raw == 0 else None


def _root_group(pod: Pod, container: Node) -> Node | None:
    group = pod.security(container, "runAsGroup")
    return group if group.raw == 0 else None


def _low(pod: Pod, container: Node) -> Node | None:
    user = pod.security(container, "runAsUser")
    number = user.number()
    return user if number is not None and 0 < number < _LOWEST else None


def _escalates(_: Pod, container: Node) -> Node | None:
    node = container["securityContext"]["allowPrivilegeEscalation"]
    return node if node.is_true(default=True) else None


def _keeps(_: Pod, container: Node) -> Node | None:
    drop = container["securityContext"]["capabilities"]["drop"]
    dropped = [entry.unknown or str(entry.raw).upper() == "ALL" for entry in drop.items()]
    return None if drop.unknown or any(dropped) else drop


def _unfiltered(pod: Pod, container: Node) -> Node | None:
    node = pod.security(container, "seccompProfile")["type"]
    return node if node.is_not("RuntimeDefault", "Localhost") else None


def _writable(_: Pod, container: Node) -> Node | None:
    node = container["securityContext"]["readOnlyRootFilesystem"]
    return node if node.is_false(default=False) else None


_POD: Final[dict[str, Any]] = {
    "metadata": {"namespace": "vision"},
    "spec": {
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "runAsGroup": 1000,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "main",
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    },
}
_OF_POD: Final = "spec.securityContext"
_OF_CONTAINER: Final = "spec.containers.0.securityContext"


def _bad(path: str, *values: Any) -> tuple[Fixture, ...]:
    return tuple(one(edited(_POD, path, value), type=POD) for value in values)


def _without(path: str) -> tuple[Fixture, ...]:
    return (one(edited(_POD, path), type=POD),)


def _unset(path: str, *values: Any) -> tuple[Fixture, ...]:
    return (*_without(path), *_bad(path, *values))


_NO_USER: Final = edited(_POD, f"{_OF_POD}.runAsUser")

POD_RESTRICTED = ResourceRule(
    name="pod-restricted",
    title="A pod runs as a user of its own, without the rights of root",
    types=WORKLOADS,
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    why="What breaks out of a container is what it was inside.",
    fix="Set runAsNonRoot, allowPrivilegeEscalation false, capabilities.drop [ALL] and seccompProfile RuntimeDefault.",
    settings=node_software(),
    checks={
        "non-root": Check(
            asks="must be true, or runAsUser be set",
            find=of_container(_as_root),
            external_ids=("CKV_K8S_23", "CKV_K8S_29", "CKV_K8S_30", "KSV-0012", "KSV-0118"),
            bad=(
                one(edited(_NO_USER, f"{_OF_POD}.runAsNonRoot"), type=POD),
                one(edited(_NO_USER, f"{_OF_POD}.runAsNonRoot", False), type=POD),
                one(edited(_NO_USER, f"{_OF_CONTAINER}.runAsNonRoot", False), type=POD),
            ),
        ),
        "root": Check(
            asks="must not be 0",
            find=of_container(_root_named),
            external_ids=("KSV-0105",),
            bad=_bad(f"{_OF_POD}.runAsUser", 0),
        ),
        "group": Check(
            asks="must not be 0",
            find=of_container(_root_group),
            external_ids=("KSV-0021", "KSV-0116"),
            bad=_bad(f"{_OF_POD}.runAsGroup", 0),
        ),
        "high-user": Check(
            asks="must be 1000 or more",
            find=of_container(_low),
            external_ids=("CKV_K8S_40", "KSV-0020"),
            bad=_bad(f"{_OF_POD}.runAsUser", 1, 999),
        ),
        "escalation": Check(
            asks="must be false",
            find=of_container(_escalates),
            external_ids=("CKV_K8S_20", "KSV-0001", "CIS-4.2.5"),
            bad=(
                *_bad(f"{_OF_CONTAINER}.allowPrivilegeEscalation", True),
                *_without(f"{_OF_CONTAINER}.allowPrivilegeEscalation"),
            ),
        ),
        "capabilities": Check(
            asks="must drop ALL",
            find=of_container(_keeps),
            external_ids=("CKV_K8S_28", "CKV_K8S_37", "KSV-0003", "KSV-0004", "KSV-0106"),
            bad=(
                *_without(f"{_OF_CONTAINER}.capabilities"),
                *_bad(f"{_OF_CONTAINER}.capabilities.drop", ["NET_RAW"], []),
            ),
        ),
        "seccomp": Check(
            asks="must be RuntimeDefault or Localhost",
            find=of_container(_unfiltered),
            external_ids=("CKV_K8S_31", "KSV-0030", "KSV-0104"),
            bad=(*_without(f"{_OF_POD}.seccompProfile"), *_bad(f"{_OF_POD}.seccompProfile.type", "Unconfined")),
        ),
    },
    good=(
        one(_POD, type=POD),
        one(_NO_USER, type=POD),
        one(edited(_POD, f"{_OF_POD}.runAsNonRoot"), type=POD),
        one(edited(_POD, f"{_OF_CONTAINER}.capabilities.drop", ["all"]), type=POD),
        one(edited(edited(_POD, f"{_OF_POD}.runAsUser", 0), f"{_OF_CONTAINER}.runAsUser", 65532), type=POD),
        one(edited(_POD, f"{_OF_POD}.seccompProfile.type", "Localhost"), type=POD),
        one({"spec": {"template": {"spec": _POD["spec"]}}}, type=DEPLOYMENT),
        one({"metadata": {"namespace": "gpu-operator"}, "spec": {"containers": [{"name": "driver"}]}}, type=POD),
    ),
)

POD_READ_ONLY = ResourceRule(
    name="pod-read-only-root",
    title="A container writes to its volumes and not into its image",
    types=WORKLOADS,
    severity=Severity.LOW,
    levels=Levels("A/A/A"),
    why="What an attacker can't write he can't run; but servers that compile models for the GPU write where they like.",
    fix="Set readOnlyRootFilesystem and give the container an emptyDir for what it writes.",
    settings=node_software(),
    checks={
        "read-only": Check(
            asks="must be true",
            find=of_container(_writable),
            external_ids=("CKV_K8S_22", "KSV-0014"),
            bad=(
                *_without(f"{_OF_CONTAINER}.readOnlyRootFilesystem"),
                *_bad(f"{_OF_CONTAINER}.readOnlyRootFilesystem", False),
            ),
        ),
    },
    good=(
        one(_POD, type=POD),
        one({"metadata": {"namespace": "gpu-operator"}, "spec": {"containers": [{"name": "driver"}]}}, type=POD),
    ),
)

RULES = (POD_RESTRICTED, POD_READ_ONLY)
