"""`slipway state repair STACK`: the state after a killed or failed run, without an orphan and without a duplicate."""

import argparse
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from sandbox import IN_SANDBOX_SHELL
from sandbox.files import write_atomically
from sandbox.state import default_home
from slipway.account import recovery
from slipway.account.context import Client, late, reachable, session
from slipway.account.recovery import RecoveryStep
from slipway.cli import offline
from slipway.cli.check import checked
from slipway.cli.offline import Sandbox
from slipway.cli.output import ask, can_ask, say, table
from slipway.engine import backend, pending, process
from slipway.engine.guard import Guard
from slipway.engine.invocation import Invocation, Operation, Request, operation
from slipway.engine.project import Project, find
from slipway.engine.skipped import import_state, with_skipped
from slipway.engine.stacks import SandboxEngine
from slipway.engine.state import parse
from spec.errors import EXIT_REFUSED, SlipwayError, fail, refuse
from spec.settings import Platform

STATES: Final = "states"
"""Folder of states before they were changed: in the sandbox's home, and beside it for other backends."""


def run(options: argparse.Namespace) -> int:
    """Show what becomes of each open operation, and do it."""
    chosen = _chosen(options.adopt)
    project = find(Path.cwd())
    platform = checked(project, options.stack).platform
    if options.sandbox or os.environ.get(IN_SANDBOX_SHELL):
        sandbox = offline.find_running()
        if sandbox is None:
            fail("the sandbox is not running, so there is nothing to recover")
        engine = sandbox.engine(os.environ)
        engine.free(options.stack, say)
        recovery = of_sandbox(project, options.stack, platform, sandbox, engine)
    else:
        recovery = _of_aws(project, options.stack, platform)
    return recovery.run(chosen, confirmed=options.yes)


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """How to recover one stack."""

    stack: str
    export: Callable[[], str]  # reads its state
    command: Callable[[Sequence[str]], Invocation]  # builds the engine's command line for some arguments
    refresh: Invocation  # the engine's refresh of the stack
    client: Client  # boto3 clients of its account
    backups: Path  # folder to which the state is written before it is changed
    guard: Guard  # runs the engine; it knows where the state is
    preview: Callable[[], str]  # shows as JSON what the next `up` would create

    def run(self, chosen: Mapping[str, str], *, confirmed: bool) -> int:
        """Settle the stack's open operations; the exit code."""
        self.guard.require_readable()
        document = self.export()
        operations = pending.operations(document)
        left_by = "a killed run"
        failed = not operations
        if failed:
            left_by = "a run that failed, or never begun"
            document = self._reopened(document)
            operations = pending.operations(document)
        with reachable():
            steps = recovery.plan(operations, pending.identifiers(document), self.client, chosen)
        unknown = sorted(chosen.keys() - {step.operation.urn for step in steps})
        if unknown:
            fix = "it is in the state already, the program does not declare it, or it needs what does not exist yet"
            refuse(f"--adopt {unknown[0]}: nothing that could be adopted has this URN: {fix}")
        if failed:
            steps = recovery.existing(steps, chosen)
            if not steps:
                say(
                    f"stack {self.stack}: no operation is open, and nothing that it lacks was found. If `up` says that "
                    "something exists, name it by `--adopt URN=ID`; else there is nothing to recover"
                )
                return 0
        if steps:
            say(f"stack {self.stack}: {len(steps)} operations open, left by {left_by}\n{_table(steps)}")
        self._require_decisions(list(recovery.undecided(steps)))
        if steps and not confirmed and not _confirmed(self.stack):
            say("nothing was changed")
            return EXIT_REFUSED
        adopted = recovery.adopted(steps)
        backup = self._backup(document)
        document = self._with_skipped(document)
        import_state(pending.settled(document, adopted), self.stack, self.command, self.guard.run)
        code = self.guard.run(self.refresh)
        if code:
            say(f"the refresh failed; the state as it was is in {backup}: `pulumi stack import --file {backup}`")
            return code
        self._report(adopted, backup)
        return 0

    def _reopened(self, document: str) -> str:
        """The state with what the next `up` would create as open operations; itself if it is empty."""
        if not parse(document).resources:
            return document
        say(f"stack {self.stack}: no operation is open; looking for what the next `up` would create")
        return pending.reopened(document, self.preview())

    def _with_skipped(self, document: str) -> str:
        """The state with what a killed destroy dropped from it too early; of an update, with what a refresh drops."""
        stored = self.guard.stored
        if stored is None or not pending.operations(document):
            return document
        document, count = with_skipped(stored.before().get("resources") or (), document)
        if count:
            say(f"{count} resources that are deleted with another one, which exists: a refresh shows which of them do")
        return document

    def _require_decisions(self, undecided: Sequence[RecoveryStep]) -> None:
        if undecided:
            lines = [f"  - {step.operation.urn}: {step.why}" for step in undecided]
            fix = "look for them, then run this with `--adopt URN=ID` for each, or `--adopt URN=` if nothing was made"
            raise SlipwayError("\n".join(["these can't be decided here:", *lines, fix]))

    def _backup(self, document: str) -> Path:
        # The moment on this machine's clock, whatever day stacks are evaluated at (SLIPWAY_TODAY).
        now = datetime.now(UTC)  # noqa: TID251
        self.backups.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.backups / f"{self.stack}-{now:%Y%m%dT%H%M%SZ}.json"
        write_atomically(path, document)
        return path

    def _report(self, adopted: Mapping[str, str], backup: Path) -> None:
        after = {resource.urn for resource in parse(self.export()).resources}
        kept = [urn for urn in adopted if urn in after]
        say(
            f"stack {self.stack}: {len(kept)} of {len(adopted)} existed and are in the state now; the others will be "
            f"created by the next `up`. The state before is in {backup}"
        )


