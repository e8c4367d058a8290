"""Which changes force a replacement, because Kubernetes allows no update for them.

The list follows that of the official provider (pulumi-kubernetes v4.32.0, provider/pkg/provider/diff.go), so that a
rehearsal plans the same replacements as on AWS. A change that Kubernetes refuses and that is not listed fails in both
environments; in the sandbox already at preview, with the API server's message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.sandbox.kubernetes.objects import Ref
from slipway.sandbox.kubernetes.settings import Settings
from slipway.sandbox.rpc import paths
from slipway.sandbox.rpc.paths import Path

_ALWAYS = ("metadata.name", "metadata.namespace")
_POD_MUTABLE = ("activeDeadlineSeconds", "tolerations", "containers[*].image", "initContainers[*].image")
_VOLUME_SOURCES = ("awsElasticBlockStore", "csi", "fc", "flexVolume", "hostPath", "iscsi", "local", "nfs")

_REPLACED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("apps", "DaemonSet"): ("spec.selector",),
    ("apps", "Deployment"): ("spec.selector",),
    ("apps", "StatefulSet"): (
        "spec.podManagementPolicy",
        "spec.revisionHistoryLimit",
        "spec.selector",
        "spec.serviceName",
        "spec.volumeClaimTemplates",
    ),
    ("batch", "Job"): ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): ("roleRef",),
    ("rbac.authorization.k8s.io", "RoleBinding"): ("roleRef",),
    ("storage.k8s.io", "StorageClass"): ("parameters", "provisioner"),
    ("", "PersistentVolume"): tuple(f"spec.{source}" for source in _VOLUME_SOURCES),
    ("", "PersistentVolumeClaim"): (
        "spec.accessModes",
        "spec.selector",
        "spec.storageClassName",
        "spec.volumeName",
    ),
    ("", "Pod"): ("spec",),
    ("", "ResourceQuota"): ("spec.scopes",),
    ("", "Secret"): ("type",),
    ("", "Service"): ("spec.clusterIP",),
}

_UPDATED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): tuple(f"spec.{field}" for field in _POD_MUTABLE),
}
"""Exceptions below the paths of `_REPLACED`."""

_CONTENTS = ("data", "binaryData", "stringData")


def forces_new(path: Path, old_inputs: Mapping[str, Any], settings: Settings) -> bool:
    """Whether a change at the path replaces the object."""
    ref = Ref.of(old_inputs)
    key = (ref.group, ref.kind)
    if path and path[0] in _CONTENTS and key in {("", "ConfigMap"), ("", "Secret")}:
        mutable = settings.config_map_mutable if ref.kind == "ConfigMap" else settings.secret_mutable
        return not mutable or old_inputs.get("immutable") is True
    if _covered(path, _UPDATED.get(key, ())):
        return False
    return _covered(path, (*_ALWAYS, *_REPLACED.get(key, ())))


def _covered(path: Path, patterns: tuple[str, ...]) -> bool:
    return any(paths.covers(paths.parse(pattern), path) for pattern in patterns)
