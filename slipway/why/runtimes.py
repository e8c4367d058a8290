"""Pods of kinds that take them from a runtime: TrainJobs, and the predictor, transformer and explainer of an
InferenceService."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pulumi_kubernetes.core.v1 import PodSpecArgs

from components.addons import trainer
from components.addons.kserve import runtimes as serving
from components.admission import kinds
from components.workloads.serving.kserve import CONTAINER
from components.workloads.target import Target
from slipway.why.bundle import Object
from slipway.why.podsets import PodSet, job_set, podsets
from slipway.why.schema import fields_of
from spec.settings.addons.batch import Trainer
from spec.settings.problems import Problem

_STEP: Final = "trainer"
"""Value of the label on the job whose pods `trainer.numNodes` counts (kubeflow/trainer v2.3.0, pkg/constants)."""
_PARTS: Final = ("predictor", "transformer", "explainer")


def all_podsets(manifest: Object, target: Target, others: Sequence[Object] = ()) -> list[PodSet]:
    """The pod sets of a manifest, those that it takes from a runtime of the platform or of its file among them."""
    group = str(manifest.get("apiVersion")).partition("/")[0]
    if (group, manifest.get("kind")) == (kinds.TRAIN_JOB.group, kinds.TRAIN_JOB.kind):
        return list(_of_train_job(manifest.get("spec") or {}, target, others))
    if (group, manifest.get("kind")) == (kinds.INFERENCE_SERVICE.group, kinds.INFERENCE_SERVICE.kind):
        found = ((name, (manifest.get("spec") or {}).get(name)) for name in _PARTS)
        return [one for name, part in found if part for one in _of_service(name, part, target, others)]
    return podsets(manifest)


def runtime_problems(manifest: Object, target: Target, others: Sequence[Object]) -> Iterator[Problem]:
    """A runtime that neither the platform nor the file has; webhooks of Trainer and KServe refuse it."""
    spec = manifest.get("spec") or {}
    named = {"spec.runtimeRef.name": _train(spec, target, others)} if manifest.get("kind") == "TrainJob" else {}
    if manifest.get("kind") == kinds.INFERENCE_SERVICE.kind and target.runtimes is not None:
        named = {f"spec.{name}.model.runtime": _serve(spec.get(name) or {}, target, others) for name in _PARTS}
    for path, (name, known) in named.items():
        if name and name not in known:
            rule = "neither the platform nor the file has a runtime of that name"
            yield Problem(path, rule, name, f"Use one of {', '.join(sorted(known))}.")


def _train(spec: Object, target: Target, others: Sequence[Object]) -> tuple[str, Mapping[str, Object]]:
    """The runtime that a TrainJob names, and those that there are."""
    made = (
        trainer.runtimes(target.pools, image=trainer.IMAGE) if target.addons is None or Trainer in target.addons else {}
    )
    return str((spec.get("runtimeRef") or {}).get("name") or ""), {**made, **_made(others, "TrainingRuntime")}


def _of_train_job(spec: Object, target: Target, others: Sequence[Object]) -> Iterator[PodSet]:
    name, known = _train(spec, target, others)
    runtime, own = (known.get(name) or {}).get("spec") or {}, spec.get("trainer") or {}
    patches = [(one.get("trainingRuntimeSpec") or {}).get("template") or {} for one in spec.get("runtimePatches") or ()]
    merged = runtime.get("template") or {}
    for patch in patches:
        merged = _merged(merged, patch)
    for job in (merged.get("spec") or {}).get("replicatedJobs") or ():
        for one in job_set({"replicatedJobs": [job]}):
            labels = ((job.get("template") or {}).get("metadata") or {}).get("labels") or {}
            if labels.get(trainer.STEP_LABEL) != _STEP:
                yield one
                continue
            nodes = own.get("numNodes") or (runtime.get("mlPolicy") or {}).get("numNodes") or 1
            containers = [
                {**each, "resources": own.get("resourcesPerNode") or each.get("resources") or {}}
                if each.get("name") == "node"
                else each
                for each in one.spec.get("containers") or ()
            ]
            yield PodSet(one.name, {**one.spec, "containers": containers}, one.metadata, int(nodes))


def _serve(part: Object, target: Target, others: Sequence[Object]) -> tuple[str, Mapping[str, Object]]:
    """The runtime that a part of an InferenceService names, or that KServe selects by the format of its model, and
    those that there are."""
    own = {name: serving.manifest(name, one) for name, one in (target.runtimes or {}).items()}
    known: dict[str, Object] = {**own, **_made(others, "ServingRuntime")}
    model = part.get("model") or {}
    wanted = (model.get("modelFormat") or {}).get("name")
    automatic = (
        name
        for name, one in known.items()
        for each in one["spec"].get("supportedModelFormats") or ()
        if each.get("autoSelect") and each.get("name") == wanted
    )
    return str(model.get("runtime") or next(automatic, "")), known


def _of_service(name: str, part: Object, target: Target, others: Sequence[Object]) -> Iterator[PodSet]:
    runtime, known = _serve(part, target, others)
    base = (known.get(runtime) or {}).get("spec") or {}
    replicas = int(part.get("minReplicas", 1))
    yield PodSet(name, _pod(base, part), {}, replicas)
    if workers := part.get("workerSpec"):
        size = int(
            workers.get("pipelineParallelSize") or (base.get("workerSpec") or {}).get("pipelineParallelSize") or 1
        )
        yield PodSet(f"{name} worker", _pod(base.get("workerSpec") or {}, workers), {}, replicas * (size - 1))


def _pod(runtime: Object, part: Object) -> dict[str, Any]:
    """The pod of a part: fields of pods are inline; any other object with fields of a container is the model (kserve
    v0.20.0, pkg/apis/serving/v1beta1, PredictorSpec)."""
    pod = fields_of(PodSpecArgs)
    own = {key: value for key, value in part.items() if key in pod}
    models = [{"name": CONTAINER, **one} for key, one in part.items() if key not in pod and _is_container(one)]
    spec: dict[str, Any] = _merged({key: value for key, value in runtime.items() if key in pod}, own)
    return {**spec, "containers": _merged(spec.get("containers") or [], models)}


def _is_container(value: Any) -> bool:
    return isinstance(value, Mapping) and bool({"resources", "storageUri", "modelFormat", "runtime"} & set(value))


def _made(others: Sequence[Object], kind: str) -> dict[str, Object]:
    return {str(one["metadata"]["name"]): one for one in others if str(one.get("kind")).endswith(kind)}


def _merged(base: Any, patch: Any) -> Any:
    """A strategic merge: objects by field, lists of named items by name, other lists one after the other."""
    if isinstance(base, Mapping) and isinstance(patch, Mapping):
        return {**base, **{key: _merged(base[key], one) if key in base else one for key, one in patch.items()}}
    if not (isinstance(base, list) and isinstance(patch, list)):
        return patch
    if not all(isinstance(one, Mapping) and one.get("name") for one in [*base, *patch]):
        return [*base, *patch]
    own = {one["name"]: one for one in patch}
    return [_merged(one, own.pop(one["name"], {})) for one in base] + list(own.values())
