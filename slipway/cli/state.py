"""`slipway state list|restore STACK`: copies of a stack's state, and one of them in its place."""

import argparse
import json
import os
from pathlib import Path

from sandbox import IN_SANDBOX_SHELL
from sandbox.state import default_home
from slipway.cli import offline
from slipway.cli.output import ask, can_ask, say, table
from slipway.engine import backend, checkpoints
from slipway.engine.checkpoints import Checkpoint, CutError
from slipway.engine.copies import STATES, Copies
from slipway.engine.project import find
from slipway.engine.stacks import locks
from spec.errors import EXIT_REFUSED, fail, refuse
from spec.naming import PROJECT


def listed(options: argparse.Namespace) -> int:
    """Print the copies, the newest last."""
    copies = _copies(options)
    found = {number: (each.time or "before the first run", each.holds) for number, each in copies.all().items()}
    if options.json:
        print(json.dumps([{"number": number, "time": one[0], "holds": one[1]} for number, one in found.items()]))
    elif found:
        print(table([(str(number), *one) for number, one in found.items()], right=frozenset({0})))
    else:
        say(f"there is no copy in {copies.folder}")
    return 0


def restore(options: argparse.Namespace) -> int:
    """Put a copy in the place of the state; 0 if that was done."""
    copies = _copies(options)
    _refuse_used(copies)
    copy = _chosen(copies, options.copy)
    file = copies.file
    present = copies.fault() or (checkpoints.read(file).holds if file is not None else "the stack has none")
    say(f"stack {copies.stack}: {copy.path} is from {copy.time or 'before the first run'}, with {copy.holds}; "
        f"the state now: {present}")  # fmt: skip
    if not options.yes:
        if not can_ask():
            refuse("this needs confirmation, and there is no terminal: add --yes")
        if not ask("Put this copy in the place of the state?"):
            say("nothing was changed")
            return EXIT_REFUSED
    kept, reopened = copies.restore(copy)
    lines = [f"the copy is the state now{f'; the state before is kept in {kept}' if kept else ''}"]
    if reopened:
        lines.append(
            f"{reopened} resources that only the state before had may exist: `{copies.recover}` looks for them, and "
            "reads what AWS has"
        )
    else:
        refresh = copies.recover.replace(" state repair ", " refresh ")
        lines.append(f"`{refresh}` reads what AWS has, and reports how it differs")
    say("\n".join(lines))
    return 0


def _copies(options: argparse.Namespace) -> Copies:
    project = find(Path.cwd())
    if options.sandbox or os.environ.get(IN_SANDBOX_SHELL):
        return offline.require_running().engine(os.environ).copies(options.stack)
    found = backend.copies(project, options.stack, os.environ, default_home().parent / STATES)
    if found is None:
        url = backend.current(project, options.stack, os.environ).url or "no backend"
        fail(
            f"the state of stack {options.stack} is in {url}, and copies are made of those in a folder (file://): take "
            " an older version of the object from the bucket, or of the stack from the service, and `pulumi stack "
            "import` it"
        )
    return found


def _refuse_used(copies: Copies) -> None:
    for lock in locks(copies.backend, PROJECT, copies.stack):
        if lock.owner_lives:
            fail(f"stack {copies.stack} is in use by another run ({lock}): wait for it to end, or interrupt it")


def _chosen(copies: Copies, wanted: str | None) -> Checkpoint:
    found = copies.all()
    if wanted is not None and not wanted.isdigit():
        try:
            return checkpoints.read(Path(wanted))
        except (CutError, OSError) as error:
            refuse(f"--copy {wanted}: {error}: name a number of `slipway state list`, or a file with a state", error)
    if wanted is not None:
        if int(wanted) not in found:
            refuse(f"--copy {wanted}: there are {', '.join(map(str, found)) or 'none'} in {copies.folder}")
        return found[int(wanted)]
    file = copies.file
    content = file.read_bytes() if file is not None else b""
    newest = next((each for each in reversed(found.values()) if each.content != content), None)
    if newest is None:
        fail(f"there is no copy that differs from the state, in {copies.folder}")
    return newest
