"""What the stack's admission rules refuse of a manifest, by their own expressions: the rules of `components.admission`,
evaluated without an API server (ADR 0126)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.addons.kueue import FRAMEWORKS
from components.admission import Rule, StackContext, kinds
from components.admission import rules as every_rule
from components.admission.defaults import LEVEL
from components.tenancy.roles import MEMBERS
from components.workloads.target import Target
from slipway.why import cel
from slipway.why.answer import Evidence, Part
from slipway.why.bundle import Object
from slipway.why.podsets import podsets
from slipway.why.refusals import refusal
from spec.jobs import GATE, QUEUE
from spec.settings.admission import Action, Admission
from spec.teams.labels import JOB_USD, PRIORITIES, TEAM

USER: Final = "slipway-why"  # name of the member of a team who would create the object
GPU_POOL: Final = "rule gpuPool: "
"""Begins the refusal of pods with GPUs that fit no pool (`components.admission.gpus`)."""
_RETRIES: Final = 6
"""`backoffLimit` of a Job without one (kubernetes 1.36, pkg/apis/batch/v1/defaults.go); those of a CronJob get it when
they are made."""


@dataclass(frozen=True)
class Violation:
    """A rule that an object violates, with the message that the API server would give."""

    rule: Rule
    action: Action
    message: str


def context_of(target: Target, settings: Admission) -> StackContext:
    """What the rules of a namespace depend on."""
    return StackContext(
        pools=target.pools,
        queues=target.queue is not None,
        aliases=target.aliases,
        max_replicas=settings.max_replicas,
        prices=target.prices,
        by_topology=target.by_topology or frozenset(),
        shares=None if target.shares is None else {target.labels.get(TEAM, ""): target.shares},
    )


def violations(manifest: Object, target: Target, settings: Admission) -> Iterator[Violation]:
    """The rules that an object violates, whatever their action, but those that are off."""
    team = target.labels.get(TEAM, "")
    on = [
        rule for rule in every_rule(context_of(target, settings)) if settings.of_team(rule.name, team) is not Action.OFF
    ]
    for rule, message in evaluated(manifest, target, on):
        yield Violation(rule, settings.of_team(rule.name, team), message)


def evaluated(manifest: Object, target: Target, rules: Iterable[Rule]) -> Iterator[tuple[Rule, str]]:
    """Which of some rules an object violates, each with its message."""
    served = as_served(manifest, target)
    for rule in rules:
        for one in _checked(rule, served):
            message = denied(rule, one, target)
            if message is not None:
                yield rule, message


def refusals(found: Iterable[Violation]) -> Iterator[Part]:
    """What the rules that deny refuse, in the words of the API server."""
    return (_part(one.rule, one.message) for one in found if one.action is Action.DENY)


def _checked(rule: Rule, served: Object) -> Iterator[Object]:
    """The object, or its pods: those of a rule for pods alone are refused to their controller."""
    group = str(served.get("apiVersion") or "").rpartition("/")[0]
    if any((one.group, one.kind) == (group, served.get("kind")) for one in rule.kinds):
        yield served
    elif {one.kind for one in rule.kinds} == {kinds.POD.kind}:
        for one in podsets(served):
            yield {"apiVersion": "v1", "kind": kinds.POD.kind, "metadata": dict(one.metadata), "spec": one.spec}


def _part(rule: Rule, message: str) -> Part:
    text = f"ValidatingAdmissionPolicy '{rule.name}.' with binding '{rule.name}' denied request: {message}"
    part = refusal(text)
    assert part is not None  # noqa: S101 - it is written as the API server writes it
    return part.seen(Evidence(f"rule {rule.name} of the stack", message))


def denied(rule: Rule, served: Object, target: Target) -> str | None:
    """The message of a rule that denies an object; None if it accepts it. An expression without a value denies, as
    with the policies' `failurePolicy`."""
    env = Variables(rule.variables, served, target, rule.parameters)
    try:
        if cel.compiled(rule.expression)(env) is True:
            return None
        return str(cel.compiled(rule.says)(env))
    except cel.CelError as error:
        return f"{rule.what} (it can't be evaluated: {error})"


