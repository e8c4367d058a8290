"""Boundaries of teams: Pod Security levels, and the objects that the stack file gives."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from policies.checks.questions import is_in
from policies.checks.sameness import differences, identity_of, named
from policies.resources import tokens
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation
from spec.catalog.software import PRIVILEGED

_ENFORCED: Final = "pod-security.kubernetes.io/enforce"  # label of a namespace whose pods are refused
_LEVELS: Final = ("restricted", "baseline", "privileged")


def _level(space: Resource) -> Node:
    return space["metadata"]["labels"][_ENFORCED]


def _privileged(space: Resource, context: Context) -> Iterator[Violation]:
    level, name = _level(space), space["metadata"]["name"].text()
    allowed = any(fnmatchcase(name or "", pattern) for pattern in context.settings["privileged"])
    if level.raw == "privileged" and name is not None and not allowed:
        yield violation(level)


PSS_ENFORCED = ResourceRule(
    name="pss-enforced",
    types=(tokens.NAMESPACE,),
    settings={
        "privileged": setting(
            "globs of namespaces for node software, such as drivers, device plugins and node agents",
            list(PRIVILEGED),
        )
    },
    finds={
        "level": is_in(_level, *_LEVELS),
        "privileged": _privileged,
    },
)


RENDERED: Final = (
    tokens.ADMISSION_POLICY,
    tokens.ADMISSION_BINDING,
    tokens.MUTATING_POLICY,
    tokens.MUTATING_BINDING,
    tokens.NAMESPACE,
    tokens.RESOURCE_QUOTA,
    tokens.LIMIT_RANGE,
    tokens.NETWORK_POLICY,
    tokens.SERVICE_ACCOUNT,
    tokens.CLUSTER_ROLE,
    tokens.NAMESPACE_ROLE,
    tokens.CLUSTER_ROLE_BINDING,
    tokens.ROLE_BINDING,
    tokens.PRIORITY_CLASS,
    tokens.CLUSTER_QUEUE,
    tokens.LOCAL_QUEUE,
    tokens.RESOURCE_FLAVOR,
    tokens.COHORT,
    tokens.WORKLOAD_PRIORITY,
    tokens.TOPOLOGY,
    tokens.ADMISSION_CHECK,
    tokens.MULTI_KUEUE_CONFIG,
    tokens.MULTI_KUEUE_CLUSTER,
)
"""Kinds of the objects that the stack file gives; a test compares them with `infra.boundaries`."""
_UNKNOWN: Final = ("", "", "")
_OURS: Final = ".platform.slipway"  # end of the names of the platform's admission rules


def _changed(one: Resource, context: Context) -> Iterator[Violation]:
    known = context.boundaries
    given = known.objects.get(identity_of(one) or _UNKNOWN) if known else None
    if given is not None:
        yield from differences(given, one.props)


def _added(one: Resource, context: Context) -> Iterator[Violation]:
    """Objects take effect by being there: network policies and queues add up, a rule is for all namespaces, and a
    service account with the name of a chart's has its permissions."""
    known, identity = context.boundaries, identity_of(one)
    if known and identity and one.type in RENDERED and identity not in known.objects and not named(known, one):
        yield violation(one["metadata"]["name"], "an object that the stack file does not give")


AS_GIVEN = ResourceRule(
    name="boundaries-as-given",
    # Of ConfigMaps, that with the parameters of admission rules.
    types=(*RENDERED, tokens.CONFIG_MAP),
    finds={
        "changed": _changed,
        "added": _added,
    },
    program_only=True,
)


def _missing(stack: Stack, context: Context) -> Iterator[Violation]:
    """A run for the network alone has no cluster yet, and declares none of them."""
    known, declared = context.boundaries, stack.of(*RENDERED, tokens.CONFIG_MAP)
    there = {identity_of(one) for one in declared}
    # One whose name a preview doesn't know may be any of its type.
    hidden = {one.type for one in declared if identity_of(one) is None}
    for identity in known.objects if known and declared else ():
        kind, place, name = identity
        if identity not in there and kind not in hidden:
            text = "/".join(part for part in (kind.rpartition(":")[2], place, name) if part)
            yield Violation(path="", got=f"without {text}")


COMPLETE = StackRule(
    name="boundaries-complete",
    # Of ConfigMaps, that with the parameters of admission rules.
    types=(*RENDERED, tokens.CONFIG_MAP),
    finds={"declared": _missing},
)


_ADVICE: Final = ["gpu-limits", "gpu-pool", "image-tag", "shown-defaults", "spot-checkpoint", "spot-eviction"]
"""Rules whose violation harms its own workload alone: it doesn't start, or loses its work. One only shows defaults."""


def _softened(stack: Stack, context: Context) -> Iterator[Violation]:
    advice, known = context.settings["advice"], context.boundaries
    for one in stack.of(tokens.ADMISSION_BINDING):
        rule, ours, _ = (one["spec"]["policyName"].text() or "").partition(_OURS)
        actions = one["spec"]["validationActions"]
        given = actions.items() if actions.known else []
        if ours and rule not in advice and given and all(each.is_not("Deny") for each in given):
            yield violation(actions, at=one)
    for rule in sorted(known.off.difference(advice) if known else ()):
        yield Violation(path="", got=f"without {rule}, which the stack file turns off for some team")


SECURITY_DENIES = StackRule(
    name="admission-security-denies",
    types=(tokens.ADMISSION_BINDING,),
    settings={"advice": setting("rules that may warn", _ADVICE)},
    finds={"action": _softened},
)
