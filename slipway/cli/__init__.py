"""The command line: `slipway up dev --sandbox` and the other commands. One file per command group; heavy imports are
late."""

import os
import re
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata

from slipway.cli.output import made_visible
from slipway.cli.parser import parse
from slipway.engine.project import NoProjectError
from slipway.engine.shim import off_path
from spec.errors import EXIT_CLOSED, EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_REFUSED, SlipwayError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. A failure prints one message to stderr, and a traceback only with --debug."""
    with made_visible():
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    debug, elsewhere = False, ""
    # In a shell of `slipway sandbox env`, the first `pulumi` on PATH is Slipway's shim, not the engine.
    os.environ["PATH"] = off_path(os.environ.get("PATH", os.defpath))
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        debug, elsewhere = options.debug, options.elsewhere
        code: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("slipway: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe (`slipway doctor | head`); without this, Python reports the error again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_CLOSED
    except Exception as error:  # an unexpected error is a message too, not a traceback
        return _report(error, elsewhere, debug=debug)
    return code


def _part_with(module: str) -> str:
    """The extra that installs a module; empty if none does (`[project.optional-dependencies]`)."""
    name = module.partition(".")[0].replace("_", "-")
    named = re.compile(rf"{re.escape(name)}\b.*extra == ['\"](?P<extra>\w+)")
    found = filter(None, map(named.match, metadata.requires("slipway") or ()))
    return next((one["extra"] for one in found), "")


def _report(error: Exception, elsewhere: str, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
    if isinstance(error, SlipwayError):
        more = f", or without a stack file {elsewhere}" if elsewhere and isinstance(error, NoProjectError) else ""
        print(error if error.complete else f"slipway: {error}{more}", file=sys.stderr)
        return error.exit_code
    if isinstance(error, ModuleNotFoundError) and (part := _part_with(error.name or "")):
        print(f"slipway: this command needs {error.name}: install slipway[{part}]", file=sys.stderr)
        return EXIT_REFUSED
    if isinstance(error, OSError):
        # Without Python's "[Errno 2]", which only its documentation explains.
        text = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        print(f"slipway: {text}", file=sys.stderr)
    else:
        hint = "" if debug else "; `slipway --debug ...` shows where"
        print(f"slipway: unexpected {type(error).__name__}: {error}{hint}", file=sys.stderr)
    return EXIT_FAILURE
