"""Pods that come from a runtime: those of TrainJobs and of InferenceServices, beside those of every other kind."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pulumi_kubernetes.core.v1 import PodSpecArgs

from components.addons import trainer
from components.addons.kserve import runtimes as serving
from components.admission import kinds
from components.workloads.checks.fit import requests
from components.workloads.serving.kserve import CONTAINER
from components.workloads.target import Target
from slipway.why.bundle import Object
from slipway.why.podsets import PodSet, job_set, podsets
from slipway.why.shapes import fields_of
from slipway.why.table import Finding, finding
from spec.settings.addons.batch import Trainer

_PARTS: Final = ("predictor", "transformer", "explainer")
_RUNTIMES: Final = {kinds.TRAIN_JOB.kind: "TrainingRuntime", kinds.INFERENCE_SERVICE.kind: "ServingRuntime"}
_MODEL: Final = {"modelFormat", "resources", "runtime", "storageUri"}
"""Fields by which an object in a part of an InferenceService is its model (kserve v0.20.0, PredictorExtensionSpec)."""


def all_podsets(manifest: Object, target: Target, others: Sequence[Object] = ()) -> list[PodSet]:
    """The pod sets of a manifest, those that it takes from a runtime of the platform or of its file among them."""
    spec, known = manifest.get("spec") or {}, _known(manifest, target, others)
    if manifest.get("kind") == kinds.TRAIN_JOB.kind:
        return list(_of_train_job(spec, known.get(_runtime(spec, known), {})))
    if manifest.get("kind") != kinds.INFERENCE_SERVICE.kind:
        return podsets(manifest)
    parts = [(name, spec[name], known.get(_runtime(spec[name], known), {})) for name in _PARTS if spec.get(name)]
    return [one for name, part, runtime in parts for one in _of_service(name, part, runtime)]


def runtime_problems(manifest: Object, target: Target, others: Sequence[Object]) -> Iterator[Finding]:
    """A runtime that neither the platform nor the file has; the webhooks of Trainer and KServe refuse it."""
    known, spec = _known(manifest, target, others), manifest.get("spec") or {}
    for part in (spec, *(spec.get(name) or {} for name in _PARTS)) if known else ():
        if (name := _runtime(part, known)) and name not in known:
            yield finding("no such runtime", "spec.runtime", name, known=", ".join(sorted(known)))


def _known(manifest: Object, target: Target, others: Sequence[Object]) -> Mapping[str, Object]:
    """The specs of the runtimes of a kind by name."""
    suffix = _RUNTIMES.get(str(manifest.get("kind")))
    trains = target.addons is None or Trainer in target.addons
    made = trainer.runtimes(target.pools, image=trainer.IMAGE) if suffix and trains else {}
    own = [*made.values(), *(serving.manifest(*one) for one in (target.runtimes or {}).items() if suffix), *others]
    of_kind = [one for one in own if suffix and str(one.get("kind")).endswith(suffix)]
    return {str(one["metadata"]["name"]): one.get("spec") or {} for one in of_kind}


def _runtime(part: Object, known: Mapping[str, Object]) -> str:
    """The runtime that a TrainJob or a model names, or that KServe selects by the format of the model."""
    model = part.get("model") or {}
    formats = [(name, each) for name, one in known.items() for each in one.get("supportedModelFormats") or ()]
    wanted = (model.get("modelFormat") or {}).get("name")
    automatic = (name for name, each in formats if each.get("autoSelect") and each.get("name") == wanted)
    return str((part.get("runtimeRef") or {}).get("name") or model.get("runtime") or next(automatic, ""))


def _of_train_job(spec: Object, runtime: Object) -> Iterator[PodSet]:
    own, template = spec.get("trainer") or {}, runtime.get("template") or {}
    for patch in spec.get("runtimePatches") or ():
        template = _merged(template, (patch.get("trainingRuntimeSpec") or {}).get("template") or {})
    for job in (template.get("spec") or {}).get("replicatedJobs") or ():
        (one,) = job_set({"replicatedJobs": [job]})
        labels = ((job.get("template") or {}).get("metadata") or {}).get("labels") or {}
        if labels.get(trainer.STEP_LABEL) != "trainer":
            yield one
            continue
        # `numNodes` and `resourcesPerNode` are of this step and its container `node` (kubeflow/trainer v2.3.0,
        # pkg/constants).
        nodes = own.get("numNodes") or (runtime.get("mlPolicy") or {}).get("numNodes") or 1
        given = {"resources": own["resourcesPerNode"]} if own.get("resourcesPerNode") else {}
        each = [{**has, **given} if has.get("name") == "node" else has for has in one.spec.get("containers") or ()]
        yield PodSet(one.name, {**one.spec, "containers": each}, one.metadata, int(nodes))


def _of_service(name: str, part: Object, runtime: Object) -> Iterator[PodSet]:
    replicas = int(part.get("minReplicas", 1))
    yield PodSet(name, _pod(runtime, part), {}, replicas)
    if workers := part.get("workerSpec"):
        inner = runtime.get("workerSpec") or {}
        size = int(workers.get("pipelineParallelSize") or inner.get("pipelineParallelSize") or 1)
        yield PodSet(f"{name} worker", _pod(inner, workers), {}, replicas * (size - 1))


def _pod(runtime: Object, part: Object) -> Object:
    """The pod of a part: its fields are those of a pod, beside the model, which is the runtime's first container."""
    pod = fields_of(PodSpecArgs)
    rest = [one for key, one in part.items() if key not in pod and isinstance(one, Mapping) and _MODEL & set(one)]
    own, base = ({key: one for key, one in each.items() if key in pod} for each in (part, runtime))
    # What has a limit requests it, whatever the runtime requests (kubernetes.io, "Resource Management").
    sizes = [
        {**(one.get("resources") or {}), "requests": requests({"resources": one.get("resources") or {}})}
        for one in rest
    ]
    models = [{**one, "name": CONTAINER, "resources": size} for one, size in zip(rest, sizes, strict=True)]
    return _merged(_merged(base, own), {"containers": models}) if models else _merged(base, own)  # type: ignore[no-any-return]


def _merged(base: Any, patch: Any) -> Any:
    """A strategic merge: objects by field, lists of named items by name, other lists one after the other."""
    if isinstance(base, Mapping) and isinstance(patch, Mapping):
        return {**base, **{key: _merged(base[key], one) if key in base else one for key, one in patch.items()}}
    if not (isinstance(base, list) and isinstance(patch, list)):
        return patch
    own = {one["name"]: one for one in patch if isinstance(one, Mapping) and one.get("name")}
    rest = [one for one in patch if not isinstance(one, Mapping) or not one.get("name")]
    merged = [_merged(one, own.pop(one.get("name"), {})) if isinstance(one, Mapping) else one for one in base]
    return [*merged, *own.values(), *rest]
