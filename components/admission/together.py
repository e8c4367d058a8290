"""Rules that an API server evaluates together, as one policy.

It prepares a request four times for each policy that matches, and evaluates every message, whether it is shown or not
(k8s.io/apiserver 1.36.3, plugin/policy/validating/validator.go and plugin/cel/activation.go). So rules that deny in the
namespaces of all teams share a policy and its variables, and only what is violated has a message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Final

from components.admission.kinds import POD
from components.admission.rule import UPDATE, Rule, literal, said
from components.admission.templates import BY_A_USER, changed
from components.admission.variables import compact
from spec import strict_yaml

GROUPS: Final[Mapping[str, Collection[str]]] = strict_yaml.beside(__file__, "groups")
"""Names of policies, of at most 16 KiB each, with those of their rules."""
_VARIABLES: Final = {
    "what": "[request.resource.resource + (has(request.subResource) ? '/' + request.subResource : '')]"
    f".map(r, r == '{POD.resource}' && request.operation == 'UPDATE' ? r + '{UPDATE}' : r)[0]"
}


def together(rules: Iterable[Rule]) -> Iterator[Rule]:
    """The rules, with one instead of each group that has several of them."""
    left = {rule.name: rule for rule in rules}
    for name, names in GROUPS.items():
        found = [left.pop(each) for each in names if each in left] if len(left.keys() & set(names)) > 1 else []
        if found:
            yield _one(name, found)
    yield from left.values()


def _one(name: str, rules: Collection[Rule]) -> Rule:
    """A rule that is violated by what violates one of these, with the name and the message of the first."""
    variables = {**_VARIABLES, "changed": changed()}
    for rule in rules:
        changes = "_".join(("changed", *rule.changes)).replace(".", "_")
        asked = f"variables.{changes} && variables.what in params.data['of.{rule.name}'].split(',')"
        found = rule.found or literal([""])
        refused = f"{asked} && !({rule.expression}) ? [['{rule.name}'], {found}] : []"
        if rule.changes:
            variables[changes] = changed(*rule.changes, spec="variables.changed")
        variables |= {**rule.variables, _variable(rule): refused}
    names = [f"variables.{_variable(rule)}" for rule in rules]
    first = "".join(f"{each}.size() > 0 ? {each} : " for each in names)
    message = f"[f[0][0]].map(n, n + ': ' + {said('n', 'f[1]')})[0]"
    variables["denied"] = f"!({BY_A_USER}) ? '' : [{first}[]].map(f, f.size() == 0 ? '' : {message})[0]"
    return Rule(
        name=name,
        kinds=tuple(dict.fromkeys(chain(*(rule.kinds for rule in rules)))),
        variables={each: compact(text) for each, text in variables.items()},
        expression="variables.denied==''",
        text="variables.denied",
        pod_updates=any(rule.pod_updates for rule in rules),
    )


def _variable(rule: Rule) -> str:
    return rule.name.replace("-", "_")
