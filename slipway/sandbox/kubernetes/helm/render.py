"""Rendering a chart with `helm template`, which needs neither a cluster nor a repository."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from slipway import toolchain
from slipway.errors import SandboxError
from slipway.sandbox.kubernetes.crds import without_descriptions
from slipway.sandbox.kubernetes.helm.chart import Chart
from slipway.sandbox.kubernetes.helm.text import documents
from slipway.sandbox.kubernetes.objects import Object, is_custom_resource_definition
from spec.catalog import kubernetes

KUBE_VERSION = f"{kubernetes.DEFAULT}.0"
"""The cluster version that templates see: the platform's default. Helm's own default is that of its build."""
SECONDS = 120
CACHED = 64
"""Rendered releases to keep: Check and Create of a release render the same objects."""

INSTALL_ORDER = (
    "PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget",
    "ServiceAccount", "Secret", "ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim",
    "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "DaemonSet",
    "Pod", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob", "IngressClass",
    "Ingress", "APIService",
)  # fmt: skip
"""Helm's order (pkg/releaseutil/kind_sorter.go, v3); other kinds come last."""


@dataclass(frozen=True)
class ReleaseName:
    """A release's name and namespace."""

    name: str
    namespace: str


def available() -> Path | None:
    """The helm binary; None if this machine has none."""
    try:
        return toolchain.find("helm")
    except toolchain.ToolError:
        return None


def render(
    helm: Path, chart: Chart, release: ReleaseName, values: Mapping[str, Any], apis: Sequence[str]
) -> list[Object]:
    """The chart's objects in installation order, without hooks and without `crds/`. Raises SandboxError."""
    stamp = _stamp(chart.path)
    text = _template(helm, chart.path, stamp, release, json.dumps(values, sort_keys=True), tuple(apis))
    rendered = documents(text, f"the rendering of chart {chart.name}")
    objects = [without_descriptions(obj) if is_custom_resource_definition(obj) else obj for obj in rendered]
    order = {kind: position for position, kind in enumerate(INSTALL_ORDER)}
    return sorted(objects, key=lambda obj: order.get(obj["kind"], len(order)))


@lru_cache(maxsize=CACHED)
def _template(helm: Path, chart: Path, _stamp: str, release: ReleaseName, values: str, apis: tuple[str, ...]) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        yaml.safe_dump(json.loads(values), file)
        file.flush()
        argv = [
            str(helm), "template", release.name, str(chart), "--namespace", release.namespace,
            "--values", file.name, "--no-hooks", "--skip-crds", "--kube-version", KUBE_VERSION,
        ]  # fmt: skip
        for api in apis:
            argv += ["--api-versions", api]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=SECONDS)
    if done.returncode:
        msg = f"chart {chart.name} can't be rendered with these values: {done.stderr.strip()}"
        raise SandboxError(msg)
    return done.stdout


def _stamp(chart: Path) -> str:
    """A digest that changes if any file of the chart changes."""
    files = sorted(path for path in chart.rglob("*") if path.is_file())
    text = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in files)
    return hashlib.sha256(text.encode()).hexdigest()
