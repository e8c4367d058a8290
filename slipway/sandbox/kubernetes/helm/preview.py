"""What a chart would install: rendered by `helm template`, and validated object by object by an API server.

`helm install --dry-run=server` does not do it: it needs a cluster with all CRDs, which a first preview has not, and it
asks the API server about kinds, not about objects.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from slipway.errors import SandboxError
from slipway.sandbox.kubernetes import controllers
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import NoSuchKindError
from slipway.sandbox.kubernetes.helm import binary
from slipway.sandbox.kubernetes.helm.chart import Chart
from slipway.sandbox.kubernetes.helm.manifest import flat, prepare
from slipway.sandbox.kubernetes.helm.records import ReleaseName
from slipway.sandbox.kubernetes.helm.text import documents
from slipway.sandbox.kubernetes.objects import Object, Ref, is_custom_resource_definition
from slipway.sandbox.kubernetes.settings import Settings
from slipway.sandbox.kubernetes.targets import Targets
from slipway.sandbox.kubernetes.validation import Manifest, validate
from spec.catalog import kubernetes

MANAGER = "helm"
HOOK = "helm.sh/hook"
CACHED = 64
"""Rendered releases to keep: Check and Create of a release render the same objects."""


@dataclass(frozen=True)
class Rendered:
    """What a chart renders to: objects in the order of installation, its hooks, and what is left out."""

    objects: tuple[Object, ...]
    hooks: tuple[Object, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Previews:
    """Validates releases. A release that was accepted is not validated again until it renders something else."""

    targets: Targets
    _accepted: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def problems(
        self, settings: Settings, helm: Path, chart: Chart, release: ReleaseName, values: Mapping[str, Any]
    ) -> list[str]:
        """The rendered objects that the API server refuses, one line each. Raises SandboxError."""
        client = (self.targets.existing(settings) or self.targets.spare(settings)).client
        found = rendered(helm, chart, release, values, client)
        objects = [placed(client, each, release) for each in (*found.objects, *found.hooks)]
        digest = hashlib.sha256(f"{client.server} {json.dumps(objects, sort_keys=True)}".encode()).hexdigest()
        with self._lock:
            if digest in self._accepted:
                return []
        self.targets.preview_crds.offer(each for each in objects if is_custom_resource_definition(each))
        refusals = []
        for obj in objects:
            verdict = validate(self.targets, settings, Manifest(obj, MANAGER, by_helm=True))
            if verdict.refusal:
                refusals.append(f"{Ref.of(obj)}: {verdict.refusal}")
        if not refusals:
            with self._lock:
                self._accepted.add(digest)
        return refusals


def rendered(helm: Path, chart: Chart, release: ReleaseName, values: Mapping[str, Any], client: KubeClient) -> Rendered:
    """What the chart renders to for a cluster, without `crds/` and tests. Raises SandboxError."""
    apis = sorted({name for each in client.discovery.everything() for name in _api_names(each)})
    text = json.dumps(values, sort_keys=True)
    served = tuple(sorted(controllers.served(chart.name, chart.version).items()))
    return _rendered(helm, chart.path, _stamp(chart.path), release, text, client.version(), tuple(apis), served)


def objects_without_cluster(
    helm: Path, chart: Chart, release: ReleaseName, values: Mapping[str, Any], apis: Sequence[str]
) -> list[Object]:
    """All that the chart renders to for the platform's default version and the named APIs, without its hooks.

    Nothing is left out of it. Raises SandboxError.
    """
    version, text = f"{kubernetes.DEFAULT}.0", json.dumps(values, sort_keys=True)
    rendering = _template(helm, chart.path, release, text, version, tuple(apis))
    documented = documents(rendering, f"the rendering of chart {chart.name}")
    return [each for obj in documented for each in flat(obj) if not _is_hook(each)]


def placed(client: KubeClient, obj: Object, release: ReleaseName) -> Object:
    """The object with the release's namespace, if its kind is namespaced and it names none."""
    ref = Ref.of(obj)
    try:
        namespaced = client.discovery.find(ref.api_version, ref.kind).namespaced
    except NoSuchKindError:
        return obj
    if not namespaced or ref.namespace:
        return obj
    return {**obj, "metadata": {**obj["metadata"], "namespace": release.namespace}}


@lru_cache(maxsize=CACHED)
def _rendered(
    helm: Path,
    chart: Path,
    _stamp: str,
    release: ReleaseName,
    values: str,
    version: str,
    apis: Sequence[str],
    served: tuple[tuple[str, bool], ...],
) -> Rendered:
    where = f"the rendering of chart {chart.name}"
    prepared = prepare(_template(helm, chart, release, values, version, apis), where, dict(served))
    found = (each for obj in prepared.objects(where) for each in flat(obj))
    objects = [{**each, "metadata": each.get("metadata") or {}} for each in found]
    hooks = tuple(obj for obj in objects if _is_hook(obj))
    return Rendered(tuple(obj for obj in objects if not _is_hook(obj)), hooks, tuple(prepared.left_out))


def _template(helm: Path, chart: Path, release: ReleaseName, values: str, version: str, apis: Sequence[str]) -> str:
    arguments = [
        release.name, str(chart), "--namespace", release.namespace, "--skip-crds", "--skip-tests",
        "--kube-version", version, *(each for api in apis for each in ("--api-versions", api)),
    ]  # fmt: skip
    try:
        return binary.template(helm, arguments, json.loads(values))
    except binary.HelmError as error:
        msg = f"chart {chart.name} can't be rendered with these values: {error}"
        raise SandboxError(msg) from error


def _is_hook(obj: Object) -> bool:
    return HOOK in ((obj.get("metadata") or {}).get("annotations") or {})


def _stamp(chart: Path) -> str:
    """A digest that changes if any file of the chart changes."""
    files = sorted(path for path in chart.rglob("*") if path.is_file())
    text = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in files)
    return hashlib.sha256(text.encode()).hexdigest()


def _api_names(resource: Any) -> tuple[str, str]:
    return resource.api_version, f"{resource.api_version}/{resource.kind}"
