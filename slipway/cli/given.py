"""What a command is about: a stack, or a cluster without a stack file, which is a folder of `slipway import`."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipway.cli.check import checked
from slipway.cli.output import say
from slipway.engine.project import find
from slipway.imported import stack
from slipway.render.program import record_platform
from slipway.render.recording import Recording
from slipway.replay.plan import Objects
from spec.errors import refuse
from spec.settings import Platform


@dataclass(frozen=True)
class Given:
    """What a command is about: a stack, or a cluster without a stack file."""

    name: str
    platform: Platform
    objects: Callable[[], Recording | Objects]
    """What its program declares, or what is in the cluster."""
    notes: Sequence[str] = ()  # what is not known of it


def given(options: argparse.Namespace) -> Given:
    """The stack of a command, or the folder of an import that `--from` names; what that lacks is said on stderr."""
    if options.source is None and (options.region or options.nodes):
        refuse("--region and --nodes are of --from FOLDER: a stack file says both")
    if options.source is None:
        platform = checked(find(Path.cwd()), options.stack).platform
        return Given(options.stack, platform, lambda: record_platform(platform, stack=options.stack))
    found = stack.read(options.source, options.region, dict(options.nodes or ()))
    for note in found.notes:
        say(f"{found.name}: {note}")
    return Given(found.name, found.platform, lambda: found.objects, found.notes)
