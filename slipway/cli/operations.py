"""`slipway up|preview|refresh|destroy STACK`: check the settings, then run the engine's command."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slipway.cli import cost, display, teardown
from slipway.cli.check import require_charts, require_workers
from slipway.cli.gate import Gate
from slipway.cli.output import Progress, ask, can_ask
from slipway.cli.review import Review
from slipway.engine import gate, process
from slipway.engine.invocation import PREVIEW_ONLY, Invocation, Operation, Request, operation, refuse_ours
from slipway.engine.network_only import refuse_network_only
from slipway.engine.project import Project, find
from slipway.engine.protection import refuse_interrupted, refuse_protected
from slipway.engine.state import StackState, parse
from slipway.sandbox import IN_SANDBOX_SHELL
from spec.errors import EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from slipway.cli.commands import Commands
    from spec.settings import Loaded

_HELP: Final = {
    Operation.UP: "create or update the resources of a stack",
    Operation.PREVIEW: "show what `up` would change",
    Operation.REFRESH: "update the state from the live resources, and report drift",
    Operation.DESTROY: "delete the resources of a stack; refused if any is protected",
}
_GET_PULUMI: Final = (
    "the Pulumi CLI is not on PATH: install it (https://www.pulumi.com/docs/install/), "
    "or add --sandbox, which brings its own"
)


def add(commands: Commands) -> None:
    """Add the four commands to the parser."""
    for name, text in _HELP.items():
        parser = commands.add_parser(
            str(name), help=text, usage=f"slipway {name} STACK [--sandbox] [options] [-- arguments for pulumi]"
        )
        parser.add_argument("stack", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
        parser.add_argument(
            "--sandbox", action="store_true", help="run in the local sandbox, without AWS; starts it if needed"
        )
        parser.add_argument(
            "--verbose", action="store_true",
            help="show the engine's rows; with --sandbox also list every resource and node",
        )  # fmt: skip
        parser.add_argument("--strict", action="store_true", help="treat warnings about the settings as errors")
        if name.changes:
            parser.add_argument("--yes", "-y", action="store_true", help="don't ask for confirmation")
        if name in (Operation.UP, Operation.PREVIEW):
            parser.add_argument(
                "--allow-replace", action="append", default=[], metavar="URN",
                help="allow this stateful resource to be replaced or deleted; repeatable",
            )  # fmt: skip
            parser.add_argument(
                "--network-only", action="store_true",
                help="only the network: the first step of a cluster with a private endpoint",
            )  # fmt: skip
        if name is Operation.UP:
            parser.add_argument("--preview", action="store_true", help="show a preview first in the sandbox, too")
        if name is Operation.DESTROY:
            parser.add_argument(
                "--except-protected", action="store_true", help="keep the protected resources and those they depend on"
            )
            parser.add_argument(
                "--unreachable", action="store_true",
                help="the cluster will never answer again: forget its objects, remove its AWS resources by tag",
            )  # fmt: skip
            parser.add_argument(
                "--delete-volumes", action="store_true",
                help="on AWS, delete every volume that claims of the cluster created",
            )  # fmt: skip
        parser.set_defaults(run=run, takes_extra=True, operation=name)
        parser.set_defaults(yes=False, except_protected=False, preview=False, network_only=False, allow_replace=[])
        parser.set_defaults(unreachable=False, delete_volumes=False)


def run(options: argparse.Namespace) -> int:
    """Check the settings, then run the engine on AWS or in the sandbox; its exit code."""
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it

    gate.check_names(options.allow_replace)
    refuse_ours(options.extra)
    project = find(Path.cwd())
    loaded = checked(project, options.stack, strict=options.strict)
    if options.operation in (Operation.UP, Operation.PREVIEW):
        require_workers(loaded, options.stack, project)
        require_charts(loaded, options.stack, project)
    sandbox = bool(options.sandbox or os.environ.get(IN_SANDBOX_SHELL))
    request = Request(
        operation=options.operation,
        stack=options.stack,
        # A run in the sandbox can be repeated; only a destroy asks for confirmation.
        yes=options.yes or (sandbox and options.operation is not Operation.DESTROY),
        except_protected=options.except_protected,
        network_only=options.network_only,
        unreachable=options.unreachable,
        skip_preview=sandbox and not options.preview,
        extra=options.extra,
    )
    _require_confirmation(request)
    if sandbox:
        return _in_sandbox(project, request, loaded, options.allow_replace, verbose=options.verbose)
    return _on_aws(project, request, loaded, options)


def _require_confirmation(request: Request) -> None:
    if request.only_shows or request.confirmed or can_ask():
        return
    # An `up` has a command that shows what it would do.
    shown = f"preview {request.stack}" if request.operation is Operation.UP else f"{request.operation} {request.stack}"
    sandbox = " --sandbox" if request.skip_preview else ""
    only = "" if request.operation is Operation.UP else f" -- {PREVIEW_ONLY}"
    msg = (
        f"{request.operation} {request.stack} needs confirmation, and there is no terminal: add --yes; "
        f"`slipway {shown}{sandbox}{only}` shows what it would change"
    )
    raise SlipwayError(msg, EXIT_REFUSED)


def _on_aws(project: Project, request: Request, loaded: Loaded, options: argparse.Namespace) -> int:
    pulumi = shutil.which("pulumi")
    if pulumi is None:
        raise SlipwayError(_GET_PULUMI)

    @cache  # read before the run alone
    def state() -> StackState:
        argv = (pulumi, "stack", "export", "--stack", request.stack, "--non-interactive")
        return parse(process.capture(Invocation(argv, os.environ, project.root)))

    def call(request: Request) -> Invocation:
        return operation(Path(pulumi), request, directory=project.root, environment=os.environ)

    refuse_protected(request, state)
    refuse_interrupted(request, state)
    refuse_network_only(request, state)
    gated = Gate(
        call=call,
        state=state,
        allowed=options.allow_replace,
        ask=ask,
        review=Review(loaded=loaded, history=lambda: cost.history_on_aws(project, request.stack)),
        quiet=display.quiet(request.extra, verbose=options.verbose),
    )
    if teardown.wanted(request):
        return teardown.destroy(request, loaded.platform, gated.run, ask, delete_volumes=options.delete_volumes)
    return gated.run(request)


def _in_sandbox(project: Project, request: Request, loaded: Loaded, allowed: Sequence[str], *, verbose: bool) -> int:
    # Imports process control, certificates and botocore, which a run on AWS doesn't need.
    from slipway.cli import offline, summary  # noqa: PLC0415
    from slipway.cli.recover import of_sandbox  # noqa: PLC0415

    say = Progress()
    sandbox = offline.find_running() or offline.start(say)
    engine = sandbox.engine(os.environ)
    if request.operation.changes:
        # A preview takes no lock and ignores existing ones (pulumi v3.258.0, pkg/backend/diy/backend.go).
        engine.free(request.stack, say)
    settings = engine.prepare(project.stacks, request.stack)
    if request.operation.changes and engine.interrupted(request.stack):
        # Nothing of value can be lost here, so nobody has to confirm it.
        code = of_sandbox(project, request.stack, loaded.platform, sandbox, engine).run({}, confirmed=True)
        if code:
            return code

    def state() -> StackState:
        return engine.state(request.stack)

    refuse_protected(request, state)
    refuse_network_only(request, state)

    def call(request: Request) -> Invocation:
        return operation(
            engine.pulumi,
            request.with_settings(settings),
            directory=project.root,
            environment=engine.environment,
        )

    gated = Gate(
        call=call,
        state=state,
        allowed=allowed,
        ask=ask,
        review=Review(loaded=loaded, history=lambda: engine.history(request.stack)),
        quiet=display.quiet(request.extra, verbose=verbose),
    )
    code = gated.run(request)
    if code == 0:
        print(summary.after(request, loaded.platform, state, sandbox, verbose=verbose))
    return code