def of_sandbox(project: Project, stack: str, platform: Platform, sandbox: Sandbox, engine: SandboxEngine) -> Recovery:
    """The recovery of a stack in the sandbox."""
    settings = engine.prepare(project.stacks, stack)
    runs = partial(operation, engine.pulumi, directory=project.root, environment=engine.environment)
    return Recovery(
        stack=stack,
        export=lambda: engine.export(stack),
        command=engine.command,
        refresh=runs(_request(Operation.REFRESH, stack, settings)),
        client=sandbox.client(platform),
        backups=sandbox.home / STATES,
        guard=sandbox.guard(engine, stack),
        preview=lambda: _previewed(runs(_request(Operation.PREVIEW, stack, settings))),
    )


def _of_aws(project: Project, stack: str, platform: Platform) -> Recovery:
    pulumi = shutil.which("pulumi")
    if pulumi is None:
        fail("the Pulumi CLI is not on PATH: install it (https://www.pulumi.com/docs/install/)")

    def command(arguments: Sequence[str]) -> Invocation:
        return Invocation((pulumi, *arguments, "--non-interactive"), os.environ, project.root)

    runs = partial(operation, Path(pulumi), directory=project.root, environment=os.environ)
    return Recovery(
        stack=stack,
        export=lambda: process.capture(command(("stack", "export", "--stack", stack))),
        command=command,
        refresh=runs(_request(Operation.REFRESH, stack)),
        client=late(lambda: session(platform.account.region)),
        backups=default_home().parent / STATES,
        guard=Guard(stored=backend.stored(project, stack, os.environ), say=say),
        preview=lambda: _previewed(runs(_request(Operation.PREVIEW, stack))),
    )


PREVIEW_SECONDS: Final = 1800.0


def _request(what: Operation, stack: str, settings: Path | None = None) -> Request:
    shows = what is Operation.PREVIEW
    extra = ("--json", "--refresh=false", "--non-interactive") if shows else ("--skip-preview",)
    return Request(operation=what, stack=stack, yes=not shows, config_file=settings, extra=extra)


def _previewed(run: Invocation) -> str:
    return process.capture(run, timeout_seconds=PREVIEW_SECONDS)


def _chosen(pairs: Sequence[str]) -> dict[str, str]:
    chosen = {}
    for pair in pairs:
        # A URN may contain `=`, an id of these types can't.
        urn, separator, id = pair.rpartition("=")
        if not separator or not urn.startswith("urn:"):
            refuse(
                f"--adopt {pair}: it must be URN=ID, such as --adopt 'urn:pulumi:dev::slipway::...::vpc=vpc-0a1b2c3d'"
            )
        chosen[urn] = id
    return chosen


def _table(steps: Sequence[RecoveryStep]) -> str:
    rows = [(step.action.value, step.operation.type, step.operation.name, step.id or "-", step.why) for step in steps]
    return table(rows, indent="  ")


def _confirmed(stack: str) -> bool:
    if not can_ask():
        refuse(
            f"recover needs confirmation, and there is no terminal: add --yes, or see the plan above for stack {stack}"
        )
    return ask(f"Recover stack {stack} as shown?")
