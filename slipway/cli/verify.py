"""`slipway verify STACK`: prove what a running cluster can do, with short Jobs, and report it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slipway.cli.cluster import connect
from slipway.cli.output import Progress, ask, can_ask
from slipway.engine.project import find
from slipway.sandbox import IN_SANDBOX_SHELL
from spec.errors import EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from slipway.cli.commands import Commands
    from spec.settings import Platform

MINUTES: Final = 20
"""A GPU node takes up to ten minutes to boot and to advertise its GPUs."""


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("verify", help="prove with short Jobs what a running cluster can do")
    parser.add_argument("stack", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
    parser.add_argument("--sandbox", action="store_true", help="the cluster of the stack in the sandbox")
    parser.add_argument("--yes", "-y", action="store_true", help="don't ask for confirmation")
    parser.add_argument(
        "--minutes", type=int, default=MINUTES, choices=range(1, 121), metavar="N",
        help=f"longest time to wait for the Jobs, 1 to 120 ({MINUTES})",
    )  # fmt: skip
    parser.add_argument("--nccl-image", metavar="IMAGE", help="image with nccl-tests (default: the public one of AWS)")
    parser.add_argument(
        "--model-uri", metavar="URI", help="where the model is that KServe serves (default: its example)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write verify.md and verify.json to this folder")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report; 1 if a check failed."""
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it
    from slipway.sandbox.kubernetes.errors import ApiError, UnreachableError  # noqa: PLC0415 - as above
    from slipway.verify import fabric, model, report  # noqa: PLC0415 - as above
    from slipway.verify.run import Verification  # noqa: PLC0415 - as above

    platform = checked(find(Path.cwd()), options.stack).platform
    simulated = bool(options.sandbox or os.environ.get(IN_SANDBOX_SHELL))
    reach = partial(connect, platform, simulated=simulated)
    reach()
    if not simulated and not _confirmed(platform, options):
        print("nothing was started", file=sys.stderr)
        return EXIT_REFUSED
    try:
        checks = Verification(
            connect=reach, platform=platform, seconds=options.minutes * 60, simulated=simulated, say=Progress(),
            nccl_image=options.nccl_image or fabric.IMAGE, model_uri=options.model_uri or model.URI,
        ).run()  # fmt: skip
    except (ApiError, UnreachableError) as error:
        msg = f"the cluster {platform.cluster_name} can't be verified: {error}"
        raise SlipwayError(msg) from error
    lacks = report.not_covered(platform)
    text = report.markdown(options.stack, checks, lacks, simulated=simulated)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "verify.md").write_text(text, encoding="utf-8")
        document = report.document(options.stack, checks, lacks, simulated=simulated)
        (options.out / "verify.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    print(text, end="")
    return 1 if any(one.status == "failed" for one in checks) else 0


def _confirmed(platform: Platform, options: argparse.Namespace) -> bool:
    from slipway.verify import report  # noqa: PLC0415 - `slipway --help` needs none of it

    amount, unpriced = report.cost(platform, Decimal(options.minutes) / 60)
    without = f"; without a price: {', '.join(unpriced)}" if unpriced else ""
    print(
        "One Job on each pool and in each team, nccl-tests on two nodes of each pool with EFA. If all of these nodes "
        f"start for {options.minutes} minutes, that costs at most {amount:.2f} USD at list prices{without}. Nodes then "
        "remain for their pool's `consolidateAfter`.",
        file=sys.stderr,
    )
    if options.yes:
        return True
    if not can_ask():
        msg = "this starts nodes: add --yes to confirm it without a terminal"
        raise SlipwayError(msg, EXIT_REFUSED)
    return ask("Start?")
