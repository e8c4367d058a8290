"""The base of every settings model, the types that several families share, and patterns of text settings, each with the
rule and the fix that a report gives for a value that does not match.
"""

from datetime import date
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

EXPLANATIONS: Final[dict[str, tuple[str, str]]] = {}
"""Rule and fix by pattern: pydantic's error names the pattern alone."""


def pattern(
    regex: str, rule: str, fix: str, *, min_length: int | None = None, max_length: int | None = None
) -> StringConstraints:
    """Constraint of a text setting, explained to the user.

    Args:
        regex: Pattern of the whole value.
        rule: What must hold, as in `Problem.rule`.
        fix: What to write instead, as in `Problem.fix`.
        min_length: Minimum number of characters.
        max_length: Maximum number of characters.
    """
    EXPLANATIONS[regex] = (rule, fix)
    return StringConstraints(pattern=regex, min_length=min_length, max_length=max_length)


Name = Annotated[
    str,
    pattern(
        r"^[a-z]([a-z0-9-]{0,28}[a-z0-9])?$",
        rule="a name has 1 to 30 characters: lower-case letters, digits and dashes",
        fix="It must start with a letter, and must not end with a dash.",
    ),
]
"""A key of a collection: it becomes part of logical names, AWS names and Kubernetes labels, so the strictest of their
alphabets holds (RFC 1123 label, starting with a letter) and 30 characters leave room for prefix, role and suffix within
the 64 characters of an IAM role name."""

Text = Annotated[
    str,
    pattern(
        r"^[A-Za-z0-9 _.:/=+@-]+$",
        rule="text may contain only letters A to Z, digits, spaces and _.:/=+-@",
        fix="Use only those characters.",
        min_length=1,
        max_length=256,
    ),
]
"""A value that may become a tag: the alphabet that every AWS service accepts in tag values
(AWS General Reference, "Tag naming limits and requirements")."""

LabelKey = Annotated[
    str,
    pattern(
        r"^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$",
        rule="a label key has at most 63 letters, digits and _.-, after an optional domain and slash",
        fix="Write it like example.com/team.",
    ),
]
LabelValue = Annotated[
    str,
    pattern(
        r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$",
        rule="a label value has at most 63 letters, digits and _.-",
        fix="Shorten it; it must start and end with a letter or digit.",
    ),
]
"""Kubernetes label syntax: key with optional DNS prefix, value of at most 63 characters
(kubernetes.io, "Labels and Selectors", syntax and character set)."""

Duration = Annotated[
    str,
    pattern(
        r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$",
        rule="a duration consists of hours, minutes or seconds",
        fix="Write it like 10m, 24h or 1h30m.",
        min_length=2,
    ),
]
"""A Go duration of hours, minutes and seconds, as Karpenter's CRDs take it: `10m`, `336h`."""

LogDays = Literal[
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653
]  # fmt: skip
"""Days that CloudWatch Logs can keep a log group (botocore, logs PutRetentionPolicy, `retentionInDays`)."""

WindowDuration = Annotated[
    str,
    pattern(
        r"^([0-9]+h)?([0-9]+m)?$",
        rule="this duration consists of hours and minutes",
        fix="Write it like 12h or 1h30m.",
        min_length=2,
    ),
]
"""As `Duration`, only in hours and minutes: the NodePool's CRD refuses seconds in a budget's window."""

SecretName = Annotated[
    str,
    pattern(
        r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$",
        rule="the name of a Secret has lower-case letters, digits, dots and dashes",
        fix="Write the Secret's name, not its content.",
    ),
]
"""Name of a Secret (kubernetes.io, "Object Names and IDs", DNS subdomain names)."""

HTTPS: Final = pattern(
    r"^https://\S+$", rule="the URL must begin with https://", fix="Write the whole URL, without spaces."
)
"""An address that is never reached in clear text."""


def _day(value: Any) -> Any:
    try:
        return date.fromisoformat(value.removesuffix("T00:00:00Z")) if isinstance(value, str) else value
    except ValueError:
        return value  # pydantic refuses it


Day = Annotated[date, BeforeValidator(_day)]
"""A day, `2026-12-01`. Without quotes YAML reads a time, which the Pulumi CLI passes on as `2026-12-01T00:00:00Z`."""


class Model(BaseModel):
    """Base of every settings model: unknown keys are errors, values are not coerced, and instances are immutable."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        alias_generator=to_camel,
        validate_by_name=False,
        validate_by_alias=True,
        use_attribute_docstrings=True,
    )
