"""What a runtime of the platform says about a model that names it: its metrics, and when it is ready."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from components.addons.kserve.runtimes import NamedRuntime
from components.workloads.pods import Pod
from components.workloads.serving.args import ModelServerArgs
from components.workloads.serving.scaling import Autoscaling, Scaled
from spec.settings.problems import Problem


def health_path(name: str, args: ModelServerArgs) -> str:
    """Where the server says that its model is loaded."""
    if isinstance(args.runtime, Pod) or args.runtime not in (args.target.runtimes or {}):
        return args.health_path
    runtime = (args.target.runtimes or {})[args.runtime]
    return runtime.server.health.replace("{{.Name}}", name)


def scaled(name: str, args: ModelServerArgs) -> Scaled:
    """The Deployment of a service, and the metrics that its server has."""
    known = Scaled(namespace=args.target.namespace, deployment=f"{name}-predictor", mig=False)
    if isinstance(args.runtime, Pod):
        return replace(known, mig=bool(args.runtime.resources.mig))
    runtime = (args.target.runtimes or {})[args.runtime]
    return replace(known, mig=bool(runtime.place and runtime.place.mig), waiting_metric=runtime.server.waiting)


def named_problems(name: str, args: ModelServerArgs) -> Iterator[Problem]:
    """What is wrong with a runtime of the platform."""
    known, scaling = args.target.runtimes, args.autoscaling
    if known is not None and name not in known:
        fix = f"There are: {', '.join(sorted(known)) or 'none'}."
        yield Problem("runtime", "a runtime is a pod, or one of the platform's", name, fix)
    if scaling is None:
        return
    if known is None:
        rule = "the metrics of a named runtime are known from the stack file, and this target has none"
        yield Problem("autoscaling", rule, name, "Make the target with Target.from_stack_file, or give a pod.")
    elif name in known:
        yield from _metric_problems(known[name], scaling)


def _metric_problems(runtime: NamedRuntime, scaling: Autoscaling) -> Iterator[Problem]:
    """Metrics that the server of a runtime does not have: nothing would be scaled by them."""
    if scaling.gpu_percent is not None and runtime.place is None:
        rule = "this runtime has no GPU whose utilization could be measured"
        yield Problem("autoscaling.gpu_percent", rule, scaling.gpu_percent, "Set gpu_percent=None.")
    if scaling.waiting is not None and (scaling.waiting_metric or runtime.server.waiting) is None:
        rule = "no metric of this server is known to count waiting requests"
        fix = "Set waiting=None, or waiting_metric to the name of one."
        yield Problem("autoscaling.waiting", rule, scaling.waiting, fix)
