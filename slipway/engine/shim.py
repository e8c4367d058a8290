"""The `pulumi` that `slipway sandbox env` puts on PATH: runs the real CLI with the sandbox's copy of a stack file.

With it, plain `pulumi up -s dev` needs no `pulumi stack init` and leaves the committed files unchanged (see
`stackfiles`). Commands that would not write to a stack file go to the CLI unchanged.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from slipway.engine import process
from slipway.engine.backend import folder
from slipway.engine.invocation import Invocation
from slipway.engine.project import find
from slipway.engine.stacks import Overlay, SandboxEngine, write_if_changed
from spec.errors import LINES, SlipwayError, visible

DIRECTORY: Final = "plain-pulumi"  # name of the shim's directory; identifies it on a PATH
COMMANDS: Final = frozenset({"up", "update", "preview", "pre", "refresh", "destroy", "down", "dn", "import", "watch"})
"""Commands that accept `--config-file` and would write a salt into the stack file, with their aliases."""
_WITH_VALUE: Final = frozenset(
    {"-C", "--cwd", "--color", "--memprofilerate", "--otel-traces", "--profiling", "--tracing", "-v", "--verbose"}
)
_PASSED_ON: Final = ("-C", "--cwd", "--config-file", "-h", "--help")


def install(overlay: Overlay, pulumi: Path) -> Path:
    """Write the shim; returns its directory."""
    directory = overlay.root / DIRECTORY
    directory.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-P", "-m", "slipway.engine.shim", str(pulumi), str(overlay.root)]
    write_if_changed(directory / "pulumi", f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', mode=0o755)
    return directory


def off_path(path: str) -> str:
    """The PATH without shims, for looking up the real CLI."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if Path(entry).name != DIRECTORY)


def concerns(arguments: Sequence[str]) -> bool:
    """Whether a command line runs a stack with its settings, and does not say where its stack file is."""
    if any(argument.partition("=")[0] in _PASSED_ON for argument in arguments):
        return False
    words = iter(arguments)
    for word in words:
        if word in _WITH_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return word in COMMANDS
    return False


def named_stack(arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The stack that a command line or PULUMI_STACK names."""
    for index, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in ("-s", "--stack"):
            return value if equals else next(iter(arguments[index + 1 : index + 2]), None)
    return environment.get("PULUMI_STACK") or None


def rewritten(engine: SandboxEngine, arguments: Sequence[str], directory: Path) -> list[str]:
    """The command line with `--config-file` and the copy of the stack's file; the stack is created if needed."""
    try:
        project = find(directory)
    except SlipwayError:
        return list(arguments)
    stack = named_stack(arguments, engine.environment) or _selected(engine, directory)
    if stack is None or not project.has(stack) or not directory.resolve().is_relative_to(project.root):
        return list(arguments)
    engine.stored(stack).require_readable()
    return [*arguments, "--config-file", str(engine.prepare(project.stacks, stack))]


def _selected(engine: SandboxEngine, directory: Path) -> str | None:
    argv = (str(engine.pulumi), "stack", "--show-name", "--non-interactive")
    try:
        return process.capture(Invocation(argv, engine.environment, directory)).strip() or None
    except SlipwayError:
        return None


def main() -> None:
    """`python -m slipway.engine.shim PULUMI OVERLAY ARGUMENT...`: replaces itself with the real CLI."""
    pulumi, root, *arguments = sys.argv[1:]
    if shutil.which(pulumi) is None:
        sys.exit(
            f"slipway: {pulumi} no longer exists: the sandbox was stopped. Run `slipway sandbox start` and "
            '`eval "$(slipway sandbox env)"` again, or open a new shell to leave the sandbox'
        )
    if concerns(arguments):
        from sandbox import asked  # noqa: PLC0415 - every other command would wait for the import

        backend = folder(os.environ.get("PULUMI_BACKEND_URL", ""))
        engine = SandboxEngine(Path(pulumi), dict(os.environ), backend, Overlay(Path(root)))
        try:
            for line in asked.ask(Path(root).parent, os.environ):
                sys.stderr.write(f"slipway: {visible(line)}\n")
            arguments = rewritten(engine, arguments, Path.cwd())
        except SlipwayError as error:
            sys.stderr.write(f"slipway: {visible(str(error), LINES)}\n")
            sys.exit(error.exit_code)
    os.execv(pulumi, [pulumi, *arguments])  # noqa: S606 - on purpose: this process becomes the CLI


if __name__ == "__main__":
    main()
