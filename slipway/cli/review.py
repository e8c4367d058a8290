"""What a run of the engine changes, for a reviewer: shown after the engine's own rows, or instead of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.engine.invocation import Operation, Request
from spec import clock
from spec.errors import SlipwayError

if TYPE_CHECKING:
    from slipway.report.model import Bill, Evaluation
    from slipway.report.plan import Plan
    from spec.settings import Loaded, Platform


@dataclass(frozen=True, kw_only=True)
class Review:
    """How the changes of a stack are summarized.

    Attributes:
        loaded: The settings of the stack.
        history: Reads the history of its updates, as JSON.
    """

    loaded: Loaded
    history: Callable[[], str]

    def text(self, request: Request, log: Path) -> str:
        """The summary of a run, from its event log."""
        from slipway.report import terminal  # noqa: PLC0415 - imports the SDK

        plan, platform, done = _plan(request, log), self.loaded.platform, not request.only_shows
        # What a refresh finds and a destroy removes is not what the settings declare.
        priced = bool(plan.changes) and request.operation in (Operation.PREVIEW, Operation.UP)
        reviewed = priced and request.operation is Operation.PREVIEW
        context = terminal.Context(
            stack=request.stack,
            teams=platform.teams,
            pools=platform.pools,
            bill=self._bill(request.stack, done=done) if priced else None,
            evaluation=self._evaluation(request.stack, plan) if reviewed else None,
            operation=request.operation,
            done=done,
        )
        return terminal.text(plan, context)

    def changes(self, request: Request, log: Path) -> bool:
        """Whether a run changes anything, from its event log."""
        return bool(_plan(request, log).changes)

    def _bill(self, stack: str, *, done: bool) -> Bill:
        from slipway.cost import difference  # noqa: PLC0415 - as above
        from slipway.report.views import bill  # noqa: PLC0415 - as above
        from spec.pricing import estimate  # noqa: PLC0415 - as above

        now = estimate(self.loaded.platform)
        try:
            before = self._deployed(stack, done=done)
        except SlipwayError as error:
            return bill.bill(self.loaded.platform, now, None, str(error).partition("\n")[0])
        if before is None:
            return bill.bill(self.loaded.platform, now, None)
        return bill.bill(self.loaded.platform, now, difference(estimate(before), now))

    def _deployed(self, stack: str, *, done: bool) -> Platform | None:
        """The settings that the run found deployed; None if the stack was new."""
        from slipway.cost import baseline  # noqa: PLC0415 - as above
        from slipway.engine import history  # noqa: PLC0415 - as above

        last = history.settings(self.history(), skip=1 if done else 0)
        return None if last is None else baseline.as_deployed(last.settings, stack)

    def _evaluation(self, stack: str, plan: Plan) -> Evaluation:
        """Active findings on the resources that are created, replaced or updated, and on the stack as a whole."""
        from slipway.render import evaluation  # noqa: PLC0415 - as above
        from slipway.render.program import record_platform  # noqa: PLC0415 - as above
        from slipway.report.views import findings  # noqa: PLC0415 - as above

        today = clock.today()
        changed = {change.urn for change in plan.changes}
        found = evaluation.check(record_platform(self.loaded.platform, stack=stack), today)
        return findings.evaluation([one for one in found if one.urn in changed or not one.urn], stack, today)


def _plan(request: Request, log: Path) -> Plan:
    from slipway.report.plan import engine  # noqa: PLC0415 - as above

    return engine.read(log, refreshed=request.operation is Operation.REFRESH)
