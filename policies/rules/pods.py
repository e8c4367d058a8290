"""Pods: isolation from the node, the restricted profile, sizes, images and tokens."""

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.checks.images import REFERENCE, images, place, trusted
from policies.checks.pods import Pod, exempt, node_software, of_container, of_pod, pods
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import COMPLETE, SECRET, SERVICE_ACCOUNT, SERVING_RUNTIME, TRAINING_RUNTIME, WORKLOADS
from policies.rule import Check, Context, Levels, ResourceRule, Violation, setting, violation
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
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    settings=node_software(),
    checks={
        "privileged": Check(
            "must be false",
            of_container(lambda _, container: _is_true(container["securityContext"]["privileged"]), steps=True),
            ("CKV_K8S_16", "KSV-0017", "CIS-4.2.1"),
        ),
        "host-pid": Check("must be false", _host("hostPID"), ("CKV_K8S_17", "KSV-0010", "CIS-4.2.2")),
        "host-ipc": Check("must be false", _host("hostIPC"), ("CKV_K8S_18", "KSV-0008", "CIS-4.2.3")),
        "host-network": Check("must be false", _host("hostNetwork"), ("CKV_K8S_19", "KSV-0009", "CIS-4.2.4")),
        "host-path": Check(
            "must be another kind of volume",
            of_pod(_host_path, steps=True),
            ("CKV_K8S_27", "KSV-0006", "KSV-0023", "KSV-0028", "KSV-0121"),
        ),
        "host-port": Check("must not be set", of_container(_host_port, steps=True), ("CKV_K8S_26", "KSV-0024")),
        "capability": Check(
            "must be a capability that baseline allows",
            of_container(_added, steps=True),
            ("CKV_K8S_25", "CKV_K8S_39", "KSV-0005", "KSV-0022", "KSV-0119", "KSV-0120"),
        ),
        "sysctl": Check("must be a sysctl that baseline allows", of_pod(_sysctl), ("KSV-0026",)),
        "proc": Check("must be Default", of_container(_mounted_proc), ("KSV-0027",)),
        "apparmor": Check("must not be Unconfined", of_container(_unconfined), ("KSV-0002",)),
        "selinux": Check("must be an SELinux type of containers", of_container(_selinux), ("KSV-0025",)),
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
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    settings=node_software(),
    checks={
        "non-root": Check(
            "must be true, or runAsUser must be set",
            of_container(_as_root),
            ("CKV_K8S_23", "CKV_K8S_29", "CKV_K8S_30", "KSV-0012", "KSV-0118"),
        ),
        "root": Check("must not be 0", of_container(_root_user), ("KSV-0105",)),
        "group": Check("must not be 0", of_container(_root_group), ("KSV-0021", "KSV-0116")),
        "high-user": Check("must be 1000 or more", of_container(_system_user), ("CKV_K8S_40", "KSV-0020")),
        "escalation": Check("must be false", of_container(_escalates), ("CKV_K8S_20", "KSV-0001", "CIS-4.2.5")),
        "capabilities": Check(
            "must drop ALL",
            of_container(_not_dropped),
            ("CKV_K8S_28", "CKV_K8S_37", "KSV-0003", "KSV-0004", "KSV-0106"),
        ),
        "seccomp": Check(
            "must be RuntimeDefault or Localhost", of_container(_unfiltered), ("CKV_K8S_31", "KSV-0030", "KSV-0104")
        ),
    },
)

POD_READ_ONLY = ResourceRule(
    name="pod-read-only-root",
    types=WORKLOADS,
    severity=Severity.LOW,
    levels=Levels("A/A/A"),
    settings=node_software(),
    checks={"read-only": Check("must be true", of_container(_writable), ("CKV_K8S_22", "KSV-0014"))},
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
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    settings=node_software(),
    checks={
        "cpu": Check("must be set", _without("requests", "cpu"), ("CKV_K8S_10", "KSV-0015")),
        "memory": Check("must be set", _without("requests", "memory"), ("CKV_K8S_12", "KSV-0016")),
        "memory-limit": Check("must be set", _without("limits", "memory"), ("CKV_K8S_13", "KSV-0018")),
    },
)

RUNTIME_SIZED = ResourceRule(
    name="runtime-sized",
    types=(TRAINING_RUNTIME, SERVING_RUNTIME),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    checks={
        "cpu": Check("must be set", _without("requests", "cpu", with_devices=True)),
        "memory": Check("must be set", _without("requests", "memory", with_devices=True)),
        "memory-limit": Check("must be set", _without("limits", "memory", with_devices=True)),
    },
)

POD_TRUSTED = ResourceRule(
    name="pod-trusted-image",
    types=WORKLOADS,
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    settings={
        "repositories": setting(
            "repositories of images beside the account's own; all of an owner's if one ends with a slash",
            sorted({place(image, "") for image in IMAGES}),
        )
    },
    checks={
        "version": Check(
            "must have a version that is not `latest`, or a digest",
            of_container(_floating, steps=True),
            ("CKV_K8S_14", "KSV-0013"),
        ),
        "registry": Check(
            "must be of a repository of the setting, of the account's own registry, or named in `extensions`",
            _untrusted,
            ("KSV-0034", "KSV-0035", "KSV-0125", "CIS-5.1.4"),
        ),
    },
)  # fmt: skip

POD_HYGIENE = ResourceRule(
    name="pod-hygiene",
    types=(*COMPLETE, SECRET, SERVICE_ACCOUNT),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    settings=node_software(),
    checks={
        "namespace": Check(
            "must not be default", _default_namespace, ("CKV_K8S_21", "KSV-0110", "CIS-4.5.1", "CIS-4.5.2")
        ),
        "token": Check(
            "must be false, or the pod must have its own service account",
            of_pod(_token),
            ("CKV_K8S_38", "KSV-0036", "CIS-4.1.5", "CIS-4.1.6"),
        ),
        "default-account": Check(
            "must be false for the default service account", _default_account, ("CKV_K8S_41", "CIS-4.1.5")
        ),
        "environment": Check(
            "must be a file instead of an environment variable",
            of_container(_secret_in_environment),
            ("CKV_K8S_35", "CIS-4.4.1"),
        ),
        "version": Check("must be an API version that supported Kubernetes versions serve", _removed, ("KSV-0107",)),
    },
)


RULES = (POD_ISOLATED, POD_RESTRICTED, POD_READ_ONLY, POD_SIZED, RUNTIME_SIZED, POD_TRUSTED, POD_HYGIENE)
