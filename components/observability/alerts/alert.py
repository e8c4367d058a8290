"""What an alert is, as a value, and the rule that Prometheus makes of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["info", "warning", "critical"]
"""`critical` wants a person now, `warning` within the day, `info` is to be seen when something else is looked into."""


@dataclass(frozen=True, kw_only=True)
class Alert:
    """One alert.

    Attributes:
        name: What is wrong, in capitals: `GpuIdle`. Its page is docs/runbooks/gpu-idle.md.
        expression: Series that are wrong; a label `team` names who is told.
        after: How long it must be so.
        severity: How soon a person is wanted.
        summary: One line for that person; may quote labels and the value.
    """

    name: str
    expression: str
    after: str
    severity: Severity
    summary: str

    @property
    def page(self) -> str:
        """File name of its runbook page."""
        return f"{re.sub(r'(?<!^)(?=[A-Z])', '-', self.name).lower()}.md"

    def rule(self, runbooks: str | None) -> dict[str, Any]:
        """The rule as Prometheus takes it.

        Args:
            runbooks: Where the pages are served; the page's path in the project where None.
        """
        pages = (runbooks or "docs/runbooks").rstrip("/")
        return {
            "alert": self.name,
            "expr": self.expression,
            "for": self.after,
            "labels": {"severity": self.severity, "platform": "slipway"},
            "annotations": {"summary": self.summary, "runbook_url": f"{pages}/{self.page}"},
        }
