"""What an object asks of the cluster that nothing there serves: metrics of autoscalers, classes of volumes, features of
controllers that are off."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from components.admission import kinds
from components.admission.templates import RAY_PATHS
from components.workloads.target import Target
from slipway.why.bundle import Object
from slipway.why.pods import unsupported
from slipway.why.podsets import podsets
from slipway.why.table import Finding, finding
from spec.settings.addons import AddonSettings
from spec.settings.addons.observability import KubePrometheusStack
from spec.settings.addons.serving import Keda

_SCALED_BY_KEDA: Final = "scaledobject.keda.sh/name"
"""Label by which KEDA's metrics server finds a metric: it serves those of its ScaledObjects alone (keda v2.20.2,
pkg/provider, GetExternalMetric)."""


def metrics(manifest: Object, target: Target) -> Iterator[Finding]:
    """Metrics that an autoscaler reads and nothing serves: it would never scale."""
    kind, spec = str(manifest.get("kind")), manifest.get("spec") or {}
    if target.addons is None:
        return
    if kind == kinds.AUTOSCALER.kind:
        for at, metric in enumerate(spec.get("metrics") or ()):
            yield from _metric(f"spec.metrics[{at}]", metric, target.addons)
    elif kind in (kinds.SCALED_OBJECT.kind, kinds.SCALED_JOB.kind):
        for at, trigger in enumerate(spec.get("triggers") or ()):
            if trigger.get("type") == "prometheus" and KubePrometheusStack not in target.addons:
                yield finding("no Prometheus", f"spec.triggers[{at}]", trigger.get("type"))


def _metric(path: str, metric: Mapping[str, Any], addons: frozenset[type[AddonSettings]]) -> Iterator[Finding]:
    kind = str(metric.get("type") or "")
    if kind not in ("External", "Pods", "Object"):
        return
    asked = metric.get(kind.lower()) or {}
    name = (asked.get("metric") or {}).get("name")
    labels = ((asked.get("metric") or {}).get("selector") or {}).get("matchLabels") or {}
    if kind == "External" and Keda in addons and _SCALED_BY_KEDA in labels:
        return
    api = "external.metrics.k8s.io" if kind == "External" else "custom.metrics.k8s.io"
    also = ", which serves the external metrics of ScaledObjects alone" if Keda in addons else ""
    yield finding("no such metric", path, name, kind=kind, api=api, also=also)


def classes(manifest: Object, target: Target, others: Sequence[Object] = ()) -> Iterator[Finding]:
    """Claims whose class the platform does not have, or whose access mode the class does not; those for which no class
    makes a volume, and the file has none."""
    known = ", ".join(sorted(target.classes or ()))
    for path, spec in claims(manifest):
        name, named = spec.get("storageClassName"), spec.get("volumeName")
        if target.classes is None or volume(manifest, spec, others) is not None or (name is None and not named):
            continue
        if named or not name:
            field = "volumeName" if named else "storageClassName"
            yield finding("no volume", f"{path}.{field}", named or '""', named=named or "that it fits", known=known)
        elif name not in target.classes:
            yield finding("no such class", f"{path}.storageClassName", name, known=known)
        elif wrong := unsupported(target.classes[name], name, spec.get("accessModes") or ()):
            shared = [one for one, driver in target.classes.items() if not unsupported(driver, "", ["ReadWriteMany"])]
            other = f", or the class {' or '.join(sorted(shared))}" if shared else ""
            yield finding("access mode", f"{path}.accessModes", spec.get("accessModes"), wrong=wrong, other=other)


def volume(claim: Object, spec: Object, others: Sequence[Object]) -> Object | None:
    """The volume of the file for a claim: the one that either names, or one of its class that nobody names
    (kubernetes.io, "Persistent Volumes", Binding)."""
    own = (claim.get("metadata") or {}).get("name")
    for one in others if spec.get("storageClassName") is not None or spec.get("volumeName") else ():
        has = one.get("spec") or {}
        of, named = (has.get("claimRef") or {}).get("name"), spec.get("volumeName")
        same = (has.get("storageClassName") or "") == spec.get("storageClassName") and not of and not named
        if one.get("kind") == "PersistentVolume" and (same or of == own or named == one["metadata"].get("name")):
            return one
    return None


OF_ONE_JOB: Final = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")
"""Actions of a JobSet's failure policy behind the feature gate RestartJob, which is off by default (jobset v0.12.0,
pkg/features)."""
IN_PLACE: Final = "InPlaceRestart"  # a restart strategy behind a gate of its own, also off
ELASTIC: Final = "kueue.x-k8s.io/elastic-job"


def features(manifest: Object) -> Iterator[Finding]:
    """What webhooks of JobSet and Kueue refuse because a feature is off."""
    kind, spec = str(manifest.get("kind")), manifest.get("spec") or {}
    policy = (spec.get("failurePolicy") or {}) if kind == "JobSet" else {}
    for at, one in enumerate(policy.get("rules") or ()):
        if one.get("action") in OF_ONE_JOB:
            yield finding("restarts of one job", f"spec.failurePolicy.rules[{at}].action", one["action"])
    if policy.get("restartStrategy") == IN_PLACE:
        yield finding("restarts in place", "spec.failurePolicy.restartStrategy", IN_PLACE)
    part: Any = manifest if kind in RAY_PATHS else {}
    for name in RAY_PATHS.get(kind, "").split("."):
        part = part.get(name) or {}
    notes = (manifest.get("metadata") or {}).get("annotations") or {}
    if part.get("enableInTreeAutoscaling") and notes.get(ELASTIC) != "true":
        yield finding("scales itself", f"{RAY_PATHS[kind]}.enableInTreeAutoscaling", True, key=ELASTIC)


CLAIM: Final = "PersistentVolumeClaim"


def claims(manifest: Object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Specs of the claims that an object is or makes, each with its path."""
    spec = manifest.get("spec") or {}
    if manifest.get("kind") == CLAIM:
        yield "spec", spec
    for at, one in enumerate(spec.get("volumeClaimTemplates") or ()):
        yield f"spec.volumeClaimTemplates[{at}].spec", one.get("spec") or {}
    for group in podsets(manifest):
        for volume in group.spec.get("volumes") or ():
            template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
            if template:
                yield f"{group.name}.volumes.{volume.get('name')}", template.get("spec") or {}
