"""Fields that fix violations of rules, in order, and the MutatingAdmissionPolicy by which an API server fills them in.

A field that a user set is never replaced: what it says is for the rules. Kubernetes 1.36 has the policies (KEP 3962,
stable there; `admissionregistration.k8s.io/v1`). What was filled in is in an annotation, and a warning shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from components.admission import kinds, variables
from components.admission.context import StackContext
from components.admission.pods import RESTRICTED
from components.admission.rule import Fill, Rule, literal
from components.admission.templates import (
    BY_A_CONTROLLER,
    KIND,
    OF_CRON_JOB,
    SPEC_PATHS,
    TEMPLATE_METADATA,
    TEMPLATE_NOTES,
    TEMPLATE_PATHS,
    O,
)
from components.base.operator import object_of
from spec.catalog import kubernetes
from spec.jobs import QUEUE
from spec.teams.labels import TEAM

SINCE: Final = 36
"""First minor version of Kubernetes 1 that serves the policies by default (KEP 3962)."""
NOTE: Final = "platform.slipway/defaults"
"""Annotation: what was filled in."""
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
    """One field, and the rule whose violation it fixes.

    Attributes:
        rule: Name of the rule, or of the Pod Security level.
        fill: The field.
        condition: CEL expression that must be true as well.
    """

    rule: str
    fill: Fill
    condition: str = "true"


def steps(rules: Iterable[Rule]) -> tuple[Step, ...]:
    """The fields of these rules: queues first, because tolerations depend on them."""
    found = [Step(rule.name, fill) for rule in rules for fill in rule.fills]
    found.sort(key=lambda one: QUEUE not in (one.fill.field, *([QUEUE] if QUEUE in one.fill.value else [])))
    return (*found, *(Step(POD_SECURITY, fill, _IS_RESTRICTED) for fill in RESTRICTED))


VARIABLES: Final = {
    "queued": f"params.data.queues == 'true' && ({KIND} in {_JOBS} || {literal(QUEUE)} in variables.labels)"
}
"""Beside the shared variables: a job is `queued` that gets its queue by default."""


def shown(fill: Fill, path: str) -> str:
    """How a field is named to a user: `spec.activeDeadlineSeconds: 86400`."""
    value = "" if fill.appends or "variables." in fill.value or "s." in fill.value else f": {fill.value}"
    where = path.removesuffix("+").replace("{}", "[]")
    return f"{where}.{fill.field}{value}".replace("'", "").replace('"', "")


def manifests(rules: Iterable[Rule], context: StackContext) -> dict[str, dict[str, Any]]:
    """The policies and their bindings, by the suffix of their logical name; none before Kubernetes 1.36."""
    if (kubernetes.minor(context.version) or 0) < SINCE:
        return {}
    found = steps(rules)
    shown_policy, shown_binding = notice(found)
    return {
        "defaults": policy(found),
        "defaults-binding": binding(),
        "defaults-shown": shown_policy,
        "defaults-shown-binding": shown_binding,
    }


def policy(found: Sequence[Step]) -> dict[str, Any]:
    """The MutatingAdmissionPolicy of the fields that the API server fills in."""
    ours = [one for one in found if one.fill.of_server and one.fill.when != "false" and not one.fill.removes]
    mutations = [_CLEARED, *map(_mutation, ours)]
    declared = variables.declared({**VARIABLES, **_PLACES}, *mutations)
    return {
        "apiVersion": _API,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": NAME},
        "spec": {
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
            "variables": [{"name": name, "expression": text} for name, text in declared.items()],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": each}} for each in mutations],
        },
    }


def binding() -> dict[str, Any]:
    """Its binding, for namespaces of teams."""
    spec = {"policyName": NAME, "paramRef": variables.REFERENCE, "matchResources": _OF_TEAMS}
    return object_of(_API, "MutatingAdmissionPolicyBinding", NAME, spec=spec)


def notice(found: Sequence[Step]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The ValidatingAdmissionPolicy that shows a user what was filled in, as a warning, and its binding."""
    policy = {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": f"shown-{NAME}"},
        "spec": {
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
        },
    }
    spec = {"policyName": f"shown-{NAME}", "validationActions": ["Warn"], "matchResources": _OF_TEAMS}
    metadata = {"name": f"shown-{NAME}"}
    return policy, {"apiVersion": _API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": metadata, "spec": spec}


_OF_TEAMS: Final = {"namespaceSelector": {"matchExpressions": [{"key": TEAM, "operator": "Exists"}]}}
_POINTER: Final = f"/metadata/annotations/{NOTE.replace('/', '~1')}"
NOTES: Final = f"(has({O}.metadata.annotations) ? {O}.metadata.annotations : {{}})"
_CLEARED: Final = f"'{NOTE}' in {NOTES} ? [JSONPatch{{op: 'remove', path: '{_POINTER}'}}] : []"
"""A copy of an object brings the annotation of its original."""


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


def _mutation(one: Step) -> str:
    """The patches of one field: the field wherever it is absent, and its name in the annotation."""
    fill, field = one.fill, literal(one.fill.field.replace("~", "~0").replace("/", "~1"))
    add = f"[JSONPatch{{op: 'add', path: x.at + '/' + {field}, value: dyn({fill.value})}}]"
    grown = f"dyn({fill.value}).map(v, JSONPatch{{op: 'add', path: x.at + '/' + {field} + '/-', value: v}})"
    there = grown if fill.appends else "[]"
    made = "(x.made ? [JSONPatch{op: 'add', path: x.at, value: {}}] : [])"
    patches = f"({fill.when}) ? (!({literal(fill.field)} in s) ? {made} + {add} : {there}) : []"
    noted = f"({NOTES}.size() > 0 ? [] : [JSONPatch{{op: 'add', path: '/metadata/annotations', value: {{}}}}])"
    earlier = f"('{NOTE}' in {NOTES} ? string({NOTES}['{NOTE}']) + '; ' : '')"
    note = f"[JSONPatch{{op: 'add', path: '{_POINTER}', value: {earlier} + ({_names(fill)})}}]"
    if fill.paths in (TEMPLATE_METADATA, TEMPLATE_NOTES):
        patches = f"[x.t].map(t, {patches})[0]"
    found = f"{_named(fill.paths)}.map(x, [x.s].map(s, {patches})[0]).flatten()"
    return f"!({one.condition}) ? [] : [{found}].map(ps, ps.size() == 0 ? ps : ps + {noted} + {note})[0]"


def _names(fill: Fill) -> str:
    """What the annotation calls the field of this kind."""
    names: dict[str, list[str]] = {}
    for kind, paths in fill.paths.items():
        names.setdefault(shown(fill, paths[0]), []).append(kind)
    *others, last = names
    return "".join(f"{KIND} in {literal(names[text])} ? {literal(text)} : " for text in others) + literal(last)


def _named(paths: Mapping[str, Sequence[str]]) -> str:
    return next((f"variables.{name}" for name, one in _NAMED.items() if one == paths), f"({_holders(paths)})")


def _holders(paths: Mapping[str, Sequence[str]]) -> str:
    """The holders of a kind, in CEL: a list of maps with the holder `s`, its JSON pointer `at`, and whether it is to be
    `made`."""
    of: dict[tuple[str, ...], list[str]] = {}
    for kind, found in paths.items():
        of.setdefault(tuple(found), []).append(kind)
    cases = [f"{KIND} in {literal(named)} ? {' + '.join(map(_at, found))}" for found, named in of.items()]
    return " : ".join([*cases, "[]"])


def _below(paths: Mapping[str, Sequence[str]], name: str) -> str:
    """The holders below those of a named list, of all its kinds: below pod templates, or pod specs.

    With the paths of each kind written out, an API server took 28 s of CPU to compile the policy, and a request that
    creates it may take 34 (kubernetes 1.36.3, 2026-11).
    """
    above = _NAMED[name]
    kind = next(iter(above))
    suffixes = [
        path.removeprefix(f"{above[kind][0]}.") for path in paths[kind] if path.startswith(f"{above[kind][0]}.")
    ]
    for each, found in paths.items():
        if sorted(found) != sorted(f"{path}.{suffix}" for path in above[each] for suffix in suffixes):
            msg = f"{each} has other fields below its {name} than {kind}: {', '.join(found)}"
            raise ValueError(msg)
    found = " + ".join(_at(suffix, "p.s", "p.at") for suffix in suffixes)
    if suffixes[0].startswith("metadata"):
        found = f"({found}).map(x, {{'at': x.at, 's': x.s, 'made': x.made, 't': dyn(p.s)}})"
    return f"variables.{name}.map(p, {found}).flatten()"


def _at(path: str, root: str = O, root_at: str = "''") -> str:
    """The holders at one path below a root, written from its end to its beginning."""
    parts = path.removesuffix("+").split(".")
    made = path.endswith("+")
    text = "[{'at': dyn(a%d), 's': dyn(o%d), 'made': dyn(false)}]" % (len(parts), len(parts))  # noqa: UP031 - braces
    for number in range(len(parts) - 1, -1, -1):
        name = parts[number].removesuffix("[]").removesuffix("{}")
        holder, at = (f"o{number}", f"a{number} + '/{name}'") if number else (root, f"{root_at} + '/{name}'")
        value, there, last = f"{holder}.{name}", f"has({holder}.{name})", number + 1
        absent = f"[{{'at': dyn({at}), 's': dyn({{}}), 'made': dyn(true)}}]" if made and last == len(parts) else "[]"
        item, of_list, of_map = "", "lists.range(%s.size()).map(k, %s).flatten()", "%s.map(k, %s).flatten()"
        if parts[number].endswith("[]"):
            item = " + '/' + string(k)"
        elif parts[number].endswith("{}"):
            item = " + '/' + string(k).replace('~', '~0').replace('/', '~1')"
        each = f"[dyn({value}{'[k]' if item else ''})].map(o{last}, [{at}{item}].map(a{last}, {text})[0])[0]"
        if item:
            each = (of_list if parts[number].endswith("[]") else of_map) % (value, each)
        text = f"({there} ? {each} : {absent})"
    return text


_NAMED: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "podTemplates": TEMPLATE_PATHS,
    "podSpecs": SPEC_PATHS,
    "podSecurity": RESTRICTED[-1].paths,
    "security": RESTRICTED[0].paths,
    "capabilities": RESTRICTED[2].paths,
    "podMetadata": TEMPLATE_METADATA,
    "podNotes": TEMPLATE_NOTES,
}
"""Paths of several fields."""
_BARE: Final = {kind: paths for kind, paths in SPEC_PATHS.items() if kind not in TEMPLATE_PATHS}
_IN_TEMPLATES: Final = {kind: paths for kind, paths in SPEC_PATHS.items() if kind in TEMPLATE_PATHS}
_PLACES: Final = {
    "podTemplates": _holders(TEMPLATE_PATHS),
    "podSpecs": f"({_holders(_BARE)}) + {_below(_IN_TEMPLATES, 'podTemplates')}",
    **{name: _below(_NAMED[name], "podSpecs") for name in ("podSecurity", "security", "capabilities")},
    **{name: _below(_NAMED[name], "podTemplates") for name in ("podMetadata", "podNotes")},
}
"""Their holders, once."""
