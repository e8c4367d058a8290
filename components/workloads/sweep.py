"""A hyperparameter sweep: one Indexed Job with a pod per trial.

Each pod gets the parameters of its trial in a JSON file named after its index. A failed trial doesn't fail the others.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import pulumi

from components.base.operator import object_with
from components.workloads.checks.jobs import bounds_problems, count_problems, lifetime_problems, suspended_problems
from components.workloads.checks.pods import pod_problems, spot_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests, refuse_if_any
from components.workloads.metadata import SKIP_AWAIT, kept, metadata, pod_metadata
from components.workloads.pods import Files, Pod, container, pod_spec
from components.workloads.target import Target
from components.workloads.training_job import CONTAINER, FATAL_EXIT_CODES, failure_policy
from spec.jobs import DAY
from spec.settings.problems import Problem

Value: TypeAlias = str | int | float | bool
INDEX: Final = "batch.kubernetes.io/job-completion-index"
"""Annotation of a pod of an Indexed Job (kubernetes.io, "Job completion index")."""
TRIALS_PATH: Final = "/trials"
MAX_TRIALS: Final = 500  # maximum size of a ConfigMap: 1 MiB


def grid(**parameters: Sequence[Value]) -> tuple[dict[str, Value], ...]:
    """Every combination: `grid(lr=[1e-3, 1e-4], depth=[2, 4])` has four trials. The last parameter changes first."""
    names = list(parameters)
    return tuple(dict(zip(names, values, strict=True)) for values in itertools.product(*parameters.values()))


@dataclass(frozen=True, kw_only=True)
class SweepArgs:
    """Inputs of a sweep.

    Attributes:
        target: The target platform and namespace.
        pod: The pod of each trial. `TRIAL` is its index, `TRIAL_FILE` the file with its parameters.
        trials: Parameters of each trial, by name.
        at_once: Maximum number of trials at a time.
        deadline_seconds: Maximum total duration.
        ttl_seconds: How long the finished sweep is kept.
        retries: Retries of a trial before it counts as failed.
        failed_trials: Trials that may fail before the sweep fails; all but one by default.
        priority: Priority class.
        suspend: Create it suspended; the queue starts it.
    """

    target: Target
    pod: Pod
    trials: Sequence[Mapping[str, Value]]
    at_once: int = 1
    deadline_seconds: int | None = None
    ttl_seconds: int | None = DAY
    retries: int | None = 1
    failed_trials: int | None = None
    priority: str = "experiment"
    suspend: bool = True


def sweep(name: str, args: SweepArgs) -> WorkloadManifests:
    """The manifests of a sweep.

    Raises:
        WorkloadRefused: With all problems.
    """
    files = f"{name}-trials"
    job = _job(name, files, args)
    refuse_if_any("Sweep", name, _problems(args, job["spec"]["template"]["spec"]))
    data = {f"{index}.json": json.dumps(dict(trial), sort_keys=True) for index, trial in enumerate(args.trials)}
    trials = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(files, args.target), "data": data}
    return {"trials": WorkloadManifest(trials), "job": WorkloadManifest(job, needs=("trials",))}


class Sweep(Workload):
    """The resources of a sweep."""

    PULUMI_TYPE: Final = "slipway:workloads:Sweep"

    def __init__(self, name: str, args: SweepArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, sweep(name, args), args.target, opts)


def _job(name: str, files: str, args: SweepArgs) -> dict[str, Any]:
    target = args.target
    pod = replace(args.pod, volumes={**args.pod.volumes, "trials": Files(config_map=files, path=TRIALS_PATH)})
    trial = container(CONTAINER, pod, args.target)
    # From the annotation, because $(JOB_COMPLETION_INDEX) wouldn't be expanded: a variable can refer only to earlier
    # ones, and the controller adds that one last.
    index = {"name": "TRIAL", "valueFrom": {"fieldRef": {"fieldPath": f"metadata.annotations['{INDEX}']"}}}
    trial["env"] = [*trial["env"], index, {"name": "TRIAL_FILE", "value": f"{TRIALS_PATH}/$(TRIAL).json"}]
    failed = len(args.trials) - 1 if args.failed_trials is None else args.failed_trials
    policy = failure_policy("Never", ())["podFailurePolicy"]["rules"]
    fatal = {"containerName": CONTAINER, "operator": "In", "values": sorted(FATAL_EXIT_CODES)}
    body = {
        "activeDeadlineSeconds": args.deadline_seconds,
        "backoffLimitPerIndex": args.retries,
        "completionMode": "Indexed",
        "completions": len(args.trials),
        "maxFailedIndexes": max(0, failed),
        "parallelism": args.at_once,
        "podFailurePolicy": {"rules": [*policy, {"action": "FailIndex", "onExitCodes": fatal}]},
        "suspend": args.suspend,
        "ttlSecondsAfterFinished": args.ttl_seconds,
        "template": {
            "metadata": pod_metadata(name, pod, target, kept(pod, target)),
            "spec": {**pod_spec(pod, target, [trial], priority=args.priority), "restartPolicy": "Never"},
        },
    }
    meta = metadata(name, target, queued_as=args.priority, annotations={SKIP_AWAIT: "true"})
    return object_with("batch/v1", "Job", meta, spec=body)


def _problems(args: SweepArgs, spec: dict[str, Any]) -> Iterator[Problem]:
    yield from bounds_problems(args.deadline_seconds, args.ttl_seconds, args.retries)
    yield from count_problems("trials", len(args.trials), 1, MAX_TRIALS)
    yield from count_problems("at_once", args.at_once, 1, max(1, len(args.trials)))
    if args.failed_trials is not None:
        yield from count_problems("failed_trials", args.failed_trials, 0, len(args.trials))
    yield from suspended_problems(args.suspend, args.target, "Job")
    yield from pod_problems("pod", spec, args.target, at_once=args.at_once)
    yield from spot_problems("pod", spec, args.target)
    yield from lifetime_problems("deadline_seconds", args.deadline_seconds, spec, args.target)
