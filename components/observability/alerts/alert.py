"""An alert as a value, and its Prometheus rule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["info", "warning", "critical"]
"""`critical` needs attention now, `warning` within the day, `info` is context for other alerts."""


@dataclass(frozen=True, kw_only=True)
class Alert:
    """One alert.

    Attributes:
        name: Name in CamelCase: `GpuIdle`. Its page is docs/runbooks/gpu-idle.md.
        expression: PromQL expression; its label `team` names the team to notify.
        after: How long the expression must be true (`for`).
        severity: How soon it needs attention.
        summary: One line for the recipient; may contain labels and the value.
    """

    name: str
    expression: str
    after: str
    severity: Severity
    summary: str

    @property
    def page(self) -> str:
        """File name of its runbook."""
        return f"{re.sub(r'(?<!^)(?=[A-Z])', '-', self.name).lower()}.md"

    def rule(self, runbooks: str | None) -> dict[str, Any]:
        """The rule in Prometheus' format.

        Args:
            runbooks: Base URL of the runbooks; if None, the path of the page in the project is used.
        """
        pages = (runbooks or "docs/runbooks").rstrip("/")
        return {
            "alert": self.name,
            "expr": self.expression,
            "for": self.after,
            "labels": {"severity": self.severity, "platform": "slipway"},
            "annotations": {"summary": self.summary, "runbook_url": f"{pages}/{self.page}"},
        }
