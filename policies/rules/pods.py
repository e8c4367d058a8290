"""Pods: isolation from the node, the restricted profile, sizes, images and tokens."""

from collections.abc import Iterator
from typing import Any, Final

from policies.checks.images import REFERENCE, images, place, trusted
from policies.checks.pods import Pod, exempt, node_software, of_container, of_pod, pods
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import COMPLETE, SECRET, SERVICE_ACCOUNT, SERVING_RUNTIME, TRAINING_RUNTIME, WORKLOADS
from policies.rule import Context, ResourceRule, Violation, setting, violation
from spec.catalog.software import IMAGES

_CAPABILITIES: Final = (
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
)  # fmt: skip
"""Capabilities that `baseline` allows (kubernetes.io, "Pod Security Standards"; read 2026-11)."""
_SYSCTLS: Final = (
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
)  # fmt: skip
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
    types=WORKLOADS,
    settings=node_software(),
    finds={
        "privileged": of_container(
            lambda _, container: _is_true(container["securityContext"]["privileged"]), steps=True
        ),
        "host-pid": _host("hostPID"),
        "host-ipc": _host("hostIPC"),
        "host-network": _host("hostNetwork"),
        "host-path": of_pod(_host_path, steps=True),
        "host-port": of_container(_host_port, steps=True),
        "capability": of_container(_added, steps=True),
        "sysctl": of_pod(_sysctl),
        "proc": of_container(_mounted_proc),
        "apparmor": of_container(_unconfined),
        "selinux": of_container(_selinux),
    },
)


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
    types=WORKLOADS,
    settings=node_software(),
    finds={
        "non-root": of_container(_as_root),
        "root": of_container(_root_user),
        "group": of_container(_root_group),
        "high-user": of_container(_system_user),
        "escalation": of_container(_escalates),
        "capabilities": of_container(_not_dropped),
        "seccomp": of_container(_unfiltered),
    },
)

POD_READ_ONLY = ResourceRule(
    name="pod-read-only-root",
    types=WORKLOADS,
    settings=node_software(),
    finds={"read-only": of_container(_writable)},
)


_REMOVED: Final = (
    "extensions/v1beta1", "apps/v1beta1", "apps/v1beta2", "batch/v1beta1", "policy/v1beta1", "batch/v2alpha1",
)  # fmt: skip
"""API versions of workloads that no supported version serves (kubernetes.io, "Deprecated API Migration Guide")."""


def _without(section: str, resource: str, *, with_devices: bool = False) -> Any:
    """Containers without a request or limit: all, or only those with devices."""

    def missing(_: Pod, container: Node) -> Node | None:
        node, limits = container["resources"][section][resource], container["resources"]["limits"]
        devices = isinstance(limits.raw, dict) and any("/" in name for name in limits.raw)
        return node if node.missing and (devices or not with_devices) else None

    return of_container(missing)


def _floating(_: Pod, container: Node) -> Node | None:
    image = container["image"]
    reference = REFERENCE.match(image.text() or "x:1")
    fixed = reference is not None and (reference["digest"] or reference["tag"] not in (None, "latest"))
    return None if fixed else image


def _untrusted(resource: Resource, context: Context) -> Iterator[Violation]:
    return (violation(image) for image in images(resource.props) if not trusted(str(image.raw), context))


def _default_namespace(resource: Resource, context: Context) -> Iterator[Violation]:
    namespace = resource["metadata"]["namespace"]
    if namespace.raw == "default" and not exempt(resource, context) and any(pods(resource)):
        yield violation(namespace)


def _token(pod: Pod) -> Node | None:
    """A pod with its own service account is expected to use the token."""
    node, account = pod.spec["automountServiceAccountToken"], pod.spec["serviceAccountName"]
    own = account.unknown or (account.known and account.raw != "default")
    return None if own or not node.is_true(default=True) else node


def _default_account(resource: Resource, context: Context) -> Iterator[Violation]:
    token = resource["automountServiceAccountToken"]
    default = resource.type == SERVICE_ACCOUNT and resource["metadata"]["name"].raw == "default"
    if default and token.is_true(default=True) and not exempt(resource, context):
        yield violation(token)


def _secret_in_environment(_: Pod, container: Node) -> Node | None:
    names = [entry["valueFrom"]["secretKeyRef"] for entry in container["env"].items()]
    names += [entry["secretRef"] for entry in container["envFrom"].items()]
    return next((name for name in names if name.known), None)


def _removed(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource["apiVersion"].raw in _REMOVED:
        yield violation(resource["apiVersion"])


POD_SIZED = ResourceRule(
    name="pod-sized",
    types=COMPLETE,
    settings=node_software(),
    finds={
        "cpu": _without("requests", "cpu"),
        "memory": _without("requests", "memory"),
        "memory-limit": _without("limits", "memory"),
    },
)

RUNTIME_SIZED = ResourceRule(
    name="runtime-sized",
    types=(TRAINING_RUNTIME, SERVING_RUNTIME),
    finds={
        "cpu": _without("requests", "cpu", with_devices=True),
        "memory": _without("requests", "memory", with_devices=True),
        "memory-limit": _without("limits", "memory", with_devices=True),
    },
)

POD_TRUSTED = ResourceRule(
    name="pod-trusted-image",
    types=WORKLOADS,
    settings={
        "repositories": setting(
            "repositories of images beside the account's own; all of an owner's if one ends with a slash",
            sorted({place(image, "") for image in IMAGES}),
        )
    },
    finds={
        "version": of_container(_floating, steps=True),
        "registry": _untrusted,
    },
)

POD_HYGIENE = ResourceRule(
    name="pod-hygiene",
    types=(*COMPLETE, SECRET, SERVICE_ACCOUNT),
    settings=node_software(),
    finds={
        "namespace": _default_namespace,
        "token": of_pod(_token),
        "default-account": _default_account,
        "environment": of_container(_secret_in_environment),
        "version": _removed,
    },
)
