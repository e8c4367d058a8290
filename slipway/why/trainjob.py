"""`slipway why FILE --fix` makes a TrainJob of a PyTorchJob where Trainer is installed and the training operator isn't.

The pods stay what they are: their template becomes the job's own TrainingRuntime. Of what the training operator does,
Trainer does the same for torchrun: both set `PET_*` variables (kubeflow/training-operator v1.9.3, pytorch/envvar.go;
kubeflow/trainer v2.3.0, plugins/torch/torch.go). What has no counterpart leaves the job as it is, with the reason.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from components.addons.trainer import ANY_GPU, RESTARTS, STEP_LABEL, failure_policy, job_failures
from components.workloads.distributed import NODE
from slipway.why.bundle import Object
from spec import strict_yaml
from spec.pools import keys
from spec.settings.addons import Addons
from spec.settings.addons.batch import Trainer, TrainingOperator

KIND: Final = "PyTorchJob"
_API: Final = "trainer.kubeflow.org"
_MAIN: Final = "pytorch"  # name of the container that the training operator configures
_SPEC: Final = ("runPolicy", "pytorchReplicaSpecs", "nprocPerNode")
_POLICY: Final = ("activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "suspend", "ttlSecondsAfterFinished")
_LAUNCHED: Final = re.compile(r"\btorchrun\b|\btorch\.distributed\.(?:run|launch)\b")
_PYTHON: Final = re.compile(r"(?:.*/)?python[0-9.]*")
_OLD: Final = re.compile(r"(?<=\$)([({]?)(MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK)\b")
_NEW: Final = {
    "MASTER_ADDR": "PET_MASTER_ADDR",
    "MASTER_PORT": "PET_MASTER_PORT",
    "WORLD_SIZE": "PET_NNODES",
    "RANK": "PET_NODE_RANK",
}
"""Variables of the training operator, which counts pods without `nprocPerNode`, and those of both."""


@dataclass
class Translated:
    """A file in which TrainJobs stand for PyTorchJobs."""

    text: str
    changes: dict[str, list[str]] = field(default_factory=dict)  # what was changed, by `trainjob/NAME`
    left: dict[str, list[str]] = field(default_factory=dict)  # why a job stays what it is, by `pytorchjob/NAME`


class _StaysError(Exception):
    """Why a job can't be translated."""


def translated(text: str, addons: Addons) -> Translated:
    """The file for a stack with some add-ons."""
    found = Translated(text)
    if not addons.has(Trainer) or addons.has(TrainingOperator):
        return found
    parts = []
    for border, body in strict_yaml.chunks(text):
        job = strict_yaml.one(body)
        if isinstance(job, Mapping) and job.get("kind") == KIND:
            name = str((job.get("metadata") or {}).get("name") or "")
            try:
                made, changes = _train_job(job)
            except _StaysError as error:
                found.left[f"pytorchjob/{name}"] = [f"kind: it can't be made a TrainJob, because {error}"]
            else:
                found.changes[f"trainjob/{name}"] = [
                    "kind: TrainJob with its own TrainingRuntime, was PyTorchJob",
                    *changes,
                ]
                body = "---\n".join(yaml.safe_dump(one, sort_keys=False) for one in made)  # noqa: PLW2901
        parts += [border, body]
    found.text = "".join(parts)
    return found


