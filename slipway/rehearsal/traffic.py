"""Whether network policies let the pods of one job connect to those of another: the stack's own objects, evaluated as
Kubernetes defines them (kubernetes.io, "Network Policies"; read 2026-11). No packet is sent: there is no data plane.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slipway.render.recording import Recording
from slipway.replay.plan import namespace_of
from slipway.trial.clock import Job
from spec.settings import Platform
from spec.teams import labels

Object = Mapping[str, Any]
PORT: Final = 29500  # where ranks meet by default (pytorch.org, torchrun, `--master-port`)


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Policies and namespaces of a stack."""

    policies: Sequence[Object]  # NetworkPolicies
    spaces: Mapping[str, Mapping[str, str]]  # labels of namespaces, by name

    @classmethod
    def of(cls, recording: Recording) -> Traffic:
        """Those that a stack's program declares."""
        plain = [one.inputs.plain for one in recording if one.custom and one.type.startswith("kubernetes:")]
        spaces = {
            one["metadata"]["name"]: one["metadata"].get("labels") or {}
            for one in plain
            if one.get("kind") == "Namespace"
        }
        return cls(policies=[one for one in plain if one.get("kind") == "NetworkPolicy"], spaces=spaces)

    def blocked(self, source: Pod, target: Pod, port: int) -> str:
        """Why a TCP connection is not allowed; empty if it is. A policy of either side may forbid it."""
        for pod, other, direction in ((source, target, "Egress"), (target, source, "Ingress")):
            applying = [one for one in self.policies if self._applies(one, pod, direction)]
            key, peers = direction.lower(), "to" if direction == "Egress" else "from"
            rules = [rule for one in applying for rule in one["spec"].get(key) or ()]
            if applying and not any(self._allows(rule, peers, other, pod.namespace, port) for rule in rules):
                names = ", ".join(sorted(str(one["metadata"]["name"]) for one in applying))
                way = "to" if direction == "Egress" else "from"
                return (
                    f"{key} of namespace {pod.namespace}: none of its network policies ({names}) allows port {port} "
                    f"{way} pods of {other.namespace}"
                )
        return ""

    def _applies(self, policy: Object, pod: Pod, direction: str) -> bool:
        spec = policy["spec"]
        types = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]
        same = policy["metadata"].get("namespace") == pod.namespace
        return same and direction in types and selects(spec.get("podSelector") or {}, pod.labels)

    def _allows(self, rule: Object, peers: str, other: Pod, own: str, port: int) -> bool:
        listed = rule.get(peers)
        ports = rule.get("ports")
        reached = not listed or any(self._is(peer, other, own) for peer in listed)
        return reached and (not ports or any(_opens(one, port) for one in ports))

    def _is(self, peer: Object, other: Pod, own: str) -> bool:
        # Addresses are for what is outside the cluster: those of pods change.
        if "ipBlock" in peer:
            return False
        space = peer.get("namespaceSelector")
        near = other.namespace == own if space is None else selects(space, self.spaces.get(other.namespace, {}))
        return near and selects(peer.get("podSelector") or {}, other.labels)


@dataclass(frozen=True, kw_only=True)
class Pod:
    """A pod of a job."""

    namespace: str
    labels: Mapping[str, str]

    @classmethod
    def of(cls, job: Job, platform: Platform) -> Pod:
        """A pod of a scenario's job, in the namespace of its team for such jobs."""
        team = platform.teams[job.team]
        return cls(namespace=namespace_of(job.team, team, str(job.priority)), labels=labels.of_team(job.team, team))


def _opens(rule: Object, port: int) -> bool:
    if rule.get("protocol", "TCP") != "TCP":
        return False
    first = rule.get("port")
    return first is None or (isinstance(first, int) and first <= port <= int(rule.get("endPort") or first))


def selects(selector: Object, found: Mapping[str, str]) -> bool:
    """Whether a label selector selects something with these labels."""
    wanted = selector.get("matchLabels") or {}
    return all(found.get(key) == value for key, value in wanted.items()) and all(_expressions(selector, found))


def _expressions(selector: Object, found: Mapping[str, str]) -> Iterator[bool]:
    for one in selector.get("matchExpressions") or ():
        has = one["key"] in found
        yield {
            "In": found.get(one["key"]) in (one.get("values") or ()),
            "NotIn": found.get(one["key"]) not in (one.get("values") or ()),
            "Exists": has,
            "DoesNotExist": not has,
        }[one["operator"]]
