"""What refuses an object when it is created: the API server's errors, in a dry run or in a controller's event."""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Final

from components.admission import StackContext, rules
from components.admission.together import GROUPS
from components.workloads.checks.fit import need
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.serving import called, look
from slipway.why.answer import Layer, Part
from slipway.why.podsets import PodSet
from slipway.why.table import part_of, said
from spec.quantities import parse, readable

Match = re.Match[str]
_QUOTA: Final = re.compile(r"exceeded quota: ([^,]+), requested: (\S+), used: (\S+), limited: (\S+)")
"""k8s.io/apiserver, pkg/admission/plugin/resourcequota/controller.go."""
_WAIT: Final = "wait until other pods of the namespace end, "


def _policy(match: Match) -> Part:
    """One of the stack's rules, whose message is what is wrong, then the fix (`components.admission.rule.Message`)."""
    rule, text = match[1].partition(".")[0], match[2].strip()
    first, _, rest = text.partition(": ")
    if first in GROUPS.get(rule, ()):
        rule, text = first, rest
    head, *words = rule.split("-")
    setting = head + "".join(word.title() for word in words)
    begins = _fixes().get(rule, "")
    at = text.find(begins) if begins else -1
    if begins.startswith(" ") and at > 0:
        # ` is not for teams: use one of ...` still belongs to what is wrong.
        ends = _CLAUSE.search(text, at)
        at = ends.end() if ends else -1
    cause, fix = (text[:at], text[at:].lstrip(". ")) if at > 0 else (text, "change it as the rule says")
    return Part(layer=Layer.ADMISSION, cause=f"rule {setting}: {cause.rstrip(' :.')}", fix=fix[:1].lower() + fix[1:])


@cache
def _fixes() -> dict[str, str]:
    """How the fix begins in the message of each rule."""
    every = rules(StackContext(pools={}, queues=True, max_replicas=1, by_topology=frozenset({"any"})))
    return {rule.name: rule.message.fix[:_BEGINS] for rule in every}


_CLAUSE: Final = re.compile(r"[:.] ")
_BEGINS: Final = 10  # characters by which the beginning of a fix is found: what follows may depend on the stack


def _amounts(match: Match) -> dict[str, dict[str, str]]:
    """What is requested, used and allowed of each resource that exceeds a ResourceQuota."""
    texts = zip(("requested", "used", "limit"), match.groups()[1:], strict=True)
    return {key: dict(part.partition("=")[::2] for part in text.split(",")) for key, text in texts}


def beyond_quota(part: Part, message: str, groups: Sequence[PodSet]) -> Part:
    """The same refusal, or that waiting does not help: all pods of the workload at once exceed the whole quota."""
    if (match := _QUOTA.search(message)) is None:
        return part
    amounts = _amounts(match)
    for name, asked in amounts["requested"].items():
        limit, resource = parse(amounts["limit"][name]), name.removeprefix("requests.")
        needs = (one.count * {**need(one.spec), "pods": Decimal(1)}.get(resource, Decimal(0)) for one in groups)
        together = max(parse(asked), sum(needs, Decimal(0)))
        if together > limit:
            amounts_of = {"requested": readable(resource, together), "limit": readable(resource, limit)}
            pods = sum(one.count for one in groups) or 1
            whole = part_of("whole ResourceQuota", {"resource": name, **amounts_of}, name=match[1], pods=pods)
            fix = part.fix.replace(_WAIT, "run fewer pods at once, ")
            return replace(part, never=True, cause=whole.cause, fix=fix, numbers={**part.numbers, **whole.numbers})
    return part


def _quota(match: Match) -> Part:
    name, amounts = match[1], _amounts(match)
    parts = [
        f"{amounts['requested'][each]} of {each} requested, {amounts['used'].get(each, '?')} of "
        f"{amounts['limit'].get(each, '?')} used"
        for each in amounts["requested"]
    ]
    first = next(iter(amounts["requested"]))
    numbers = {"resource": first, **{key: value.get(first, "") for key, value in amounts.items()}}
    key = "ResourceQuota of nothing" if amounts["limit"].get(first) == "0" else "ResourceQuota"
    return part_of(key, numbers, name=name, parts="; ".join(parts), wait=_WAIT)


def _range(match: Match) -> Part:
    bound, resource, scope, limit, given = match.groups()
    wanted = f"{'at most' if bound == 'maximum' else 'at least'} {limit}"
    of_node = bound == "maximum" and resource in ("cpu", "memory")
    numbers = {"resource": resource, "limit": limit, "requested": given.rpartition(" ")[2].rstrip(".")}
    more = "; no node that the team may use is larger" if of_node else ""
    return part_of("LimitRange", numbers, wanted=wanted, scope=scope, given=given, more=more)


def with_server(part: Part, client: KubeClient) -> Part:
    """The answer about a webhook that does not answer, with the Deployment behind it and the command that helps."""
    namespace, _, name = str(part.numbers.get("service") or "").partition("/")
    found = look(client, namespace, name) if name else None
    if found is None:
        return part
    return replace(part, cause=f"{part.cause.partition(': ')[0]}: {found.cause}", fix=found.fix)


_OWN: Final = (
    # k8s.io/apiserver 1.36, pkg/admission/plugin/policy/validating/dispatcher.go.
    (r"ValidatingAdmissionPolicy '([^']+)' with binding '[^']+' denied request: (.*)", _policy),
    (_QUOTA.pattern, _quota),
    # kubernetes, plugin/pkg/admission/limitranger/admission.go.
    (r"(maximum|minimum) (\S+) usage per (\w+) is (\S+?), but ([^.,\]]+)", _range),
)


def refusal(message: str) -> Part | None:
    """What refuses an object, from the API server's message; None if the message is of another kind."""
    for pattern, make in _OWN:
        if match := re.search(pattern, message, re.DOTALL):
            return make(match)
    part, service = said("refusal", message), called(message)
    return replace(part, numbers={"service": "/".join(service)}) if part and service else part
