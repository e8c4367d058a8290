"""What would hold the objects of a file: the API server's answer in a dry run, then the settings of the stack."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final

from components.admission import kinds
from components.tenancy.roles import group
from components.workloads.target import Target
from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError
from sandbox.kubernetes.objects import Ref
from slipway.why import file, judge, price
from slipway.why.answer import Answer, Evidence, Layer, Part
from slipway.why.beside import CONFIG_MAP, SECRET, references
from slipway.why.bundle import Object
from slipway.why.podsets import PodSet, podsets, steps
from slipway.why.refusals import refusal
from slipway.why.runtimes import all_podsets
from slipway.why.served import CLAIM
from slipway.why.shapes import Located
from slipway.why.table import part_of
from spec.jobs import GATE, KUEUE_API, QUEUE
from spec.pools import PoolSpec, start
from spec.settings import Platform
from spec.settings.admission import Action, Admission
from spec.settings.teams import MemberRole
from spec.teams.labels import TEAM

# Whether the API server would accept a manifest and its pods: requests of a dry run, with a team member's rights.


USER: Final = judge.USER  # name under which an administrator's dry run acts as a member of a team
_OPTIONS: Final = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": USER}


@dataclass(frozen=True)
class Outcome:
    """Result of the dry run of one object."""

    message: str = ""  # the API server's error; empty if it accepts the object
    about: str = ""  # `job/train`, or its pod template
    exists: bool = False  # whether an object of the name exists


class DryRun:
    """Dry runs in one namespace.

    Attributes:
        member: Whose rights they have: a group, or empty for those of the user.
    """

    def __init__(self, client: KubeClient, namespace: str, team: str | None = None) -> None:
        self._client, self._namespace = client, namespace
        owner = team or self._team()
        self.member = group(owner, MemberRole.EDIT) if owner else ""
        if self.member and not self._may_impersonate():
            self.member = ""

    def of(self, manifest: Object) -> Outcome:
        """Create the object, and a pod of each of its templates as its controller would, without keeping them."""
        name = str((manifest.get("metadata") or {}).get("name") or "")
        about = f"{str(manifest.get('kind')).lower()}/{name}"
        metadata = {**(manifest.get("metadata") or {})}
        try:
            namespaced = self._client.discovery.find(
                str(manifest.get("apiVersion")), str(manifest.get("kind"))
            ).namespaced
        except NoSuchKindError as error:
            return Outcome(f"{error}: the cluster has no CustomResourceDefinition of it", about)
        if namespaced:
            metadata["namespace"] = self._namespace
        message, status = self._create({**manifest, "metadata": metadata})
        exists = status == HTTPStatus.CONFLICT
        if message and not exists:
            return Outcome(message, about)
        if manifest.get("kind") == "Pod":
            return Outcome(exists=exists)
        for one in podsets(manifest):
            message, _ = self._create(self._pod(manifest, one))
            if message:
                return Outcome(message, f"a pod of {about} (template {one.name})", exists)
        return Outcome(exists=exists)

    def missing(self, api_version: str, kind: str, names: Sequence[str]) -> list[str]:
        """Names of objects that the namespace does not have; none if they can't be read."""
        try:
            return [one for one in names if self._client.get(Ref(api_version, kind, one, self._namespace)) is None]
        except (ApiError, NoSuchKindError):
            return []

    def names(self, api_version: str, kind: str) -> list[str]:
        """Names of the objects of a kind in the namespace; none if they can't be read."""
        try:
            found = self._client.list(self._client.discovery.find(api_version, kind), self._namespace)
            return sorted(str(one["metadata"]["name"]) for one in found)
        except (ApiError, NoSuchKindError):
            return []

    def _pod(self, manifest: Object, one: PodSet) -> dict[str, Any]:
        """A pod of a template; one that Kueue will hold has its gate, which a member's own pod needs, too."""
        queue = ((manifest.get("metadata") or {}).get("labels") or {}).get(QUEUE)
        labels = {**(one.metadata.get("labels") or {}), **({QUEUE: queue} if queue else {})}
        gates = [*(one.spec.get("schedulingGates") or ()), *([{"name": GATE}] if queue else [])]
        metadata = {"generateName": "slipway-why-", "namespace": self._namespace, "labels": labels}
        if one.metadata.get("annotations"):
            metadata["annotations"] = one.metadata["annotations"]
        spec = {**one.spec, **({"schedulingGates": gates} if gates else {})}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def _create(self, manifest: Object) -> tuple[str, int]:
        resource = self._client.discovery.find(str(manifest["apiVersion"]), str(manifest["kind"]))
        path = resource.path(str(manifest["metadata"].get("namespace") or ""))
        try:
            self._client.call("POST", path, manifest, _OPTIONS, headers=self._headers())
        except ApiError as error:
            return error.message, error.status
        return "", HTTPStatus.CREATED

    def _headers(self) -> dict[str, str]:
        return {"Impersonate-User": USER, "Impersonate-Group": self.member} if self.member else {}

    def _team(self) -> str:
        try:
            found = self._client.metadata(Ref("v1", "Namespace", self._namespace))
        except ApiError:
            return ""
        return str(((found or {}).get("metadata", {}).get("labels") or {}).get(TEAM) or "")

    def _may_impersonate(self) -> bool:
        """A member may not: the dry run then has the member's own rights."""
        attributes = {"verb": "impersonate", "resource": "groups", "name": self.member}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        try:
            answer = self._client.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
        except ApiError:
            return False
        return bool((answer.get("status") or {}).get("allowed"))


