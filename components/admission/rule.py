"""What a rule is: kinds, a CEL expression that must be true, and a message that says how to fix a violation."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    def expression(self) -> str:
        """The message as a CEL expression."""
        parts = [literal(self.wrong), *([self.found] if self.found else []), literal(self.fix)]
        return " + ".join(parts)

    @property
    def text(self) -> str:
        """The message for the docs, with a placeholder."""
        return self.wrong + (f"<{self.shown}>" if self.found else "") + self.fix


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule.

    Attributes:
        name: Kebab-case name of the policy; in snake case, the name of the setting.
        kinds: Kinds that it checks.
        what: The requirement, for the docs and for the fallback message.
        why: What would happen otherwise, for the docs.
        variables: CEL expressions by name; each may use those before it.
        expression: CEL expression that must be true.
        message: The error message.
        updates: Whether changes of the spec are checked too, or only creation.
        metadata: Fields of the metadata whose changes are checked as well.
        fields: Other fields of the object whose changes are checked as well.
        pod_updates: Whether changes of pods are checked too.
    """

    name: str
    kinds: tuple[Kind, ...]
    what: str
    why: str
    variables: Mapping[str, str] = field(default_factory=dict)
    expression: str
    message: Message
    updates: bool = True
    metadata: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    pod_updates: bool = False


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
    # CEL has the escapes of JSON (cel-spec, "String and Bytes Values").
    return json.dumps(value, ensure_ascii=False)
