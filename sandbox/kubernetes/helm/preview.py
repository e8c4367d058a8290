"""How far a release can be rehearsed, what its chart would install, and what its hook Jobs would do."""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from sandbox import CHARTS
from sandbox.errors import SandboxError
from sandbox.kubernetes import crds
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.controllers import table
from sandbox.kubernetes.helm import binary, values
from sandbox.kubernetes.helm.chart import Chart, Charts
from sandbox.kubernetes.helm.manifest import flat, prepare
from sandbox.kubernetes.helm.records import ReleaseName
from sandbox.kubernetes.objects import Object, Ref, is_custom_resource_definition
from sandbox.kubernetes.targets import Settings, Targets
from sandbox.kubernetes.validation import Manifest, validate
from sandbox.notes import BECAUSE, NoteKind

# How far the sandbox can rehearse a release: install its chart, check its values, or only record it.


@dataclass(frozen=True)
class Plan:
    """How far a release is rehearsed. `reason` says why it is not installed; empty if it is."""

    mode: NoteKind
    text: str
    reason: str = ""
    chart: Chart | None = None
    helm: Path | None = None

    def problems(self, release_values: Mapping[str, Any]) -> list[str]:
        """The problems with the values, one line each."""
        if self.chart is None:
            return []
        return [*values.problems(self.chart, release_values), *values.schema_problems(self.chart, release_values)]


def make_plan(charts: Charts, inputs: Mapping[str, Any]) -> Plan:
    """Find the chart and helm, and decide what is possible."""
    reference, version = str(inputs["chart"]), str(inputs.get("version") or "")
    chart = charts.find(reference, version)
    if chart is None:
        reason = f"chart {reference} is not in {CHARTS}"
        return Plan(NoteKind.RECORDED, f"{reason}: nothing was checked or applied", reason)
    about = f"chart {chart.name} {chart.version}"
    if version and version.lstrip("v") != chart.version.lstrip("v"):
        about += f" (the release names {version})"
    missing = [name for _, name in chart.dependencies if chart.subchart(name) is None]
    helm = binary.available()
    if missing:
        reason = f"its subcharts are missing: {', '.join(missing)}"
    elif not chart.has_templates:
        reason = "it has no templates here"
    elif helm is None:
        reason = "helm is not installed (`python -m sandbox.toolchain ensure helm`)"
    else:
        return Plan(NoteKind.INSTALLED, f"{about}: installed by Helm", chart=chart, helm=helm)
    text = f"{about}: values checked, CRDs applied, nothing installed{BECAUSE}{reason}"
    return Plan(NoteKind.CHECKED, text, f"chart {chart.name}: {reason}", chart)


def release_name(inputs: Mapping[str, Any]) -> ReleaseName:
    """The release's name and namespace, which Check has filled in."""
    return ReleaseName(str(inputs["name"]), str(inputs["namespace"]))


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
    kinds = client.discovery.everything()
    apis = sorted({name for one in kinds for name in (one.api_version, f"{one.api_version}/{one.kind}")})
    text = json.dumps(values, sort_keys=True)
    served = tuple(sorted(table.served(chart.name, chart.version).items()))
    return _rendered(helm, chart.path, _stamp(chart.path), release, text, client.version(), tuple(apis), served)


def placed(client: KubeClient, obj: Object, release: ReleaseName) -> Object:
    """The object with the release's namespace, if its kind is namespaced and it names none."""
    ref = Ref.of(obj)
    if ref.namespace or not crds.is_namespaced(client, ref):
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


# What hook Jobs of a chart would do while it is installed.
#
# They run as all Jobs do here: their pods are scheduled and end, and nothing runs in them. CRDs are applied in their
# place, because custom resources are checked by them; certificates are made when a pod waits for one
# (`sandbox.nodes.mounts`). All other hook Jobs are reported.

EFFECTS_MANAGER: Final = "slipway-sandbox"
CERTGEN: Final = "kube-webhook-certgen"
"""Image of the Jobs of charts that make the certificate of a webhook (kubernetes/ingress-nginx, images)."""


def perform(client: KubeClient, chart: Chart, rendered: Rendered, *, upgrade: bool) -> list[str]:
    """Perform what others need before the release is installed or upgraded; returns what was done, and what was not."""
    done = []
    for job in _jobs(rendered.hooks, "pre-upgrade" if upgrade else "pre-install"):
        if _makes_certificate(job):
            continue
        if "crd" in _name(job) and chart.crds:
            for crd in chart.crds:
                crds.install(client, crd, EFFECTS_MANAGER)
            done.append(f"CRDs of the chart applied, as hook Job {_name(job)} would")
        else:
            done.append(f"hook Job {_name(job)} ran without effect")
    for job in _jobs(rendered.hooks, "post-upgrade" if upgrade else "post-install"):
        if not _makes_certificate(job):
            done.append(f"hook Job {_name(job)} ran without effect")
    return done


def _jobs(hooks: Sequence[Object], event: str) -> Iterator[Object]:
    for hook in hooks:
        events = [each.strip() for each in hook["metadata"]["annotations"][HOOK].split(",")]
        if hook["kind"] == "Job" and event in events:
            yield hook


def _makes_certificate(job: Object) -> bool:
    return any(CERTGEN in container["image"] for container in job["spec"]["template"]["spec"]["containers"])


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])