# What would hold the objects of a file: the API server's answer first, then the settings of the stack.


_ORDER: Final = {layer: number for number, layer in enumerate(Layer)}


def located(documents: Sequence[Any], at: tuple[str | int, ...] = ()) -> list[Located]:
    """The objects of a file, each with the number of its document and its path there; a List becomes its items."""
    found: list[Located] = []
    for number, one in enumerate(documents):
        if (
            isinstance(one, Mapping)
            and str(one.get("kind", "")).endswith("List")
            and isinstance(one.get("items"), list)
        ):
            found += located(one["items"], (*at, number, "items"))
        elif isinstance(one, Mapping):
            found.append(((*at, number), one))
    return found


def with_trials(found: Sequence[Located]) -> Iterator[Located]:
    """The same objects, and after each Experiment of Katib the job that each of its trials is, in its namespace."""
    for at, one in found:
        yield at, one
        metadata = one.get("metadata") or {}
        trial = ((one.get("spec") or {}).get("trialTemplate") or {}).get("trialSpec") or {}
        if one.get("kind") == kinds.EXPERIMENT.kind and trial.get("kind") and trial.get("apiVersion"):
            own = {**(trial.get("metadata") or {}), "name": f"{metadata.get('name')}-trial"}
            space = {"namespace": metadata["namespace"]} if metadata.get("namespace") else {}
            yield (*at, "spec", "trialTemplate", "trialSpec"), {**trial, "metadata": {**own, **space}}


def answer(
    manifest: Object,
    *,
    target: Target | None,
    rules: Admission,
    dry_run: DryRun | None,
    others: Sequence[Object] = (),
    unread: Sequence[str] = (),
    platform: Platform | None = None,
) -> Answer:
    """What would hold one object before it exists, and what it costs if nothing does.

    Args:
        target: What the stack offers in its namespace; None if the stack is unknown.
        dry_run: The API server; None if there is none.
        platform: The stack, for its prices; None if it is unknown.
    """
    metadata = manifest.get("metadata") or {}
    subject = f"{str(manifest.get('kind')).lower()}/{metadata.get('name') or metadata.get('generateName') or ''}"
    parts: list[Part] = []
    seen: list[Evidence] = []
    if dry_run is not None:
        outcome = dry_run.of(manifest)
        who = f"as {dry_run.member}" if dry_run.member else "with your permissions"
        if outcome.message and _in_file(outcome.message, others):
            seen.append(Evidence("dry run", f"its webhook asks for the runtime of this file, not there yet {who}"))
        elif outcome.message:
            parts.append(_refused(outcome, who))
        else:
            seen.append(Evidence("dry run", f"the API server accepts it {who}"))
        if outcome.exists:
            seen.append(Evidence("dry run", f"it exists already: `slipway why {subject}` answers for that"))
        parts += _absent(manifest, dry_run, others)
    found = file.findings(manifest, target, others) if target else []
    if dry_run is not None:
        # The API server has answered for admission, and knows the claims and queues that exist.
        found = [one for one in found if one.layer not in (Layer.ADMISSION, Layer.CONTAINER, Layer.VOLUME)]
    elif target is not None and not any(one.problem.path in ("kind", "apiVersion") for one in found):
        broken = list(judge.violations(manifest, target, rules))
        parts += [*(one.part for one in found if one.decoding), *judge.refusals(broken)]
        seen += [
            Evidence(f"{one.action} by rule {one.rule.name}", one.message)
            for one in broken
            if one.action is not Action.DENY
        ]
    parts += [one.part for one in found if one.part not in parts]
    of_steps = list(_steps(manifest, target, platform)) if target else []
    parts += [one for one in of_steps if isinstance(one, Part)]
    seen += [one for one in of_steps if isinstance(one, Evidence)]
    parts.sort(key=lambda one: _ORDER[one.layer])
    parts = list(_nearer(parts))
    seen += [Evidence("note", str(one)) for one in (file.notes(manifest, target, others) if target else ())]
    if not parts:
        cause, numbers, pools = _room(manifest, target, others)
        costs = price.bound(manifest, target, platform, others) if target and platform else None
        if costs is not None:
            seen.append(Evidence("price", costs.text))
            numbers |= costs.numbers
        if pools:
            seen.append(Evidence("start", start.estimate(pools)))
        part = Part(layer=Layer.ACCEPTED, cause=cause, numbers=numbers)
        return Answer(subject=subject, part=part.seen(*seen), unread=tuple(unread), planned=True)
    first, *rest = parts
    more = [Evidence(f"also {one.layer}", f"{one.cause}; next: {one.fix}") for one in rest]
    return Answer(subject=subject, part=first.seen(*seen, *more), unread=tuple(unread), planned=True)