class Variables(dict[str, Any]):
    """The variables of an expression; those of a rule are evaluated when they are first used."""

    def __init__(self, own: Mapping[str, str], served: Object, target: Target, parameters: Mapping[str, str]) -> None:
        kind = str(served.get("kind"))
        labels = {**target.labels, "kubernetes.io/metadata.name": target.namespace, LEVEL: target.pod_security}
        notes = {PRIORITIES: ",".join(target.priorities)}
        if target.job_usd is not None:
            notes[JOB_USD] = str(target.job_usd)
        space = {"labels": labels, "annotations": notes}
        request = {
            "operation": "CREATE",
            "kind": {"kind": kind},
            "namespace": target.namespace,
            "userInfo": {"username": USER, "groups": [MEMBERS]},
        }
        super().__init__(
            object=served,
            oldObject=None,
            request=request,
            namespaceObject={"metadata": space},
            params={"data": parameters},
        )
        self["variables"] = _Lazy(own, self)


class _Lazy(Mapping[str, Any]):
    def __init__(self, own: Mapping[str, str], env: Variables) -> None:
        self._own, self._env, self._known = own, env, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = cel.compiled(self._own[name])(self._env)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


# What the rules see is not what the user wrote: defaults of Kubernetes' own kinds, and what webhooks add, come first.


def as_served(manifest: Object, target: Target) -> dict[str, Any]:
    """The object as the rules see it: with the defaults that they read, the queue that Kueue gives it, and what the API
    server adds to pods."""
    served: dict[str, Any] = without_nulls(manifest)
    kind, spec = str(served.get("kind")), served.get("spec")
    metadata = served.setdefault("metadata", {})
    if "generateName" in metadata:
        metadata = served["metadata"] = {"name": f"{metadata['generateName']}00000", **metadata}
    if is_queued(served, target) and kind != "CronJob":
        metadata["labels"] = {QUEUE: target.queue, **(metadata.get("labels") or {})}
    if not isinstance(spec, dict):
        return served
    if kind == "Job" and "backoffLimit" not in spec:
        spec["backoffLimit"] = 2**31 - 1 if "backoffLimitPerIndex" in spec else _RETRIES
    if not any(kind == one.kind for one in kinds.UNCHECKED):
        # A volume without a source is an `emptyDir` (kubernetes 1.36, pkg/apis/core/v1/defaults.go).
        for volume in (each for group in podsets(served) for each in group.spec.get("volumes") or ()):
            if set(volume) == {"name"}:
                volume["emptyDir"] = {}
    if kind == kinds.POD.kind:
        _pod(spec, queued=is_queued(served, target))
    return served


def without_nulls(value: Any) -> Any:
    """A copy without the keys whose value is null, which count as absent."""
    if isinstance(value, Mapping):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def _pod(spec: dict[str, Any], *, queued: bool) -> None:
    """Tolerations of the extended resources (kubernetes, plugin/pkg/admission/extendedresourcetoleration), and Kueue's
    gate."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    names = {name for one in containers for name in ((one.get("resources") or {}).get("limits") or {}) if "/" in name}
    added = [{"key": name, "operator": "Exists"} for name in sorted(names)]
    spec["tolerations"] = [*(spec.get("tolerations") or ()), *added]
    if queued:
        spec["schedulingGates"] = [*(spec.get("schedulingGates") or ()), {"name": GATE}]


def is_queued(manifest: Object, target: Target) -> bool:
    """Whether Kueue queues it: by its label, or because it queues every object of the kind in namespaces of teams."""
    return target.queue is not None and (
        bool(label(manifest, QUEUE)) or FRAMEWORKS.get(str(manifest.get("kind"))) in (target.queued or ())
    )


def label(manifest: Object, key: str) -> str:
    """A label, of a CronJob that of its Jobs; empty if there is none."""
    metadata = manifest.get("metadata") or {}
    if manifest.get("kind") == "CronJob":
        metadata = ((manifest.get("spec") or {}).get("jobTemplate") or {}).get("metadata") or {}
    return str((metadata.get("labels") or {}).get(key) or "")
