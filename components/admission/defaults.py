"""Fields that fix violations of rules, in order, and the MutatingAdmissionPolicy by which an API server fills them in.

A field that a user set is never replaced: what it says is for the rules. Kubernetes 1.36 has the policies (KEP 3962,
stable there; `admissionregistration.k8s.io/v1`). What was filled in is in an annotation, and a warning shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from components.admission import kinds, variables
from components.admission.context import StackContext
from components.admission.pods import RESTRICTED
from components.admission.rule import Fill, Rule, literal
from components.admission.templates import (
    BY_A_CONTROLLER,
    KIND,
    OF_CRON_JOB,
    O,
)
from components.admission.topology import NAME as TOPOLOGY
from components.base.operator import object_of
from spec.catalog import kubernetes
from spec.jobs import QUEUE
from spec.teams.labels import TEAM

NOTE: Final = "platform.slipway/defaults"  # annotation: what was filled in
NAME: Final = "defaults.platform.slipway"
LEVEL: Final = "pod-security.kubernetes.io/enforce"
POD_SECURITY: Final = "Pod Security level restricted"
_API: Final = "admissionregistration.k8s.io/v1"
_JOBS: Final = literal([kind.kind for kind in (*kinds.JOBS, kinds.TRAIN_JOB)])
_IS_RESTRICTED: Final = (
    f"(has(namespaceObject.metadata.labels) && '{LEVEL}' in namespaceObject.metadata.labels && "
    f"namespaceObject.metadata.labels['{LEVEL}'] == 'restricted')"
)


@dataclass(frozen=True)
class Step:
    """One field, and the rule whose violation it fixes."""

    rule: str  # name of the rule, or of the Pod Security level
    fill: Fill  # the field
    condition: str = "true"  # CEL expression that must be true as well


def steps(rules: Iterable[Rule]) -> tuple[Step, ...]:
    """The fields of these rules, each after those that it depends on."""
    found = [Step(rule.name, fill) for rule in rules for fill in rule.fills]
    return (*sorted(found, key=_stage), *(Step(POD_SECURITY, fill, "variables.restricted") for fill in RESTRICTED))


def _stage(one: Step) -> int:
    """Tolerations depend on the queue, and what only pools with a topology can have on tolerations."""
    return 2 if one.rule == TOPOLOGY else int(one.fill.field != QUEUE and QUEUE not in one.fill.value)


NOTES: Final = f"(has({O}.metadata.annotations) ? {O}.metadata.annotations : {{}})"
VARIABLES: Final = {
    "notes": NOTES,
    "restricted": _IS_RESTRICTED,
    "queued": f"params.data.queues == 'true' && ({KIND} in {_JOBS} || {literal(QUEUE)} in variables.labels)",
}
"""Beside the shared variables: a job is `queued` that gets its queue by default."""


def shown(fill: Fill, path: str) -> str:
    """How a field is named to a user: `spec.activeDeadlineSeconds: 86400`."""
    value = "" if fill.appends or "variables." in fill.value or "s." in fill.value else f": {fill.value}"
    where = path.removesuffix("+").replace("{}", "[]")
    return f"{where}.{fill.field}{value}".replace("'", "").replace('"', "")


def manifests(rules: Iterable[Rule], context: StackContext) -> dict[str, dict[str, Any]]:
    """The policies and their bindings, by the suffix of their logical name; none before Kubernetes 1.36."""
    if (kubernetes.minor(context.version) or 0) < kubernetes.MUTATES:
        return {}
    found = steps(rules)
    shown_policy, shown_binding = notice(found)
    return {
        "defaults": policy(found),
        "defaults-binding": binding(),
        "defaults-shown": shown_policy,
        "defaults-shown-binding": shown_binding,
    }


def _filled(found: Iterable[Step]) -> list[Step]:
    """Those that the API server fills in."""
    return [one for one in found if one.fill.of_server and one.fill.when != "false" and not one.fill.removes]


def parameters(found: Iterable[Step]) -> dict[str, str]:
    """What the policy finds in `params.data`: of each field its number, a kind, its place and name, with `+` if it is a
    list that grows, and what a user is shown."""
    lines = [
        f"{number} {kind} {path} {one.fill.field}{'+' * one.fill.appends} {shown(one.fill, paths[0])}"
        for number, one in enumerate(_filled(found))
        for kind, paths in one.fill.paths.items()
        for path in paths
    ]
    return {"defaults": "\n".join(lines)}


def policy(found: Sequence[Step]) -> dict[str, Any]:
    """The MutatingAdmissionPolicy of the fields that the API server fills in."""
    ours = _filled(found)
    deepest = max(len(path.split(".")) for one in ours for paths in one.fill.paths.values() for path in paths)
    places = {f"places{number + 1}": _deeper(number) for number in range(deepest)}
    places_of = f"variables.places{deepest}"
    stages = groupby(enumerate(ours), lambda numbered: _stage(numbered[1]))
    values = {f"values{turn}": _values(places_of, numbered) for turn, (_, numbered) in enumerate(stages)}
    declared = variables.declared({**VARIABLES, **_FIRST, **places, **values})
    mutations = [_CLEARED, *map(_mutation, values)]
    spec = {
        # What is not filled in is refused by its rule: nothing depends on the policy.
        "failurePolicy": "Ignore",
        "reinvocationPolicy": "Never",
        "paramKind": variables.KIND,
        "matchConstraints": {"resourceRules": _resource_rules(ours)},
        "matchConditions": [
            # What a controller makes has what its parent has.
            {"name": "not-by-a-controller", "expression": f"!{BY_A_CONTROLLER}"},
            {"name": "not-of-a-cron-job", "expression": f"!({KIND} == 'Job' && {OF_CRON_JOB})"},
        ],
        "variables": [{"name": name, "expression": variables.compact(text)} for name, text in declared.items()],
        # As few as depend on each other: an API server evaluates the variables for each.
        "mutations": [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": variables.compact(each)}} for each in mutations
        ],
    }
    return object_of(_API, "MutatingAdmissionPolicy", NAME, spec=spec)


def binding() -> dict[str, Any]:
    """Its binding, for namespaces of teams."""
    spec = {"policyName": NAME, "paramRef": variables.REFERENCE, "matchResources": _OF_TEAMS}
    return object_of(_API, "MutatingAdmissionPolicyBinding", NAME, spec=spec)


def notice(found: Sequence[Step]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The ValidatingAdmissionPolicy that shows a user what was filled in, as a warning, and its binding."""
    name = f"shown-{NAME}"
    policy = {
        "failurePolicy": "Ignore",
        "matchConstraints": {"resourceRules": _resource_rules(found)},
        "matchConditions": [{"name": "not-by-a-controller", "expression": f"!{BY_A_CONTROLLER}"}],
        "validations": [
            {
                "expression": f"!(has(object.metadata.annotations) && '{NOTE}' in object.metadata.annotations)",
                "message": "fields were filled in",
                "messageExpression": f"'accepted with defaults: ' + object.metadata.annotations['{NOTE}'] + "
                "'. Write them into the file: slipway why FILE --fix'",
            }
        ],
    }
    bound = {"policyName": name, "validationActions": ["Warn"], "matchResources": _OF_TEAMS}
    return (
        object_of(_API, "ValidatingAdmissionPolicy", name, spec=policy),
        object_of(_API, "ValidatingAdmissionPolicyBinding", name, spec=bound),
    )


