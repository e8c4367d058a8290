"""The base of every settings model, and the types that several families share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

Name = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,28}[a-z0-9])?$")]
"""A key of a collection: it becomes part of logical names, AWS names and Kubernetes labels, so the strictest of their
alphabets holds (RFC 1123 label, starting with a letter) and 30 characters leave room for prefix, role and suffix within
the 64 characters of an IAM role name."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[A-Za-z0-9 _.:/=+@-]+$")]
"""A value that may become a tag: the alphabet that every AWS service accepts in tag values
(AWS General Reference, "Tag naming limits and requirements")."""

LabelKey = Annotated[
    str,
    StringConstraints(
        pattern=r"^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"
    ),
]
LabelValue = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$")]
"""Kubernetes label syntax: key with optional DNS prefix, value of at most 63 characters
(kubernetes.io, "Labels and Selectors", syntax and character set)."""

Duration = Annotated[str, StringConstraints(pattern=r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$", min_length=2)]
"""A Go duration of hours, minutes and seconds, as Karpenter's CRDs take it: `10m`, `336h`."""

LogDays = Literal[
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653
]  # fmt: skip
"""Days that CloudWatch Logs can keep a log group (botocore, logs PutRetentionPolicy, `retentionInDays`)."""


WindowDuration = Annotated[str, StringConstraints(pattern=r"^([0-9]+h)?([0-9]+m)?$", min_length=2)]
"""As `Duration`, in hours and minutes alone: the NodePool's CRD refuses seconds in a budget's window."""


class Model(BaseModel):
    """Settings are values: unknown keys are errors, nothing is coerced, nothing changes after loading."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        alias_generator=to_camel,
        validate_by_name=False,
        validate_by_alias=True,
        use_attribute_docstrings=True,
    )
