"""The objects that an answer is made from: one workload, and what belongs to it, as they were read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from components.workloads.target import Target

Object = Mapping[str, Any]


def name_of(obj: Object) -> str:
    """`job/train`, as kubectl writes it."""
    return f"{str(obj['kind']).lower()}/{obj['metadata']['name']}"


def conditions(obj: Object) -> dict[str, Object]:
    """The conditions of an object by type."""
    found = (obj.get("status") or {}).get("conditions") or ()
    return {str(one["type"]): one for one in found}


def is_true(obj: Object, *types: str) -> bool:
    """Whether one of these conditions is true."""
    found = conditions(obj)
    return any(found[each]["status"] == "True" for each in types if each in found)


def moment(event: Object) -> str:
    """When an event was last seen, as RFC 3339; times of that form sort as text."""
    series = event.get("series") or {}
    return str(
        series.get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
        or ""
    )


def reporter(event: Object) -> str:
    """The component that reports an event: `default-scheduler`, `karpenter`, `kubelet`."""
    return str(event.get("reportingComponent") or (event.get("source") or {}).get("component") or "")


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """Everything that was read about one workload."""

    subject: Object  # the object that the user named, with `apiVersion` and `kind`
    objects: Sequence[Object] = ()  # objects of its namespace, and objects of the cluster that concern it
    events: Sequence[Object] = ()  # events of the namespace, and of objects of the cluster
    target: Target | None = None  # what the stack offers in the namespace; None if the stack is unknown
    unread: Sequence[str] = field(default_factory=tuple)  # what could not be read, with the reason

    def of_kind(self, *kinds: str) -> Iterator[Object]:
        """All objects of some kinds."""
        return (one for one in self.objects if one["kind"] in kinds)

    def named(self, kind: str, name: str) -> Object | None:
        """One object by its name."""
        return next((one for one in self.of_kind(kind) if one["metadata"]["name"] == name), None)

    @cached_property
    def _by_uid(self) -> dict[str, Object]:
        return {str(one["metadata"].get("uid")): one for one in (*self.objects, self.subject)}

    def owners(self, obj: Object) -> Iterator[Object]:
        """The objects that own it, from the nearest."""
        seen: set[str] = set()
        pending = list(obj["metadata"].get("ownerReferences") or ())
        while pending:
            uid = str(pending.pop(0)["uid"])
            if uid in self._by_uid and uid not in seen:
                seen.add(uid)
                yield self._by_uid[uid]
                pending += self._by_uid[uid]["metadata"].get("ownerReferences") or ()

    @cached_property
    def family(self) -> tuple[Object, ...]:
        """The subject and everything below it, in the order in which it was read."""
        uid = str(self.subject["metadata"].get("uid"))
        below = [
            one
            for one in self.objects
            if one["metadata"].get("uid") != uid
            and any(str(each["metadata"].get("uid")) == uid for each in self.owners(one))
        ]
        return (self.subject, *below)

    @cached_property
    def pods(self) -> tuple[Object, ...]:
        """The pods of the workload that are not being deleted."""
        above = [self.subject] if self.subject["kind"] == "Workload" else []
        owned = [pod for one in above for pod in self._pods_of_workload(one)]
        below = [one for one in self.family if one["kind"] == "Pod"]
        return tuple(one for one in (*below, *owned) if not one["metadata"].get("deletionTimestamp"))

    def _pods_of_workload(self, workload: Object) -> Iterator[Object]:
        """Pods of the job that owns a Workload."""
        uids = {str(one["metadata"].get("uid")) for one in self.owners(workload)}
        for pod in self.of_kind("Pod"):
            if uids & {str(pod["metadata"].get("uid")), *(str(one["metadata"]["uid"]) for one in self.owners(pod))}:
                yield pod

    @cached_property
    def workloads(self) -> tuple[Object, ...]:
        """Kueue's Workloads of the subject, of what is below it, and of what owns it."""
        if self.subject["kind"] == "Workload":
            return (self.subject,)
        concerned = {str(one["metadata"].get("uid")) for one in (*self.family, *self.owners(self.subject))}
        above = ((one, one["metadata"].get("ownerReferences") or ()) for one in self.of_kind("Workload"))
        return tuple(one for one, owners in above if not concerned.isdisjoint(str(each["uid"]) for each in owners))

    def events_of(self, *objects: Object) -> list[Object]:
        """Events about some objects, the oldest first."""
        uids = {one["metadata"].get("uid") for one in objects}
        return sorted((one for one in self.events if one["involvedObject"].get("uid") in uids), key=moment)

    def events_about(self, kind: str, prefix: str) -> list[Object]:
        """Events about objects of a kind whose name begins so, which may be gone; the oldest first."""
        about = ((one, one["involvedObject"]) for one in self.events)
        found = (one for one, of in about if of.get("kind") == kind and str(of.get("name", "")).startswith(prefix))
        return sorted(found, key=moment)
