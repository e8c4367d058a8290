"""A pipeline of steps, each a pod, as a WorkflowTemplate of Argo Workflows, with a run or a schedule.

Steps pass large data to one another through volume claims; parameters of the pipeline are strings.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

import pulumi

from components.workloads.checks.jobs import (
    bounds_problems,
    count_problems,
    lifetime_problems,
    retries_problems,
    served_problems,
)
from components.workloads.checks.pods import pod_problems, spot_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests, name_problems, refuse_if_any
from components.workloads.metadata import SKIP_AWAIT, kept, metadata, pod_metadata, queue_labels
from components.workloads.pods import Pod, container, pod_spec
from components.workloads.target import Target
from spec.jobs import DAY
from spec.settings.addons.batch import ArgoWorkflows
from spec.settings.problems import Problem

API: Final = "argoproj.io/v1alpha1"
ENTRY: Final = "pipeline"
_TAKEN: Final = ("affinity", "nodeSelector", "securityContext", "tolerations", "volumes")
"""Pod fields that a step's template has too; other fields are added with a patch."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step.

    Attributes:
        pod: Its pod. `{{workflow.parameters.NAME}}` in its arguments is a parameter of the pipeline.
        after: Steps that must succeed first.
        retries: Failures before the pipeline fails.
    """

    pod: Pod
    after: tuple[str, ...] = ()
    retries: int = 2


@dataclass(frozen=True, kw_only=True)
class PipelineArgs:
    """Inputs of a pipeline.

    Attributes:
        target: The target platform and namespace.
        steps: Steps by name.
        parameters: Parameters with their defaults.
        parallelism: Maximum number of steps at a time.
        deadline_seconds: Maximum duration of a run.
        ttl_seconds: How long a finished run is kept.
        run: Name of a run to start; none by default. Another name starts another run.
        schedule: Cron expression with five fields, in UTC; one run at a time.
        priority: Priority class.
    """

    target: Target
    steps: Mapping[str, Step]
    parameters: Mapping[str, str] = field(default_factory=dict)
    parallelism: int = 4
    deadline_seconds: int | None = None
    ttl_seconds: int | None = DAY
    run: str | None = None
    schedule: str | None = None
    priority: str = "experiment"


def pipeline(name: str, args: PipelineArgs) -> WorkloadManifests:
    """The manifests of a pipeline.

    Raises:
        WorkloadRefused: With all problems.
    """
    refuse_if_any("Pipeline", name, _problems(args))
    manifests = {"template": WorkloadManifest(_template(name, args))}
    called = {"workflowTemplateRef": {"name": name}}
    if args.run:
        run = f"{name}-{args.run}"
        meta = metadata(run, args.target, annotations={SKIP_AWAIT: "true"})
        workflow = {"apiVersion": API, "kind": "Workflow", "metadata": meta, "spec": called}
        manifests["run"] = WorkloadManifest(workflow, needs=("template",))
    if args.schedule:
        spec = {
            "schedules": [args.schedule],
            "timezone": "UTC",
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 600,
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 3,
            "workflowSpec": called,
        }
        cron = {"apiVersion": API, "kind": "CronWorkflow", "metadata": metadata(name, args.target), "spec": spec}
        manifests["schedule"] = WorkloadManifest(cron, needs=("template",))
    return manifests


class Pipeline(Workload):
    """The resources of a pipeline."""

    PULUMI_TYPE: Final = "slipway:workloads:Pipeline"

    def __init__(self, name: str, args: PipelineArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, pipeline(name, args), args.target, opts)


def _template(name: str, args: PipelineArgs) -> dict[str, Any]:
    tasks = [
        {"name": step, "template": step, **({"depends": " && ".join(settings.after)} if settings.after else {})}
        for step, settings in args.steps.items()
    ]
    first = {"name": ENTRY, "dag": {"tasks": tasks}}
    spec = {
        "activeDeadlineSeconds": args.deadline_seconds,
        "arguments": {"parameters": [{"name": key, "value": value} for key, value in args.parameters.items()]},
        # Argo's executor container in each pod reports the result of the step, and needs the API token for it.
        "automountServiceAccountToken": True,
        "entrypoint": ENTRY,
        "parallelism": args.parallelism,
        "podGC": {"strategy": "OnPodSuccess"},
        "serviceAccountName": args.target.service_account,
        "templates": [first, *(_step(name, step, settings, args) for step, settings in args.steps.items())],
        "ttlStrategy": {"secondsAfterCompletion": args.ttl_seconds},
    }
    return {"apiVersion": API, "kind": "WorkflowTemplate", "metadata": metadata(name, args.target), "spec": spec}


def _step(name: str, step: str, settings: Step, args: PipelineArgs) -> dict[str, Any]:
    spec = _pod(settings.pod, args)
    (main,) = spec["containers"]
    queued = queue_labels(args.target, args.priority)
    rest = {key: spec[key] for key in ("terminationGracePeriodSeconds", "enableServiceLinks")}
    return {
        "name": step,
        # Kueue queues each step's pod separately: a pipeline that waits between steps holds no GPU.
        "metadata": pod_metadata(name, settings.pod, args.target, kept(settings.pod, args.target), more=queued),
        "container": main,
        "podSpecPatch": json.dumps(rest, sort_keys=True),
        "priorityClassName": args.priority,
        "retryStrategy": {
            "limit": str(settings.retries),
            "retryPolicy": "Always",
            "backoff": {"duration": "30s", "factor": "2", "maxDuration": "30m"},
        },
        **{key: spec[key] for key in _TAKEN if key in spec},
    }


def _pod(pod: Pod, args: PipelineArgs) -> dict[str, Any]:
    return pod_spec(pod, args.target, [container("main", pod, args.target)], priority=args.priority)


def _problems(args: PipelineArgs) -> Iterator[Problem]:
    yield from served_problems(args.target, "Workflow", ArgoWorkflows)
    yield from bounds_problems(args.deadline_seconds, args.ttl_seconds, 0)
    yield from count_problems("steps", len(args.steps), 1, 100)
    yield from count_problems("parallelism", args.parallelism, 1, 50)
    yield from _order_problems(args.steps)
    if args.run is not None:
        yield from (Problem("run", each.rule, each.value, each.fix) for each in name_problems(args.run))
    if args.schedule is not None and len(args.schedule.split()) != 5:
        rule = "a schedule is a cron expression of five fields: minute, hour, day, month, weekday"
        yield Problem("schedule", rule, args.schedule, 'Write "0 3 * * *" for every day at 03:00 UTC.')
    for step, settings in args.steps.items():
        path = f"steps.{step}.pod"
        yield from (Problem(f"steps.{step}", each.rule, each.value, each.fix) for each in name_problems(step))
        yield from (
            Problem(f"steps.{step}.{each.path}", each.rule, each.value, each.fix)
            for each in retries_problems(settings.retries)
        )
        spec = _pod(settings.pod, args)
        yield from pod_problems(path, spec, args.target)
        yield from spot_problems(path, spec, args.target)
        yield from lifetime_problems("deadline_seconds", args.deadline_seconds, spec, args.target)


def _order_problems(steps: Mapping[str, Step]) -> Iterator[Problem]:
    for step, settings in steps.items():
        for before in settings.after:
            if before not in steps:
                fix = f"There are: {', '.join(steps)}."
                yield Problem(f"steps.{step}.after", "it must be a step of the pipeline", before, fix)
    if ENTRY in steps:
        yield Problem(f"steps.{ENTRY}", "the name is reserved for the pipeline itself", ENTRY, "Rename the step.")
    try:
        tuple(TopologicalSorter({step: settings.after for step, settings in steps.items()}).static_order())
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        yield Problem("steps", "steps must not depend on each other in a cycle", circle, "Remove one `after`.")