_PLACES: Final = (Layer.QUOTA, Layer.SCHEDULER, Layer.POOL_LIMIT)


def _steps(manifest: Object, target: Target, platform: Platform | None) -> Iterator[Part | Evidence]:
    """Where the pods of a workflow's templates can't run, and what one of each costs; how many a step starts is often
    known only when it runs."""
    most = "" if target.job_usd is None else f"; one job of the team may cost {target.job_usd} USD"
    for name, pod in steps(manifest):
        about = f"price of a pod of {name}"
        if "{{" in str(
            [[one.get("resources") for one in pod["spec"]["containers"]], {**pod["spec"], "containers": ()}]
        ):
            yield Evidence(about, "not known before it runs: a parameter is in its requests")
            continue
        found = [one for one in file.findings(pod, target) if one.layer in _PLACES]
        yield from (replace(one.part, cause=f"template {name}: {one.part.cause}") for one in found)
        if platform and not found and (costs := price.bound(pod, target, platform)):
            yield Evidence(about, costs.text + most)


def _nearer(parts: Sequence[Part]) -> Iterator[Part]:
    """For pods that no pool fits: what the nearest pool lacks, beside the general advice of the rule."""
    lacks = next((one for one in parts if one.layer is Layer.SCHEDULER), None)
    for one in parts:
        if lacks is not None and judge.GPU_POOL in one.cause:
            yield replace(one, cause=f"{one.cause}; {lacks.cause}", fix=lacks.fix)
        elif one is not lacks or not any(judge.GPU_POOL in each.cause for each in parts):
            yield one


_NO_RUNTIME: Final = re.compile(r"(?i)runtime[\w.]* ['\"]([^'\"]+)['\"] not found")
"""Of the webhooks of Kueue v0.19.2 and Trainer v2.3.0 (seen 2026-11-30)."""


def _in_file(message: str, others: Sequence[Object]) -> bool:
    """Whether all that a webhook misses is in the file: a dry run keeps nothing of it."""
    found = _NO_RUNTIME.search(message)
    return found is not None and ("TrainingRuntime", found[1]) in _made(others)


def _made(others: Sequence[Object]) -> set[tuple[Any, Any]]:
    return {(one.get("kind"), (one.get("metadata") or {}).get("name")) for one in others}


def _refused(outcome: Outcome, who: str) -> Part:
    found = refusal(outcome.message)
    found = found or part_of("refused", message=outcome.message)
    about = f"{outcome.about}: " if outcome.about.startswith("a pod") else ""
    seen = Evidence(f"dry run of {outcome.about} {who}", outcome.message)
    return replace(found, cause=about + found.cause).seen(seen)


def _absent(manifest: Object, dry_run: DryRun, others: Sequence[Object]) -> Iterator[Part]:
    """Claims, Secrets, ConfigMaps and queues that neither the namespace nor the file has."""
    made = _made(others)
    named = [each[1:3] for one in podsets(manifest) for each in references(one.name, one.spec)]
    for kind in (CLAIM, SECRET, CONFIG_MAP):
        wanted = dict.fromkeys(name for each, name in named if each == kind and (kind, name) not in made)
        for name in dry_run.missing("v1", kind, list(wanted)):
            called, known = "claim" if kind == CLAIM else kind, ", ".join(dry_run.names("v1", kind))
            there = f"there are {known}" if known else "the namespace has none"
            yield part_of(f"no such {called}", {called.lower(): name}, there=there)
    queue = str(((manifest.get("metadata") or {}).get("labels") or {}).get(QUEUE) or "")
    known_queues = dry_run.names(KUEUE_API, "LocalQueue") if queue else []
    if known_queues and queue not in known_queues:
        found = part_of("no such LocalQueue", {"queue": queue}, name=queue, there=", ".join(known_queues))
        yield replace(found, never=False)


def _room(
    manifest: Object, target: Target | None, others: Sequence[Object]
) -> tuple[str, dict[str, str], list[PoolSpec]]:
    """Where its pods would run."""
    groups = [one for one in all_podsets(manifest, target, others) if one.count] if target else []
    if target is None or not groups:
        return "", {}, []
    parts, found = [], list[PoolSpec]()
    for one in groups:
        pools = file.fits(manifest, one, target)
        found += pools.values()
        parts.append(f"{one.count} {'pod' if one.count == 1 else 'pods'} on {', '.join(pools)}")
    return ", ".join(parts), {"pods": str(sum(one.count for one in groups))}, found