_OF_TEAMS: Final = {"namespaceSelector": {"matchExpressions": [{"key": TEAM, "operator": "Exists"}]}}
_POINTER: Final = f"/metadata/annotations/{NOTE.replace('/', '~1')}"
_CLEARED: Final = f"'{NOTE}' in variables.notes ? [JSONPatch{{op: 'remove', path: '{_POINTER}'}}] : []"
"""A copy of an object brings the annotation of its original."""


def _mutation(values: str) -> str:
    """The patches of a variable with values of fields, and the names of the fields in the annotation."""
    return (
        f"[variables.{values}].map(vs, vs.size() == 0 ? [] : "
        f"vs.filter(v, v[0][{_MADE}]).map(v, string(v[0][{_AT}])).distinct().map(a, "
        "JSONPatch{op: 'add', path: a, value: {}}) + "
        f"vs.map(v, JSONPatch{{op: 'add', path: v[0][{_AT}] + v[1], value: v[2]}}) + "
        "(variables.notes.size() > 0 ? [] : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}]) + "
        f"[JSONPatch{{op: 'add', path: '{_POINTER}', value: variables.notes.filter(k, k == '{NOTE}')"
        ".map(k, string(variables.notes[k]) + '; ').join('') + "
        f"vs.map(v, string(v[0][{_FIELD}][3])).distinct().join('; ')}}])[0]"
    )


