"""What a program writes of a canary, and what the platform's CronJob reads of it: annotations, and names of counters.

It imports the standard library alone: the CronJob's pod has this file, and not the rest.
"""

import re
from dataclasses import dataclass
from typing import Final

ROLLBACK: Final = "platform.slipway/canary-rollback"
"""Annotation of an InferenceGraph: by which failures its canary is rolled back (JSON, the fields of `Rollback`)."""
ROLLED_BACK: Final = "platform.slipway/canary-rolled-back"
"""Annotation of an InferenceGraph: which version was rolled back, when, and why (JSON); the CronJob writes it."""
VERSION: Final = "platform.slipway/canary-version"
"""Annotation of a canary's InferenceService: its version. KServe copies it to the pods (v0.20.0,
pkg/controller/v1beta1/inferenceservice/components/predictor.go, `buildPredictorResources`)."""
STABLE: Final = "stable"
CANARY: Final = "canary"
"""Names of the two steps of the splitter."""
SELECTORS: Final = 4
"""Maximum number of selectors of a sum: each is a query."""
_LABEL: Final = r'[a-zA-Z_][a-zA-Z0-9_]{0,63}="[^"\\{}\n]{0,64}"'
_SELECTOR: Final = re.compile(rf"([a-zA-Z_:][a-zA-Z0-9_:]{{0,127}})(?:\{{({_LABEL}(?:,{_LABEL})*)\}})?")


@dataclass(frozen=True, kw_only=True)
class Rollback:
    """By which failures a canary is rolled back."""

    service: str  # InferenceService of the canary
    version: str  # value of the annotation `VERSION` of the pods that count
    max_error_percent: float  # maximum share of failed requests, in percent
    failed: tuple[str, ...]  # selectors of counters whose sum is the number of requests that the server failed
    answered: tuple[str, ...]  # selectors of counters whose sum is the number of all requests that it answered


def matched(selector: str) -> tuple[str, str] | None:
    """Metric name and label matchers of a selector `name{label="value"}`; None if it is not one.

    Names and labels are those of Prometheus' data model; a value has no quote and no backslash, so that nothing of it
    is read as PromQL.
    """
    match = _SELECTOR.fullmatch(selector)
    return None if match is None else (match[1], match[2] or "")