def _train_job(job: Object) -> tuple[list[dict[str, Any]], list[str]]:
    """The runtime and the job, and what their pods do differently. Raises _StaysError."""
    spec = job.get("spec") or {}
    policy, groups = spec.get("runPolicy") or {}, spec.get("pytorchReplicaSpecs") or {}
    for path, holder, known in (("spec", spec, _SPEC), ("spec.runPolicy", policy, _POLICY)):
        if others := [name for name in holder if name not in known]:
            msg = f"Trainer has nothing like {path}.{others[0]}"
            raise _StaysError(msg)
    templates = [one.get("template") or {} for one in groups.values()]
    if "Master" not in groups or any(one != templates[0] for one in templates):
        msg = "the pods of a TrainJob are equal, and those of Master and Worker are not: write one template for both"
        raise _StaysError(msg)
    template = templates[0]
    containers = [dict(one) for one in (template.get("spec") or {}).get("containers") or ()]
    main = next((one for one in containers if one.get("name") == _MAIN), None)
    if main is None:
        msg = f"no container has the name {_MAIN}"
        raise _StaysError(msg)
    trainer: dict[str, Any] = {"numNodes": sum(int(one.get("replicas", 1)) for one in groups.values())}
    changes = list(_started(main, spec.get("nprocPerNode"), trainer))
    main["name"] = NODE
    if resources := main.get("resources"):
        # Repeated from the runtime: Kueue uses it to compute quota.
        trainer["resourcesPerNode"] = resources
    pod = {**template["spec"], "containers": containers, "restartPolicy": "Never"}
    tolerations = list(pod.get("tolerations") or ())
    if keys.GPU in str(resources) and not any(one.get("key") == keys.GPU for one in tolerations):
        pod["tolerations"] = [*tolerations, ANY_GPU]
    own = {key: one for key, one in (("metadata", template.get("metadata")), ("spec", pod)) if one}
    node = {
        "name": NODE,
        "template": {"metadata": {"labels": {STEP_LABEL: "trainer"}}, "spec": {**job_failures(), "template": own}},
    }
    jobs = {"failurePolicy": failure_policy(policy.get("backoffLimit", RESTARTS)), "replicatedJobs": [node]}
    metadata = job.get("metadata") or {}
    where = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    runtime = {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": jobs}}
    if "ttlSecondsAfterFinished" in policy:
        changes.append("runPolicy.ttlSecondsAfterFinished removed: a TrainJob has none")
    kept = {key: policy[key] for key in ("activeDeadlineSeconds", "suspend") if key in policy}
    reference = {"apiGroup": _API, "kind": "TrainingRuntime", "name": metadata.get("name")}
    version = f"{_API}/v1alpha1"
    return [
        {"apiVersion": version, "kind": "TrainingRuntime", "metadata": where, "spec": runtime},
        {"apiVersion": version, "kind": "TrainJob", "metadata": metadata,
         "spec": {**kept, "runtimeRef": reference, "trainer": trainer}},
    ], changes  # fmt: skip


def _started(main: dict[str, Any], processes: Any, trainer: dict[str, Any]) -> Iterator[str]:
    """Let torchrun start the processes as the training operator's variables would. Raises _StaysError."""
    command, arguments = ([str(each) for each in main.get(key) or ()] for key in ("command", "args"))
    text = " ".join((*command, *arguments))
    if str(processes or "auto").isdigit():
        trainer["numProcPerNode"] = int(processes)
    elif processes not in (None, "auto"):
        msg = f"Trainer counts processes by GPUs or CPUs of a pod itself, and not by nprocPerNode {processes}"
        raise _StaysError(msg)
    if "WORLD_SIZE" in text and processes not in (None, "auto", "1"):
        msg = f"WORLD_SIZE counts the {processes} processes of each pod, which no variable of Trainer does"
        raise _StaysError(msg)
    for key, words in (("command", command), ("args", arguments)):
        new = [_OLD.sub(lambda found: found[1] + _NEW[found[2]], one) for one in words]
        if new != words:
            main[key] = new
            yield f"{key}: {' '.join(new)}, was {' '.join(words)}"
    if _LAUNCHED.search(text):
        return
    rest = [one for one in main.get("command", ())[1:] if one != "-u"]
    plain = command and _PYTHON.fullmatch(command[0]) and (rest or arguments) and trainer.get("numProcPerNode", 1) == 1
    if not plain or (rest and rest[0].startswith("-") and rest[0] != "-m"):
        what = f"`{' '.join(command[:2])}`" if command else "the image's own entry point"
        msg = f"{what} starts the processes, and Trainer sets its variables for torchrun: start them by `torchrun`"
        raise _StaysError(msg)
    # One process in each pod, as before; torchrun sets its RANK and WORLD_SIZE.
    trainer["numProcPerNode"] = 1
    main["command"] = ["torchrun", *rest]
    yield f"command: {' '.join(main['command'])}, was {' '.join(command)}, because torchrun sets RANK and WORLD_SIZE"
