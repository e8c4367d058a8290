"""What a rule's expressions see: variables that rules share, and parameters.

A policy declares the shared variables that its expressions use, each once; the API server compiles each by itself, in a
time that grows with the square of its length, and evaluates it when it is first used. The facts of a stack are in a
ConfigMap, the parameter of every policy (kubernetes.io, "Validating Admission Policy", parameter resources): a policy
doesn't grow with pools, add-ons and teams, and a change of those updates one object.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from components.admission import placement, templates
from components.admission.rule import Rule
from components.admission.templates import JOB, O
from components.admission.templates import KIND as KIND_OF
from components.base.controllers import KUBE_SYSTEM
from spec.teams.labels import ADMISSION

KIND: Final = {"apiVersion": "v1", "kind": "ConfigMap"}
REFERENCE: Final = {"name": ADMISSION, "namespace": KUBE_SYSTEM, "parameterNotFoundAction": "Deny"}
"""The parameter of a binding. Without it nothing is known of the stack, and requests of teams are refused."""
SHARED: Final = {**templates.VARIABLES, **placement.VARIABLES}
_USED: Final = re.compile(r"\bvariables\.(\w+)")


def _shared(name: str) -> str:
    if not name.startswith(JOB):
        return SHARED[name]
    text = SHARED[name.removeprefix(JOB)].replace(O, "variables.job").replace(KIND_OF, "variables.kind")
    return _USED.sub(lambda used: used[0] if used[1] in ("job", "kind") else f"variables.{JOB}{used[1]}", text)


def declared(own: Mapping[str, str], *expressions: str) -> dict[str, str]:
    """Variables that these expressions use, each after those that it uses.

    Args:
        own: Variables beside the shared ones, each of which may use those before it; all are declared.
        expressions: Expressions that use them.
    """
    found: dict[str, str] = {}

    def use(text: str) -> None:
        for name in _USED.findall(text):
            if name not in found and name not in own:
                shared = _shared(name)
                use(shared)
                found[name] = shared

    for name, text in own.items():
        use(text)
        found[name] = text
    for each in expressions:
        use(each)
    return found


_TOKENS: Final = re.compile(r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|[ ]*(&&|\|\||[=!<>]=|[-+*/?:,<>])[ ]*""")


def compact(expression: str) -> str:
    """The expression without the spaces around its operators, which are a twelfth of it."""
    return _TOKENS.sub(lambda found: found[1] or found[2], expression)


def completed(rule: Rule, shared: Mapping[str, str]) -> Rule:
    """The rule with all the variables and parameters that its expressions use.

    Args:
        rule: The rule.
        shared: Parameters of all rules.
    """
    return replace(
        rule,
        variables={name: compact(text) for name, text in declared(rule.variables, rule.expression, rule.says).items()},
        expression=compact(rule.expression),
        parameters={**shared, **rule.parameters, **rule.words},
    )


def parameters(rules: Iterable[Rule]) -> dict[str, Any]:
    """The ConfigMap with the parameters of all rules."""
    data = {name: text for rule in rules for name, text in rule.parameters.items()}
    return {**KIND, "metadata": {"name": ADMISSION, "namespace": KUBE_SYSTEM}, "data": dict(sorted(data.items()))}