def _resource_rules(found: Iterable[Step]) -> list[dict[str, Any]]:
    named = {kind for one in found for kind in one.fill.paths}
    groups: dict[str, set[str]] = {}
    for one in kinds.BY_RESOURCE.values():
        if one.kind in named and "/" not in one.resource:
            groups.setdefault(one.group, set()).add(one.resource)
    return [
        {"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": sorted(resources)}
        for group, resources in sorted(groups.items())
    ]


_FIELD, _AT, _HOLDER, _TEMPLATE, _MADE = range(5)
"""Of a place: of its field the number, the name, the path, what a user is shown and whether it grows; JSON pointer of
its holder, the holder `s`, the pod template `t` above it, and whether the holder is to be made."""
_NAME: Final = "p.replace('[]', '').replace('{}', '').replace('+', '')"
_FIRST: Final = {
    "places0": f"params.data.defaults.split('\\n').map(l, l.split(' ', 5)).filter(f, f[1] == {KIND}).map(f, "
    "[dyn([dyn(f[0]), dyn(f[3].replace('+', '')), "
    f"dyn(f[2].split('.').map(p, [{_NAME}].map(n, [n, p.replace(n, '')])[0])), dyn(f[4]), "
    f"dyn(f[3].endsWith('+'))]), dyn(''), {O}, {O}, dyn(false)])"
}
"""Places where the fields of the kind may be, before the first part of their path."""


def _deeper(number: int) -> str:
    """The same places after one more part of each path, which ends earlier or is written as in `Fill.paths`."""

    below, escaped = f"x[{_HOLDER}][p[0]]", "string(k).replace('~', '~0').replace('/', '~1')"
    template = f"p[0] == 'metadata' ? x[{_HOLDER}] : x[{_TEMPLATE}]"
    # Pointer below that of the holder, what is there, and whether it is to be made.
    deeper = (
        f"!(p[0] in x[{_HOLDER}]) ? (p[1] == '+' ? [[dyn(''), dyn({{}}), dyn(true)]] : []) : "
        f"p[1] in ['', '+'] ? [[dyn(''), {below}, dyn(false)]] : "
        f"(p[1] == '[]' ? lists.range({below}.size()).map(k, dyn(k)) : {below}.map(k, dyn(k)))"
        f".map(k, [dyn('/' + {escaped}), {below}[k], dyn(false)])"
    )
    place = f"[x[{_FIELD}], dyn(x[{_AT}] + '/' + p[0] + y[0]), y[1], {template}, y[2]]"
    return (
        f"variables.places{number}.map(x, x[{_FIELD}][2].size() <= {number} ? [x] : [x[{_FIELD}][2][{number}]]"
        f".map(p, ({deeper}).map(y, {place}))[0]).flatten()"
    )


def _values(places: str, numbered: Iterable[tuple[int, Step]]) -> str:
    """What fields get in each of their places: a list of the place, the pointer below its holder, and the value;
    nothing if the field is there, unless it is a list that grows."""
    field, name, grows = f"x[{_FIELD}]", f"x[{_FIELD}][1]", f"x[{_FIELD}][4]"
    chain = ""
    for number, one in numbered:
        when = " && ".join(f"({each})" for each in (one.condition, one.fill.when) if each != "true")
        given = f"[dyn({one.fill.value})]" + ".filter(w, w.size() > 0)" * one.fill.appends
        chain += f"n == '{number}' ? ({when} ? {given} : []) : " if when else f"n == '{number}' ? {given} : "
    pointer = f"'/' + {name}.replace('~', '~0').replace('/', '~1')"
    patched = f"{name} in s ? w.map(v, [dyn(x), dyn({pointer} + '/-'), v]) : [[dyn(x), dyn({pointer}), w]]"
    return (
        f"{places}.map(x, [x[{_HOLDER}]].map(s, [x[{_TEMPLATE}]].map(t, [{field}[0]].map(n, "
        f"({name} in s && !{grows} ? [] : {chain}[]).map(w, {patched}).flatten())[0])[0])[0]).flatten()"
    )
