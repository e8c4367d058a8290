"""`slipway up|preview|refresh|destroy STACK`: check the settings, then run the engine's command."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from sandbox import IN_SANDBOX_SHELL
from sandbox.kubernetes.client import KubeClient
from slipway.account.context import late, session
from slipway.charts import fetch
from slipway.cli import cost, display, offline, summary
from slipway.cli.check import checked, require_charts, require_workers
from slipway.cli.cluster import client_of
from slipway.cli.gate import Gate, Review
from slipway.cli.offline import Sandbox
from slipway.cli.output import Progress, ask, can_ask, say
from slipway.cli.recover import of_sandbox
from slipway.cli.taken import refuse_taken
from slipway.engine import backend, gate, process
from slipway.engine.guard import Guard
from slipway.engine.invocation import PREVIEW_ONLY, Invocation, Operation, Request, operation, refuse_ours
from slipway.engine.project import Project, find
from slipway.engine.protection import refuse_interrupted, refuse_network_only, refuse_protected, removes_all
from slipway.engine.skipped import put_back
from slipway.engine.state import StackState, parse
from slipway.teardown.access import connect
from slipway.teardown.destroy import Teardown
from slipway.teardown.leftovers import sweep
from spec.errors import EXIT_REFUSED, SlipwayError, fail, refuse
from spec.settings import Loaded
from spec.settings.platform import Platform

SWEEP_SECONDS: Final = 10.0
_GET_PULUMI: Final = (
    "the Pulumi CLI is not on PATH: install it (https://www.pulumi.com/docs/install/), "
    "or add --sandbox, which brings its own"
)


def run(options: argparse.Namespace) -> int:
    """Check the settings, then run the engine on AWS or in the sandbox; its exit code."""
    wanted = Operation(options.command)
    gate.check_names(options.allow_replace)
    refuse_ours(options.extra)
    project = find(Path.cwd())
    loaded = checked(project, options.stack)
    if wanted in (Operation.UP, Operation.PREVIEW):
        require_workers(loaded, options.stack, project)
        require_charts(loaded, options.stack, project)
    sandbox = bool(options.sandbox or os.environ.get(IN_SANDBOX_SHELL))
    request = Request(
        operation=wanted,
        stack=options.stack,
        # A run in the sandbox can be repeated; only a destroy asks for confirmation.
        yes=options.yes or (sandbox and wanted is not Operation.DESTROY),
        except_protected=options.except_protected,
        network_only=options.network_only,
        unreachable=options.unreachable,
        skip_preview=sandbox and not options.preview,
        extra=options.extra,
    )
    _require_confirmation(request)
    if sandbox:
        return _in_sandbox(project, request, loaded, options)
    return _on_aws(project, request, loaded, options)


def _require_confirmation(request: Request) -> None:
    if request.only_shows or request.confirmed or can_ask():
        return
    # An `up` has a command that shows what it would do.
    shown = f"preview {request.stack}" if request.operation is Operation.UP else f"{request.operation} {request.stack}"
    sandbox = " --sandbox" if request.skip_preview else ""
    only = "" if request.operation is Operation.UP else f" -- {PREVIEW_ONLY}"
    refuse(
        f"{request.operation} {request.stack} needs confirmation, and there is no terminal: add --yes; "
        f"`slipway {shown}{sandbox}{only}` shows what it would change"
    )


def _on_aws(project: Project, request: Request, loaded: Loaded, options: argparse.Namespace) -> int:
    pulumi = shutil.which("pulumi")
    if pulumi is None:
        raise SlipwayError(_GET_PULUMI)

    def command(arguments: Sequence[str]) -> Invocation:
        return Invocation((pulumi, *arguments, "--non-interactive"), os.environ, project.root)

    def export() -> str:
        return process.capture(command(("stack", "export", "--stack", request.stack)))

    before = cache(export)

    def state() -> StackState:
        return parse(before())

    def call(request: Request) -> Invocation:
        return operation(Path(pulumi), request, directory=project.root, environment=os.environ)

    guard = Guard(stored=backend.stored(project, request.stack, os.environ), say=say)
    guard.require_readable()
    refuse_protected(request, state)
    refuse_interrupted(request, state)
    refuse_network_only(request, state)
    region, name = loaded.platform.account.region, loaded.platform.cluster_name
    of_account = late(lambda: session(region))
    refuse_taken(request, loaded.platform, state, lambda: connect(of_account("eks"), name, region), of_account)
    gated = Gate(
        call=call,
        state=state,
        allowed=options.allow_replace,
        ask=ask,
        review=Review(loaded=loaded, history=lambda: cost.history_on_aws(project, request.stack)),
        left=lambda: parse(export()),
        failed=_completing(request, before, export, command, guard.run),
        quiet=display.quiet(request.extra, verbose=options.verbose),
        engine=guard.run,
        counted=[guard.resources],
    )
    if _removes_cluster(request, loaded.platform):
        return tear_down(request, loaded.platform, gated.run, ask, delete_volumes=options.delete_volumes)
    return gated.run(request)


def _in_sandbox(project: Project, request: Request, loaded: Loaded, options: argparse.Namespace) -> int:
    progress = Progress()

    def wanted(charts: Path | None) -> Mapping[str, str]:
        if request.operation not in (Operation.UP, Operation.PREVIEW):
            return os.environ
        command = f"slipway {request.operation} {request.stack} --sandbox"
        return fetch.variables(os.environ, charts, loaded.platform.charts, command, progress)

    sandbox = offline.for_run(progress, wanted)
    engine = sandbox.engine(os.environ)
    guard = sandbox.guard(engine, request.stack)
    guard.require_readable()
    if request.operation.changes:
        # A preview takes no lock and ignores existing ones (pulumi v3.258.0, pkg/backend/diy/backend.go).
        engine.free(request.stack, progress)
    settings = engine.prepare(project.stacks, request.stack)
    if request.operation.changes and engine.interrupted(request.stack):
        # Nothing of value can be lost here, so nobody has to confirm it.
        code = of_sandbox(project, request.stack, loaded.platform, sandbox, engine).run({}, confirmed=True)
        if code:
            return code

    def export() -> str:
        return engine.export(request.stack)

    before = cache(export)

    def state() -> StackState:
        return parse(before())

    def left() -> StackState:
        return parse(export())

    refuse_protected(request, state)
    refuse_network_only(request, state)
    name, of_account = loaded.platform.cluster_name, late(lambda: sandbox.client(loaded.platform))
    refuse_taken(request, loaded.platform, state, lambda: client_of(sandbox.kubeconfig, name), of_account)

    def call(request: Request) -> Invocation:
        return operation(
            engine.pulumi, request.with_settings(settings), directory=project.root, environment=engine.environment
        )

    gated = Gate(
        call=call,
        state=state,
        allowed=options.allow_replace,
        ask=ask,
        review=Review(loaded=loaded, history=lambda: engine.history(request.stack)),
        left=left,
        failed=_completing(request, before, export, engine.command, guard.run),
        flags=" --sandbox",
        quiet=display.quiet(request.extra, verbose=options.verbose),
        engine=guard.run,
        counted=[guard.resources],
    )
    run: Callable[[Request], int] = gated.run
    if _removes_cluster(request, loaded.platform) and any(one.type.startswith("aws:") for one in state().resources):
        run = _sweeping(sandbox, loaded.platform, gated.run, delete_volumes=options.delete_volumes)
    code = run(request)
    if code == 0:
        print(summary.after(request, loaded.platform, left, sandbox, verbose=options.verbose))
    return code


def _completing(
    request: Request,
    before: Callable[[], str],
    export: Callable[[], str],
    command: Callable[[Sequence[str]], Invocation],
    run: process.EngineRun,
) -> Callable[[], None]:
    """What completes the state after a run that failed: of a destroy, what the engine forgot too early."""
    if request.only_shows or not (request.operation is Operation.DESTROY and removes_all(request)):
        return lambda: None
    return partial(put_back, before(), export, command, run, request.stack)


def _sweeping(
    sandbox: Sandbox, platform: Platform, run: Callable[[Request], int], *, delete_volumes: bool
) -> Callable[[Request], int]:
    """Destroys a stack of the sandbox as one on AWS, without emptying its cluster: nothing in it made AWS resources."""
    client = sandbox.client(platform)

    def connect() -> KubeClient | None:
        return client_of(sandbox.kubeconfig, platform.cluster_name)

    # Moto deletes at once, where AWS takes minutes.
    swept = partial(sweep, seconds=SWEEP_SECONDS, sleep=lambda _: time.sleep(0.1))
    teardown = Teardown(
        platform=platform, client=client, connect=connect, run=run, say=say, delete_volumes=delete_volumes,
        empty=None, sweep=swept,
    )  # fmt: skip
    return teardown.destroy


def _removes_cluster(request: Request, platform: Platform) -> bool:
    """Whether the whole stack is removed, with its cluster; a part of it may leave the cluster, which keeps its
    controllers, and one that exists keeps what others have in it."""
    whole = request.operation is Operation.DESTROY and removes_all(request)
    return whole and platform.cluster.existing is None


def tear_down(
    request: Request,
    platform: Platform,
    run: Callable[[Request], int],
    ask: Callable[[str], bool],
    *,
    delete_volumes: bool,
) -> int:
    """Ask, then remove the stack; the exit code."""
    name = platform.cluster_name
    question = (
        f"Remove the nodes of Karpenter, load balancers and unmounted volumes of cluster {name} first, "
        "before the engine lists the rest?"
    )
    if not request.yes and "--yes" not in request.extra and not ask(question):
        print("nothing was changed", file=sys.stderr)
        return EXIT_REFUSED
    client = session(platform.account.region)
    try:
        return Teardown(
            platform=platform,
            client=client,
            connect=lambda: connect(client("eks"), name, platform.account.region),
            run=run,
            say=lambda text: print(text, file=sys.stderr, flush=True),
            delete_volumes=delete_volumes,
        ).destroy(request)
    except (BotoCoreError, ClientError) as error:
        first = str(error).partition("\n")[0]
        fail(f"AWS does not answer as expected: {first}. What is done is done; fix it and run the command again", error)
