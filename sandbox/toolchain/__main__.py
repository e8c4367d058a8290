"""`python -m sandbox.toolchain ensure NAME...` and `... list`: finds, installs or builds the binaries Slipway runs.

`... pipeline` gets what a deployment runs, verified by committed checksums; `... checksums` writes those. `... archive`
makes what a release offers built.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from sandbox.errors import ToolError
from sandbox.toolchain import archive, cache, install, locate, plugins, record
from sandbox.toolchain.obtain import ensure
from sandbox.toolchain.tools import TOOLS, Tool

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code: 0, 1 if a tool can't be obtained, 130 if interrupted."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.toolchain", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="list every tool, its wanted version and its path")
    ensuring = commands.add_parser("ensure", help="find the tools; install or build missing ones")
    ensuring.add_argument("--pinned", action="store_true", help="download only files with a committed checksum")
    ensuring.add_argument("--keep-going", action="store_true", help="try the other tools after one that fails")
    ensuring.add_argument("names", nargs="+", metavar="NAME", choices=sorted(TOOLS), help=", ".join(TOOLS))
    commands.add_parser("archive", help="what a release has built: makes all of it, pinned; prints the archive's name")
    commands.add_parser("pipeline", help="pulumi and its plugins, pinned: what a deployment needs")
    commands.add_parser("checksums", help="write the checksums of all release files in use (downloads each once)")
    options = parser.parse_args(arguments)
    try:
        if options.command == "list":
            print(table())
        elif options.command == "archive":
            for tool in archive.packed():
                ensure(tool.name, pinned=True, read=True)
            print(archive.name())
        elif options.command == "pipeline":
            pulumi = ensure("pulumi", pinned=True, read=True)
            for path in (pulumi, *plugins.ensure_pinned(pulumi)):
                print(path, flush=True)
        elif options.command == "checksums":
            print(f"{record.record()} new lines in {install.CHECKSUMS}")
        else:
            return _ensure_all(options.names, pinned=options.pinned, keep_going=options.keep_going)
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; run the same command again to continue", file=sys.stderr)
        return _INTERRUPTED
    return 0


def _ensure_all(names: Sequence[str], *, pinned: bool, keep_going: bool) -> int:
    failed = 0
    for name in names:
        try:
            print(f"{name}: {ensure(name, pinned=pinned, read=True)}", flush=True)
        except ToolError as error:
            if not keep_going:
                raise
            print(f"error: {error}", file=sys.stderr)
            failed = 1
    return failed


def table() -> str:
    """One line per tool: name, wanted version, and its path or the way to obtain it."""
    rows = [("TOOL", "WANTED", "WHERE"), *((tool.name, tool.version, _where(tool)) for tool in TOOLS.values())]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{name:{widths[0]}}  {version:{widths[1]}}  {where}" for name, version, where in rows]
    return "\n".join([*lines, f"cache: {cache.root()}"])


def _where(tool: Tool) -> str:
    if found := locate.search(tool):
        return f"{found.path} ({found.version}, {found.source})"
    how = f"about {tool.go.minutes:g} min from source" if tool.go else "comes with `make setup`"
    return f"missing ({how})"


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    # A supervisor's SIGTERM ends the compiler the same way as Ctrl-C.
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(main())
