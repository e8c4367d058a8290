"""Isolation of pods from their node: the Pod Security level `baseline`."""

from __future__ import annotations

from typing import Any, Final

from pulumi_policy import Severity

from policies.checks.pods import Pod, node_software, of_container, of_pod
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.tokens import WORKLOADS
from policies.rule import Check, ResourceRule

_CAPABILITIES: Final = (
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
)
"""Capabilities that `baseline` allows (kubernetes.io, "Pod Security Standards"; read 2026-11)."""
_SYSCTLS: Final = (
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
)
"""Sysctls that `baseline` allows (same source)."""
_SELINUX: Final = ("container_t", "container_init_t", "container_kvm_t", "container_engine_t")


def _is_true(node: Node) -> Node | None:
    return node if node.is_true() else None


def _host(key: str) -> Any:
    return of_pod(lambda pod: _is_true(pod.spec[key]))


def _host_path(pod: Pod) -> Node | None:
    return next((v["hostPath"] for v in pod.spec["volumes"].items() if v["hostPath"].known), None)


def _host_port(_: Pod, container: Node) -> Node | None:
    ports = [port["hostPort"] for port in container["ports"].items()]
    return next((port for port in ports if port.known and port.raw != 0), None)


def _added(_: Pod, container: Node) -> Node | None:
    added = container["securityContext"]["capabilities"]["add"].items()
    return next((one for one in added if one.known and one.raw not in _CAPABILITIES), None)


def _sysctl(pod: Pod) -> Node | None:
    names = [entry["name"] for entry in pod.spec["securityContext"]["sysctls"].items()]
    return next((name for name in names if name.known and name.raw not in _SYSCTLS), None)


def _mounted_proc(_: Pod, container: Node) -> Node | None:
    node = container["securityContext"]["procMount"]
    return node if node.known and node.raw != "Default" else None


def _unconfined(pod: Pod, container: Node) -> Node | None:
    node = pod.security(container, "appArmorProfile")["type"]
    return node if node.raw == "Unconfined" else None


def _selinux(pod: Pod, container: Node) -> Node | None:
    node = pod.security(container, "seLinuxOptions")["type"]
    return node if node.known and node.raw not in _SELINUX else None


POD_ISOLATED = ResourceRule(
    name="pod-isolated",
    title="Pods are isolated from the node and from other pods",
    types=WORKLOADS,
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="A pod with the host's namespaces, devices or paths controls the node, and with it the Secrets of all its "
    "pods.",
    fix="Remove it; node software that needs it belongs in a namespace of the rule's setting.",
    settings=node_software(),
    checks={
        "privileged": Check(
            asks="must be false",
            find=of_container(lambda _, container: _is_true(container["securityContext"]["privileged"])),
            external_ids=("CKV_K8S_16", "KSV-0017", "CIS-4.2.1"),
        ),
        "host-pid": Check(
            asks="must be false",
            find=_host("hostPID"),
            external_ids=("CKV_K8S_17", "KSV-0010", "CIS-4.2.2"),
        ),
        "host-ipc": Check(
            asks="must be false",
            find=_host("hostIPC"),
            external_ids=("CKV_K8S_18", "KSV-0008", "CIS-4.2.3"),
        ),
        "host-network": Check(
            asks="must be false",
            find=_host("hostNetwork"),
            external_ids=("CKV_K8S_19", "KSV-0009", "CIS-4.2.4"),
        ),
        "host-path": Check(
            asks="must be another kind of volume",
            find=of_pod(_host_path),
            external_ids=("CKV_K8S_27", "KSV-0006", "KSV-0023", "KSV-0028", "KSV-0121"),
        ),
        "host-port": Check(
            asks="must not be set",
            find=of_container(_host_port),
            external_ids=("CKV_K8S_26", "KSV-0024"),
        ),
        "capability": Check(
            asks="must be a capability that baseline allows",
            find=of_container(_added),
            external_ids=("CKV_K8S_25", "CKV_K8S_39", "KSV-0005", "KSV-0022", "KSV-0119", "KSV-0120"),
        ),
        "sysctl": Check(
            asks="must be a sysctl that baseline allows",
            find=of_pod(_sysctl),
            external_ids=("KSV-0026",),
        ),
        "proc": Check(
            asks="must be Default",
            find=of_container(_mounted_proc),
            external_ids=("KSV-0027",),
        ),
        "apparmor": Check(
            asks="must not be Unconfined",
            find=of_container(_unconfined),
            external_ids=("KSV-0002",),
        ),
        "selinux": Check(
            asks="must be an SELinux type of containers",
            find=of_container(_selinux),
            external_ids=("KSV-0025",),
        ),
    },
)

RULES = (POD_ISOLATED,)
