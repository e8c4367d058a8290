"""What a rule is: kinds, a CEL expression that must be true, and a message that says how to fix a violation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, order=True)
class Kind:
    """A Kubernetes kind that a rule checks. Its CRD need not be installed: nothing matches then."""

    group: str
    resource: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class Message:
    """The error message: what is wrong, the value, the fix.

    Attributes:
        wrong: Beginning of the sentence.
        found: CEL expression of the offending value, a string; empty if the message has none.
        shown: Placeholder of the value in the docs.
        fix: The rest.
    """

    wrong: str
    found: str = ""
    shown: str = ""
    fix: str

    @property
    def text(self) -> str:
        """The message for the docs, with a placeholder."""
        return self.wrong + (f"<{self.shown}>" if self.found else "") + self.fix


@dataclass(frozen=True, kw_only=True)
class Fill:
    """A field that fixes a violation: `slipway why FILE --fix` writes it, and where the cluster's version has
    MutatingAdmissionPolicies, the API server fills it in if it is absent (`components.admission.defaults`).

    All texts but paths are CEL expressions of `s`, which holds the field, of the pod template `t` where that is its
    metadata or its annotations, and of what the rule's expressions see.

    Attributes:
        paths: Where the holders are, by kind: `spec.replicatedJobs[].template.spec`; `[]` is each item of a list, `{}`
            each value of a map, and a last part with `+` is created if it is absent.
        field: Name of the field.
        value: What an absent field gets, or what is appended to a list.
        when: Whether it is filled in where it is absent.
        wrong: Whether a value that the user set has to be replaced. Only a file is: the API server never does it.
        right: What replaces it, `null` to remove it; `value` if empty.
        removes: Names of fields of `s` that have to go, a list; the field is filled in if there are any. Only a file is
            changed so.
        appends: Whether the field is a list that grows by `value`, which may be empty.
        of_server: Whether the API server fills it in as well.
    """

    paths: Mapping[str, Sequence[str]]
    field: str = ""
    value: str = ""
    when: str = "true"
    wrong: str = ""
    right: str = ""
    removes: str = ""
    appends: bool = False
    of_server: bool = True


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule.

    Attributes:
        name: Kebab-case name of the policy; in snake case, the name of the setting.
        kinds: Kinds that it checks.
        what: The requirement, for the docs and for the fallback message.
        why: What would happen otherwise, for the docs.
        variables: CEL expressions by name; each may use those before it, and shared ones
            (`components.admission.variables`).
        parameters: What the expressions find in `params.data`.
        expression: CEL expression that must be true.
        message: The error message.
        updates: Whether changes of the spec are checked too, or only creation.
        metadata: Fields of the metadata whose changes are checked as well.
        fields: Other fields of the object whose changes are checked as well.
        pod_updates: Whether changes of pods are checked too.
        fills: Fields that fix a violation.
        left: Why `slipway why FILE --fix` leaves what these don't fix to the author.
    """

    name: str
    kinds: tuple[Kind, ...]
    what: str
    why: str
    variables: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    expression: str
    message: Message
    updates: bool = True
    metadata: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    pod_updates: bool = False
    fills: tuple[Fill, ...] = ()
    left: str = "only its author knows what to write instead"

    @property
    def fix(self) -> str:
        """Name of the parameter with the fix."""
        return f"fix.{self.name}"

    @property
    def changes(self) -> tuple[str, ...]:
        """Fields of the object whose changes are checked, beside its spec."""
        return (*(f"metadata.{each}" for each in self.metadata), *self.fields)

    @property
    def says(self) -> str:
        """The message as a CEL expression."""
        wrong, fix = self.message.wrong, self.message.fix
        parts = (wrong and literal(wrong), self.message.found, fix and f"params.data['{self.fix}']")
        return " + ".join(part for part in parts if part)


def listed(parameter: str) -> str:
    """The values of a parameter, which commas separate, as a list in CEL."""
    return f"params.data.{parameter}.split(',')"


def literal(value: Any) -> str:
    """A value as a CEL literal.

    Values of a map with several types are wrapped in `dyn`: Kubernetes otherwise refuses such maps (k8s.io/apiserver,
    pkg/cel/environment, HomogeneousAggregateLiterals). Others aren't, which compiles faster.
    """
    if isinstance(value, Mapping):
        wrap = "dyn({})" if len({type(each) for each in value.values()}) > 1 else "{}"
        return "{" + ", ".join(f"{literal(key)}: {wrap.format(literal(each))}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(literal, value)) + "]"
    text = json.dumps(value, ensure_ascii=False)
    # CEL has the escapes of JSON (cel-spec, "String and Bytes Values"), and quotes that need none in a policy's JSON.
    return f"'{text[1:-1]}'" if isinstance(value, str) and not {*text[1:-1]} & {"'", '"'} else text
