"""What a rule is: kinds, an expression of CEL that must hold, and a message that says how to mend what breaks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, order=True)
class Kind:
    """A kind of the API that a rule looks at. That it is not served yet does no harm: nothing matches then."""

    group: str
    resource: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class Message:
    """What the user is told: what is wrong, what was found, how to mend it.

    Attributes:
        wrong: Beginning of the sentence.
        found: CEL of what was found in the workload, a string; empty where there is nothing to tell.
        shown: What stands for it in the docs.
        fix: The rest.
    """

    wrong: str
    found: str = ""
    shown: str = ""
    fix: str

    @property
    def expression(self) -> str:
        """The message as CEL."""
        parts = [literal(self.wrong), *([self.found] if self.found else []), literal(self.fix)]
        return " + ".join(parts)

    @property
    def text(self) -> str:
        """The message for a reader, with a placeholder."""
        return self.wrong + (f"<{self.shown}>" if self.found else "") + self.fix


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule.

    Attributes:
        name: Kebab-case; the policy's name, and in snake case the setting's.
        kinds: What it looks at.
        what: What must hold, for the docs, and the message where that can't be made.
        why: What would happen else, for the docs.
        variables: Expressions by name, each of which may use those before it.
        expression: CEL that must be true.
        message: What the user is told.
        updates: Whether changes of the spec are looked at as well, or creation alone.
    """

    name: str
    kinds: tuple[Kind, ...]
    what: str
    why: str
    variables: Mapping[str, str] = field(default_factory=dict)
    expression: str
    message: Message
    updates: bool = True


def literal(value: Any) -> str:
    """A value as CEL.

    Values of several types in one map are `dyn`: Kubernetes has CEL refuse such maps else (k8s.io/apiserver,
    pkg/cel/environment, HomogeneousAggregateLiterals). Others are left as they are, which compiles faster.
    """
    if isinstance(value, Mapping):
        wrap = "dyn({})" if len({type(each) for each in value.values()}) > 1 else "{}"
        return "{" + ", ".join(f"{literal(key)}: {wrap.format(literal(each))}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(literal, value)) + "]"
    # The escapes of JSON are those of CEL (cel-spec, "String and Bytes Values").
    return json.dumps(value, ensure_ascii=False)
