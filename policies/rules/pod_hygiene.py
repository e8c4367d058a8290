"""Requests and limits, images, namespaces and identities of pods."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from pulumi_policy import Severity

from policies.checks.pods import Pod, exempt, node_software, of_container, of_pod, pods
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import (
    COMPLETE,
    SECRET,
    SERVICE_ACCOUNT,
    SERVING_RUNTIME,
    TRAINING_RUNTIME,
    WORKLOADS,
)
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation

_TAG: Final = re.compile(r"^(?P<name>.+?)(:(?P<tag>[\w][\w.-]*))?(@(?P<digest>sha256:[0-9a-f]{64}))?$")
"""A reference to an image (distribution/reference, grammar)."""
_REMOVED: Final = (
    "extensions/v1beta1",
    "apps/v1beta1",
    "apps/v1beta2",
    "batch/v1beta1",
    "policy/v1beta1",
    "batch/v2alpha1",
)
"""API versions of workloads that no supported version serves (kubernetes.io, "Deprecated API Migration Guide")."""


def _without(section: str, resource: str) -> Any:
    def missing(_: Pod, container: Node) -> Node | None:
        node = container["resources"][section][resource]
        return node if node.missing else None

    return of_container(missing)


def _left_to_limit_range(section: str, resource: str) -> Any:
    def missing(_: Pod, container: Node) -> Node | None:
        node, limits = container["resources"][section][resource], container["resources"]["limits"]
        devices = isinstance(limits.raw, dict) and any("/" in name for name in limits.raw)
        return node if devices and node.missing else None

    return of_container(missing)


def _floating(_: Pod, container: Node) -> Node | None:
    image = container["image"]
    reference = _TAG.match(image.text() or "x:1")
    fixed = reference is not None and (reference["digest"] or reference["tag"] not in (None, "latest"))
    return None if fixed else image


def _place(image: str) -> str:
    """Registry and repository of an image; Docker Hub where no host is named (same grammar)."""
    host = image.partition("/")[0]
    return image if "." in host or ":" in host else f"docker.io/{image}"


def _untrusted(resource: Resource, context: Context) -> Iterator[Violation]:
    for pod in pods(resource):
        for container in pod.containers:
            image = container["image"].text()
            trusted = context.settings["registries"]
            if image is not None and not any(fnmatchcase(_place(image), pattern) for pattern in trusted):
                yield violation(container["image"])


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
    title="Containers have CPU and memory requests and a memory limit",
    types=COMPLETE,
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="A pod without requests is scheduled anywhere and evicted first; one without a memory limit can exhaust its "
    "node. A CPU limit is not required on purpose: it throttles and saves nothing.",
    fix="Set resources.requests of cpu and memory, and resources.limits.memory.",
    settings=node_software(),
    checks={
        "cpu": Check(
            asks="must be set",
            find=_without("requests", "cpu"),
            external_ids=("CKV_K8S_10", "KSV-0015"),
        ),
        "memory": Check(
            asks="must be set",
            find=_without("requests", "memory"),
            external_ids=("CKV_K8S_12", "KSV-0016"),
        ),
        "memory-limit": Check(
            asks="must be set",
            find=_without("limits", "memory"),
            external_ids=("CKV_K8S_13", "KSV-0018"),
        ),
    },
)

RUNTIME_SIZED = ResourceRule(
    name="runtime-sized",
    title="Runtimes that request devices request the CPU and memory of their jobs",
    types=(TRAINING_RUNTIME, SERVING_RUNTIME),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="The LimitRange of a team's namespace fills in what a pod leaves out: 2 GiB for a job with eight GPUs, which "
    "is killed at once (kubernetes.io, Limit Ranges).",
    fix="Set requests of cpu and memory, and limits.memory, from the pool's nodes, as components.addons.trainer does.",
    checks={
        "cpu": Check(asks="must be set", find=_left_to_limit_range("requests", "cpu")),
        "memory": Check(asks="must be set", find=_left_to_limit_range("requests", "memory")),
        "memory-limit": Check(asks="must be set", find=_left_to_limit_range("limits", "memory")),
    },
)

POD_TRUSTED = ResourceRule(
    name="pod-trusted-image",
    title="Images come from trusted registries and have a fixed version",
    types=WORKLOADS,
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    why="With a mutable tag, the next node can run another image; an untrusted registry can serve any image.",
    fix="Reference the image by version or digest; add a new registry to the rule's setting.",
    settings={
        "registries": Setting(
            asks="globs of images that pods may run, with their registry",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere(
                [
                    "*.dkr.ecr.*.amazonaws.com*",
                    "public.ecr.aws/*",
                    "registry.k8s.io/*",
                    "nvcr.io/nvidia/*",
                    "quay.io/*",
                    "ghcr.io/*",
                    "docker.io/kserve/*",
                    "docker.io/mpioperator/*",
                    "docker.io/nvidia/*",
                    "docker.io/pytorch/*",
                    "docker.io/rayproject/*",
                    "docker.io/tensorflow/*",
                    "docker.io/vllm/*",
                ]
            ),
        )
    },
    checks={
        "version": Check(
            asks="must have a version that is not `latest`, or a digest",
            find=of_container(_floating),
            external_ids=("CKV_K8S_14", "KSV-0013"),
        ),
        "registry": Check(
            asks="must match a pattern of the setting registries",
            find=_untrusted,
            external_ids=("KSV-0034", "KSV-0035", "KSV-0125", "CIS-5.1.4"),
        ),
    },
)

POD_HYGIENE = ResourceRule(
    name="pod-hygiene",
    title="Pods don't use the default namespace or unneeded tokens, and mount secrets as files",
    types=(*COMPLETE, SECRET, SERVICE_ACCOUNT),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="An unused token can only be stolen, and crash reports often contain environment variables.",
    fix="Set automountServiceAccountToken false or a serviceAccountName, and mount secrets as files.",
    settings=node_software(),
    checks={
        "namespace": Check(
            asks="must not be default",
            find=_default_namespace,
            external_ids=("CKV_K8S_21", "KSV-0110", "CIS-4.5.1", "CIS-4.5.2"),
        ),
        "token": Check(
            asks="must be false, or the pod must have its own service account",
            find=of_pod(_token),
            external_ids=("CKV_K8S_38", "KSV-0036", "CIS-4.1.5", "CIS-4.1.6"),
        ),
        "default-account": Check(
            asks="must be false for the default service account",
            find=_default_account,
            external_ids=("CKV_K8S_41", "CIS-4.1.5"),
        ),
        "environment": Check(
            asks="must be a file instead of an environment variable",
            find=of_container(_secret_in_environment),
            external_ids=("CKV_K8S_35", "CIS-4.4.1"),
        ),
        "version": Check(
            asks="must be an API version that supported Kubernetes versions serve",
            find=_removed,
            external_ids=("KSV-0107",),
        ),
    },
)

RULES = (POD_SIZED, RUNTIME_SIZED, POD_TRUSTED, POD_HYGIENE)
