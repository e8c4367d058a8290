"""`slipway verify STACK`: prove what a running cluster can do, with short Jobs, and report it."""

import argparse
import json
import os
import sys
from decimal import Decimal
from functools import partial
from pathlib import Path

from sandbox import IN_SANDBOX_SHELL
from sandbox.files import write_atomically
from sandbox.kubernetes.client import ApiError, UnreachableError
from slipway.cli.check import checked
from slipway.cli.cluster import connect
from slipway.cli.output import Progress, ask, can_ask
from slipway.engine.project import find
from slipway.verify import fabric, model, report
from slipway.verify.run import Verification
from spec.errors import EXIT_REFUSED, fail, refuse
from spec.settings import Platform


def run(options: argparse.Namespace) -> int:
    """Print the report; 1 if a check failed."""
    platform = checked(find(Path.cwd()), options.stack).platform
    simulated = bool(options.sandbox or os.environ.get(IN_SANDBOX_SHELL))
    reach = partial(connect, platform, simulated=simulated)
    reach()
    if not simulated and not _confirmed(platform, options):
        print("nothing was started", file=sys.stderr)
        return EXIT_REFUSED
    try:
        results = Verification(
            connect=reach, platform=platform, seconds=options.minutes * 60, simulated=simulated, say=Progress(),
            nccl_image=options.nccl_image or fabric.IMAGE, model_uri=options.model_uri or model.URI,
        ).run()  # fmt: skip
    except (ApiError, UnreachableError) as error:
        fail(f"the cluster {platform.cluster_name} can't be verified: {error}", error)
    lacks = report.not_covered(platform)
    text = report.markdown(options.stack, results, lacks, simulated=simulated)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        write_atomically(options.out / "verify.md", text, 0o644)
        written = report.document(options.stack, results, lacks, simulated=simulated)
        write_atomically(options.out / "verify.json", json.dumps(written, indent=2) + "\n", 0o644)
    print(text, end="")
    return 1 if any(one.status == "failed" for one in results) else 0


def _confirmed(platform: Platform, options: argparse.Namespace) -> bool:
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
        refuse("this starts nodes: add --yes to confirm it without a terminal")
    return ask("Start?")
