"""`slipway recover STACK`: settle what a killed run left open, without an orphan and without a duplicate."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slipway.cli.output import ask, can_ask, table
from slipway.engine import pending, process
from slipway.engine.invocation import Invocation, Operation, Request, operation
from slipway.engine.project import Project, find
from slipway.files import write_atomically
from slipway.sandbox import IN_SANDBOX_SHELL
from slipway.sandbox.state import default_home
from spec.errors import EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from slipway.account.context import Client
    from slipway.account.recovery import Step
    from slipway.cli.commands import Commands
    from slipway.cli.offline import Sandbox
    from slipway.engine.stacks import SandboxEngine
    from spec.settings import Platform

BACKUPS: Final = "states"
"""Folder of backups, beside the sandbox's."""


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "recover", help="settle what a killed run left open: adopt what it had created, drop what it had not"
    )
    parser.add_argument("stack", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
    parser.add_argument("--sandbox", action="store_true", help="of the stack in the sandbox")
    parser.add_argument("--yes", "-y", action="store_true", help="don't ask for confirmation")
    parser.add_argument(
        "--adopt", action="append", default=[], metavar="URN=ID",
        help="the id of what an operation created, or nothing after = if it created nothing; repeatable",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show what becomes of each open operation, and do it."""
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it

    chosen = _chosen(options.adopt)
    project = find(Path.cwd())
    platform = checked(project, options.stack).platform
    if options.sandbox or os.environ.get(IN_SANDBOX_SHELL):
        from slipway.cli import offline  # noqa: PLC0415 - process control and botocore, which AWS doesn't need

        sandbox = offline.find_running()
        if sandbox is None:
            msg = "the sandbox is not running, so there is nothing to recover"
            raise SlipwayError(msg)
        engine = sandbox.engine(os.environ)
        engine.free(options.stack, _say)
        recovery = of_sandbox(project, options.stack, platform, sandbox, engine)
    else:
        recovery = _of_aws(project, options.stack, platform)
    return recovery.run(chosen, confirmed=options.yes)


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """How to recover one stack.

    Attributes:
        stack: Its name.
        export: Reads its state.
        command: Builds the engine's command line for some arguments.
        refresh: The engine's refresh of the stack.
        client: boto3 clients of its account.
        backups: Folder to which the state is written before it is changed.
    """

    stack: str
    export: Callable[[], str]
    command: Callable[[Sequence[str]], Invocation]
    refresh: Invocation
    client: Client
    backups: Path

    def run(self, chosen: Mapping[str, str], *, confirmed: bool) -> int:
        """Settle the stack's open operations; the exit code.

        Raises:
            SlipwayError: A person has to decide about an operation, or the engine refuses.
        """
        from slipway.account import recovery  # noqa: PLC0415 - boto3 takes 0.3 s
        from slipway.account.context import reachable  # noqa: PLC0415 - as above

        document = self.export()
        operations = pending.operations(document)
        if not operations:
            _say(f"stack {self.stack}: no operation is open, there is nothing to recover")
            return 0
        with reachable():
            steps = recovery.plan(operations, pending.identifiers(document), self.client, chosen)
        _say(f"stack {self.stack}: a killed run left {len(steps)} operations open\n{_table(steps)}")
        self._require_decisions(list(recovery.undecided(steps)))
        if not confirmed and not _confirmed(self.stack):
            _say("nothing was changed")
            return EXIT_REFUSED
        adopted = recovery.adopted(steps)
        backup = self._backup(document)
        self._import(pending.settled(document, adopted))
        code = process.run(self.refresh)
        if code:
            _say(f"the refresh failed; the state as it was is in {backup}: `pulumi stack import --file {backup}`")
            return code
        self._report(adopted, backup)
        return 0

    def _require_decisions(self, undecided: Sequence[Step]) -> None:
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

    def _import(self, document: str) -> None:
        with tempfile.TemporaryDirectory(prefix="slipway-recover-") as directory:
            file = Path(directory) / "state.json"
            file.write_text(document, encoding="utf-8")
            process.capture(self.command(("stack", "import", "--stack", self.stack, "--file", str(file))))

    def _report(self, adopted: Mapping[str, str], backup: Path) -> None:
        from slipway.engine.state import parse  # noqa: PLC0415

        after = {resource.urn for resource in parse(self.export()).resources}
        kept = [urn for urn in adopted if urn in after]
        _say(
            f"stack {self.stack}: {len(kept)} of {len(adopted)} existed and are in the state now; the others will be "
            f"created by the next `up`. The state before is in {backup}"
        )


def of_sandbox(project: Project, stack: str, platform: Platform, sandbox: Sandbox, engine: SandboxEngine) -> Recovery:
    """The recovery of a stack in the sandbox."""
    settings = engine.prepare(project.stacks, stack)
    request = Request(
        operation=Operation.REFRESH, stack=stack, yes=True, config_file=settings, extra=("--skip-preview",)
    )
    refresh = operation(engine.pulumi, request, directory=project.root, environment=engine.environment)

    def clients() -> Client:
        from slipway.account.context import session  # noqa: PLC0415 - boto3 takes 0.3 s
        from slipway.sandbox.aws.credentials import credentials  # noqa: PLC0415

        endpoint, account = sandbox.variables["AWS_ENDPOINT_URL"], platform.account
        return session(account.region, credentials(endpoint, account.id, account.region), endpoint)

    return Recovery(
        stack=stack,
        export=lambda: engine.export(stack),
        command=engine.command,
        refresh=refresh,
        client=_late(clients),
        backups=sandbox.home / BACKUPS,
    )


def _of_aws(project: Project, stack: str, platform: Platform) -> Recovery:
    from slipway.account.context import session  # noqa: PLC0415 - boto3 takes 0.3 s

    pulumi = shutil.which("pulumi")
    if pulumi is None:
        msg = "the Pulumi CLI is not on PATH: install it (https://www.pulumi.com/docs/install/)"
        raise SlipwayError(msg)

    def command(arguments: Sequence[str]) -> Invocation:
        return Invocation((pulumi, *arguments, "--non-interactive"), os.environ, project.root)

    request = Request(operation=Operation.REFRESH, stack=stack, yes=True, extra=("--skip-preview",))
    return Recovery(
        stack=stack,
        export=lambda: process.capture(command(("stack", "export", "--stack", stack))),
        command=command,
        refresh=operation(Path(pulumi), request, directory=project.root, environment=os.environ),
        client=_late(lambda: session(platform.account.region)),
        backups=default_home().parent / BACKUPS,
    )


def _late(make: Callable[[], Client]) -> Client:
    """Clients that are made when the first is needed."""
    made: list[Client] = []

    def client(service: str) -> object:
        if not made:
            made.append(make())
        return made[0](service)

    return client


def _chosen(pairs: Sequence[str]) -> dict[str, str]:
    chosen = {}
    for pair in pairs:
        # A URN may contain `=`, an id of these types can't.
        urn, separator, id = pair.rpartition("=")
        if not separator or not urn.startswith("urn:"):
            msg = f"--adopt {pair}: it must be URN=ID, such as --adopt 'urn:pulumi:dev::slipway::...::vpc=vpc-0a1b2c3d'"
            raise SlipwayError(msg, EXIT_REFUSED)
        chosen[urn] = id
    return chosen


def _table(steps: Sequence[Step]) -> str:
    rows = [(step.action.value, step.operation.type, step.operation.name, step.id or "-", step.why) for step in steps]
    return table(rows, indent="  ")


def _confirmed(stack: str) -> bool:
    if not can_ask():
        msg = (
            f"recover needs confirmation, and there is no terminal: add --yes, or see the plan above for stack {stack}"
        )
        raise SlipwayError(msg, EXIT_REFUSED)
    return ask(f"Recover stack {stack} as shown?")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
