"""The gate around the engine's commands: it evaluates the plan after a `preview`, and before an `up`.

A `refresh` and a `destroy` are not evaluated: protection stops a destroy, and a refresh changes only the state. What a
run changes is summarized for a reviewer, after the engine's own rows or instead of them.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from sandbox.errors import GOES_ON
from slipway.cli import display
from slipway.cli.output import say
from slipway.cost.difference import as_deployed, difference
from slipway.engine import gate, process
from slipway.engine.invocation import PREVIEW_ONLY, Invocation, Operation, Request
from slipway.engine.state import StackState, last_update
from slipway.report import terminal
from slipway.report.model import Bill, Evaluation
from slipway.report.plan import Plan, engine
from slipway.report.views import cost, risks
from spec import clock
from spec.errors import EXIT_CANCELLED, EXIT_REFUSED, EXIT_STATEFUL, SlipwayError
from spec.pricing import estimate
from spec.settings import Loaded, Platform


@dataclass(frozen=True, kw_only=True)
class Review:
    """How the changes of a stack are summarized."""

    loaded: Loaded  # the settings of the stack
    history: Callable[[], str]  # reads the history of its updates, as JSON

    def text(self, request: Request, log: Path) -> str:
        """The summary of a run, from its event log."""
        found, platform, done = _plan(request, log), self.loaded.platform, not request.only_shows
        # What a refresh finds and a destroy removes is not what the settings declare.
        priced = request.operation in (Operation.PREVIEW, Operation.UP)
        reviewed = bool(found.changes) and request.operation is Operation.PREVIEW
        context = terminal.TerminalContext(
            stack=request.stack,
            teams=platform.teams,
            pools=platform.pools,
            bill=self._bill(request.stack, compared=bool(found.changes), done=done) if priced else None,
            evaluation=self._evaluation(request.stack, found) if reviewed else None,
            operation=request.operation,
            done=done,
        )
        return terminal.text(found, context)

    def changes(self, request: Request, log: Path) -> bool:
        """Whether a run changes anything, from its event log."""
        return bool(_plan(request, log).changes)

    def _bill(self, stack: str, *, compared: bool, done: bool) -> Bill:
        now = estimate(self.loaded.platform)
        if not compared:
            return cost.bill(self.loaded.platform, now, None)
        try:
            before = self._deployed(stack, done=done)
        except SlipwayError as error:
            return cost.bill(self.loaded.platform, now, None, str(error).partition("\n")[0])
        if before is None:
            return cost.bill(self.loaded.platform, now, None)
        return cost.bill(self.loaded.platform, now, difference(estimate(before), now))

    def _deployed(self, stack: str, *, done: bool) -> Platform | None:
        """The settings that the run found deployed; None if the stack was new."""
        last = last_update(self.history(), skip=1 if done else 0)
        return None if last is None else as_deployed(last.settings, stack)

    def _evaluation(self, stack: str, found: Plan) -> Evaluation:
        """Active findings on the resources that are created, replaced or updated, and on the stack as a whole."""
        from slipway.render import evaluation  # noqa: PLC0415 - imports the SDK, 1 s
        from slipway.render.program import record_platform  # noqa: PLC0415 - as above

        today = clock.today()
        changed = {change.urn for change in found.changes}
        evaluated = evaluation.check(record_platform(self.loaded.platform, stack=stack), today)
        return risks.evaluation([one for one in evaluated if one.urn in changed or not one.urn], stack, today)


def _plan(request: Request, log: Path) -> Plan:
    return engine.read(log, refreshed=request.operation is Operation.REFRESH)


_QUESTIONS: Final = {
    Operation.UP: "Update stack {} as shown?",
    Operation.REFRESH: "Update the state of stack {} as shown?",
    Operation.DESTROY: "Delete the resources of stack {} as shown?",
}
_LOST: Final = "error reading from server: EOF"
"""What the engine says when a process that serves it ends: the language host, or a provider (gRPC, v3.258.0)."""
_OF_UP_ALONE: Final = frozenset({"--yes", "-y", "--skip-preview", "-f", "--continue-on-error", "--strict"})
_WITH_VALUE: Final = "--secrets-provider"  # flags of `pulumi up` that `pulumi preview` doesn't have (v3.258.0)


@dataclass(frozen=True, kw_only=True)
class Gate:
    """How to run an operation on a stack, and which stateful resources it may remove."""

    call: Callable[[Request], Invocation]  # builds the engine's command line for a request
    state: Callable[[], StackState]  # reads the state of the stack
    allowed: Sequence[str]  # URNs that may be replaced or deleted
    ask: Callable[[str], bool]  # asks the user whether to continue after a preview
    review: Review  # summarizes the changes of a preview or an update
    left: Callable[[], StackState]  # reads the state after a run that failed
    failed: Callable[[], None] = lambda: None  # called before that, to complete the state
    flags: str = ""  # what a command that goes on needs besides operation and stack: `--sandbox`
    quiet: bool = False  # show the summary instead of the engine's rows; its errors and warnings are always shown
    engine: process.EngineRun = process.run
    interrupts: list[None] = field(default_factory=list)  # grows when the user interrupts a run
    signs: set[str] = field(default_factory=set)
    """Of what ended a run: that a process which serves the engine ended, or that the machine was too busy."""
    counted: list[int] = field(default_factory=lambda: [0])
    """Number of resources of the runs so far: a preview knows how many its update has."""

    def run(self, request: Request) -> int:
        """Run it; the exit code, `EXIT_STATEFUL` if the plan removes stateful resources that are not allowed.

        A run that fails ends with what exists and the command that goes on.
        """
        code = self._run_gated(request)
        if code not in (0, EXIT_REFUSED, EXIT_STATEFUL):
            if request.operation.changes and not request.only_shows:
                say(self._ending(request))
            elif self.interrupts:
                say("interrupted: nothing was changed")
        return code

    def _ending(self, request: Request) -> str:
        command = f"`slipway {request.operation} {request.stack}{self.flags}`"
        try:
            self.failed()
            count = len(self.left().existing)
            there = (
                f"{count} resource{'s' if count != 1 else ''} of stack {request.stack} exist{'s' if count == 1 else ''}"
            )
        except SlipwayError as error:
            there = f"what exists could not be read ({str(error).partition(chr(10))[0]})"
        if self.interrupts:
            return f"interrupted: {there}, and the state has all of it; {command} goes on from there"
        if _LOST in self.signs:
            recover = f"`slipway state repair {request.stack}{self.flags}`"
            return (
                f"{request.operation} failed: {there}. The process that runs the program, or a provider, was killed: "
                f"often memory ran out. {recover} settles what it left open, then {command} goes on from there"
            )
        fix = "Run it when the machine is less busy:" if GOES_ON in self.signs else "Fix what is named above, then"
        return f"{request.operation} failed: {there}. {fix} {command} goes on from there"

    def _run_gated(self, request: Request) -> int:
        if request.operation is Operation.PREVIEW:
            return self._preview(request)
        if request.operation is not Operation.UP:
            return self._asked(request)
        if request.skip_preview:
            return self._rehearse(request)
        if self._may_lose() or self.quiet:
            return self._update(request)
        # The stack has no stateful resource: the engine previews and asks by itself.
        return self._applied(request)

    def _asked(self, request: Request) -> int:
        """A refresh or destroy: shown and confirmed first, unless it is already."""
        if not self.quiet:
            return self._applied(request)
        if not request.only_shows and not request.confirmed:
            code, changes = self._shown(replace(request, extra=(*request.extra, PREVIEW_ONLY)))
            if code or not changes:
                return code
            if not self.ask(_QUESTIONS[request.operation].format(request.stack)):
                say("nothing was changed")
                return EXIT_REFUSED
        return self._shown(replace(request, yes=True, skip_preview=True))[0]

    def _may_lose(self) -> bool:
        try:
            return gate.among(resource.type for resource in self.state().resources)
        except SlipwayError:
            return True  # an unreadable state may hold anything; the preview reports what is wrong with it

    def _preview(self, request: Request) -> int:
        code, removals = self._watched(request)
        verdict = gate.evaluate(removals, self.allowed)
        for name in verdict.unused:
            say(f"note: unused --allow-replace {name}: this plan neither replaces nor deletes it")
        if verdict.refused:
            say(gate.refusal(request.stack, verdict.refused))
            return code or EXIT_STATEFUL
        return code

    def _update(self, request: Request) -> int:
        """Preview once and evaluate the plan; then apply it, without a second preview."""
        preview = replace(request, operation=Operation.PREVIEW, extra=without_up(request.extra))
        code = self._preview(preview)
        if code:
            return code
        if not request.confirmed and not self.ask(_QUESTIONS[Operation.UP].format(request.stack)):
            say("nothing was changed")
            return EXIT_REFUSED
        return self._applied(replace(request, yes=True, skip_preview=True))

    def _rehearse(self, request: Request) -> int:
        """The sandbox holds no real data, so the update runs; what AWS would have refused is reported afterwards."""
        code, removals = self._watched(request)
        verdict = gate.evaluate(removals, self.allowed)
        if verdict.refused:
            say(gate.refusal(request.stack, verdict.refused, done=True))
        return code

    def _applied(self, request: Request) -> int:
        """Run it without a summary: what it changes was shown, or the engine shows it itself."""
        with tempfile.TemporaryDirectory(prefix="slipway-plan-") as directory:
            return self._run(self.call(request), Path(directory) / "output")

    def _run(self, call: Invocation, output: Path) -> int:
        """Run the engine; a quiet one writes to a file, of which errors and warnings are shown."""

        def interrupted() -> None:
            self.interrupts.append(None)
            if self.quiet:
                display.erase()
                # The engine says this in its own display, which a quiet run hides.
                say("interrupted: running operations end, and the state is written; again, and the engine ends at once")

        if self.quiet:
            with display.heartbeat(output, self.counted[-1]):
                code = self.engine(call, output=output, interrupted=interrupted)
            self.counted.append(len(display.resources(output)))
            self._look_for_signs(output)
            _show(display.without_rows(display.read(output), failed=bool(code)))
        else:
            code = self.engine(call, interrupted=interrupted)
        # The engine itself ends with 0 between two operations, and with 1 if one had to be cancelled.
        return EXIT_CANCELLED if self.interrupts else code

    def _look_for_signs(self, said: Path) -> None:
        text = said.read_text(encoding="utf-8", errors="replace") if said.exists() else ""
        self.signs.update(sign for sign in (_LOST, GOES_ON) if sign in text)

    def _watched(self, request: Request) -> tuple[int, tuple[gate.Removal, ...]]:
        """Run it with its summary; the exit code, and what it replaces or deletes."""
        with tempfile.TemporaryDirectory(prefix="slipway-plan-") as directory:
            code, log = self._with_log(request, Path(directory))
            if not log.exists():
                return code, ()
            with log.open(encoding="utf-8") as lines:
                removals = gate.removals(lines)
            if code == 0:
                _show("\n" + self.review.text(request, log))
            return code, removals

    def _shown(self, request: Request) -> tuple[int, bool]:
        """Run it with its summary; the exit code, and whether anything changes."""
        with tempfile.TemporaryDirectory(prefix="slipway-plan-") as directory:
            code, log = self._with_log(request, Path(directory))
            if code or not log.exists():
                return code, True
            _show("\n" + self.review.text(request, log))
            return code, self.review.changes(request, log)

    def _with_log(self, request: Request, directory: Path) -> tuple[int, Path]:
        log = directory / "events"
        code = self._run(logged(self.call(request), log), directory / "output")
        self._look_for_signs(log)
        return code, log


def logged(call: Invocation, log: Path) -> Invocation:
    """The same call, which also writes its events to a file."""
    return replace(
        call, argv=(*call.argv, "--event-log", str(log)), environment={**call.environment, **gate.ENVIRONMENT}
    )


def without_up(extra: Sequence[str]) -> tuple[str, ...]:
    """The user's arguments without those that `pulumi preview` doesn't accept."""
    kept: list[str] = []
    skip = False
    for argument in extra:
        name, separator, _ = argument.partition("=")
        if skip:
            skip = False
        elif name == _WITH_VALUE:
            skip = not separator
        elif name not in _OF_UP_ALONE:
            kept.append(argument)
    return tuple(kept)


def _show(text: str) -> None:
    if text:
        print(text, flush=True)
