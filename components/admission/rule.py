"""What a rule is: kinds, a CEL expression that must be true, and a message that says how to fix a violation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from spec import strict_yaml

_WORDS: Final[Mapping[str, Mapping[str, str]]] = strict_yaml.beside(__file__, "rules")
FIELDS: Final[Mapping[str, Any]] = strict_yaml.beside(__file__, "fields")
"""Fields that teams may set, by what has them."""
UPDATE: Final = " UPDATE"
"""After the resource of a pod that is changed."""


@dataclass(frozen=True, order=True)
class Kind:
    """A Kubernetes kind that a rule checks. Its CRD need not be installed: nothing matches then."""

    group: str
    resource: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class Message:
    """The error message: what is wrong, the value, the fix."""

    wrong: str  # beginning of the sentence
    found: str  # CEL expression of the offending values, a list of strings; empty if the message has none
    shown: str  # placeholder of the value in the docs
    fix: str  # the rest

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
    """

    paths: Mapping[str, Sequence[str]]
    """Where the holders are, by kind: `spec.replicatedJobs[].template.spec`; `[]` is each item of a list, `{}` each
    value of a map, and a last part with `+` is created if it is absent."""
    field: str = ""  # name of the field
    value: str = ""  # what an absent field gets, or what is appended to a list
    when: str = "true"  # whether it is filled in where it is absent
    wrong: str = ""
    """Whether a value that the user set has to be replaced. Only a file is: the API server never does it."""
    right: str = ""  # what replaces it, `null` to remove it; `value` if empty
    removes: str = ""
    """Names of fields of `s` that have to go, a list; the field is filled in if there are any. Only a file is changed
    so."""
    appends: bool = False  # whether the field is a list that grows by `value`, which may be empty
    of_server: bool = True  # whether the API server fills it in as well


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule."""

    name: str  # kebab-case name of the policy; in snake case, the name of the setting
    kinds: tuple[Kind, ...]  # kinds that it checks
    variables: Mapping[str, str] = field(default_factory=dict)
    """CEL expressions by name; each may use those before it, and shared ones (`components.admission.variables`)."""
    parameters: Mapping[str, str] = field(default_factory=dict)  # what the expressions find in `params.data`
    expression: str  # CEL expression that must be true
    found: str = ""  # CEL expression of the offending values, a list of strings; empty if the message has none
    text: str = ""  # CEL expression of the whole message, of a rule without words of its own
    names: Mapping[str, object] = field(default_factory=dict)
    """Values that its words in rules.yaml name, `{name}`."""
    updates: bool = True  # whether changes of the spec are checked too, or only creation
    metadata: tuple[str, ...] = ()  # fields of the metadata whose changes are checked as well
    fields: tuple[str, ...] = ()  # other fields of the object whose changes are checked as well
    pod_updates: bool = False  # whether changes of pods are checked too
    fills: tuple[Fill, ...] = ()  # fields that fix a violation

    def _said(self, key: str, otherwise: str = "") -> str:
        text = str(_WORDS.get(self.name, {}).get(key, otherwise))
        for name, value in self.names.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text

    @property
    def what(self) -> str:
        """The requirement, for the docs and for the fallback message."""
        return self._said("what")

    @property
    def why(self) -> str:
        """What would happen otherwise, for the docs."""
        return self._said("why")

    @property
    def left(self) -> str:
        """Why `slipway why FILE --fix` leaves what its fills don't fix to the author."""
        return self._said("left", "only its author knows what to write instead")

    @property
    def message(self) -> Message:
        """The error message."""
        wrong, shown, fix = map(self._said, ("wrong", "shown", "fix"))
        return Message(wrong=wrong, found=self.found, shown=shown, fix=fix)

    @property
    def words(self) -> dict[str, str]:
        """Parameters with the parts of the message before and after the offending values, and with what is checked,
        which would be a fiftieth of the policies."""
        updated = {f"pods{UPDATE}"} if self.pod_updates else set()
        checked = sorted({*updated, *(kind.resource for kind in self.kinds)})
        message = self.message
        parts = {"wrong": message.wrong, "fix": message.fix, "of": ",".join(checked)}
        return {f"{part}.{self.name}": text for part, text in parts.items()}

    @property
    def changes(self) -> tuple[str, ...]:
        """Fields of the object whose changes are checked, beside its spec."""
        return (*(f"metadata.{each}" for each in self.metadata), *self.fields)

    @property
    def says(self) -> str:
        """The message as a CEL expression."""
        return self.text or said(literal(self.name), self.found)


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


def said(name: str, found: str) -> str:
    """The message of a rule, whose name is a CEL expression, with these values."""
    values = f" + {joined(found)}" if found else ""
    return f"string(params.data['wrong.' + {name}]){values} + params.data['fix.' + {name}]"


SHOWN: Final = 12  # values that a message lists


def joined(texts: str) -> str:
    """The values of a list of strings that aren't empty, sorted, each once, as one text.

    CEL walks through a map in an order that differs from request to request, and `sort` exists since Kubernetes 1.34
    (k8s.io/apiserver, pkg/cel/environment): the value of each rank is looked up.
    """
    ranks = literal(list(range(SHOWN)))
    return (
        f"[({texts}).filter(t, t != '')].map(ts, {ranks}"
        ".map(i, ts.filter(t, ts.filter(u, u < t).size() == i)).filter(f, f.size() > 0).map(f, f[0])"
        f".join(', '))[0]"
    )
