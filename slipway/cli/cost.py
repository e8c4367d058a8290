"""`slipway cost STACK`: floor, expected cost and ceiling of a stack, and what a change of its settings costs.

`slipway catalog prices` updates the catalog's prices from AWS's price list; it needs AWS credentials.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from slipway.cli import offline
from slipway.cli.check import checked
from slipway.cost import estimates
from slipway.cost.difference import as_deployed, at_commit, changes, difference, of_difference
from slipway.cost.estimates import table
from slipway.cost.prices import Refreshed, refresh
from slipway.engine import backend, process
from slipway.engine.invocation import Invocation
from slipway.engine.project import Project, find
from slipway.engine.state import HISTORY, last_update
from spec.catalog import prices, regions
from spec.catalog.document import FOLDER
from spec.errors import SlipwayError, fail, refuse
from spec.pricing import Estimate, estimate
from spec.settings import Platform

_NO_PULUMI: Final = "`pulumi` is not on PATH, so the deployed settings can't be read: install it, or add --sandbox"


def estimate_stack(options: argparse.Namespace) -> int:
    """Estimate the cost of the settings, and of the baseline they are compared with."""
    project = find(Path.cwd())
    priced = estimate(checked(project, options.stack).platform)
    if options.against or options.deployed:
        _compare(options, project, priced)
    else:
        _show(priced, as_json=options.json, wide=options.wide)
    return 0


def _show(priced: Estimate, *, as_json: bool, wide: bool) -> None:
    shown = json.dumps(estimates.of_estimate(priced), indent=2) if as_json else table(priced, wide=wide)
    print(shown.rstrip("\n"))


def _compare(options: argparse.Namespace, project: Project, priced: Estimate) -> None:
    if options.against:
        name, before = options.against, at_commit(project, options.stack, options.against)
    else:
        name, before = "what is deployed", _deployed(project, options.stack, sandbox=options.sandbox)
    baseline = Estimate(region=priced.region, lines=(), unpriced=()) if before is None else estimate(before)
    result = difference(baseline, priced)
    if options.json:
        print(json.dumps(of_difference(result, name), indent=2))
        return
    if before is None:
        print(f"{name} has no stack {options.stack}, so everything is new.\n")
    print(changes(result, name, wide=options.wide), end="")


def _deployed(project: Project, stack: str, *, sandbox: bool) -> Platform | None:
    last = last_update(history_in_sandbox(stack) if sandbox else history_on_aws(project, stack))
    if last is None:
        return None
    if not last.settled:
        print(f"warning: the last update of {stack} failed, so only part of it is deployed", file=sys.stderr)
    return as_deployed(last.settings, stack)


def history_in_sandbox(stack: str) -> str:
    """The update history of a stack in the sandbox, as JSON."""
    running = offline.find_running()
    if running is None:
        fail("the sandbox is not running, so nothing is deployed in it: run `slipway up STACK --sandbox` first")
    return running.engine(os.environ).history(stack)


def history_on_aws(project: Project, stack: str) -> str:
    """The update history of a stack in your Pulumi backend, as JSON."""
    pulumi = shutil.which("pulumi")
    if pulumi is None:
        raise SlipwayError(_NO_PULUMI)
    argv = (pulumi, *HISTORY, "--stack", stack, "--non-interactive")

    def read() -> str:
        return process.capture(Invocation(argv, os.environ, project.root))

    stored = backend.stored(project, stack, os.environ)
    return read() if stored is None else stored.advised(read)


API: Final = "us-east-1"
"""A region with a pricing API endpoint; it has the prices of all regions (AWS Billing User Guide, "Price List")."""
_NEEDS: Final = (
    "`slipway catalog prices` needs AWS credentials with pricing:GetProducts and ec2:DescribeSpotPriceHistory; "
    "log in first (`aws sso login`, AWS_PROFILE, ...). Until then, the catalog's own dated prices are used"
)


def refresh_prices(options: argparse.Namespace) -> int:
    """Write a file per region, and report the prices that the list does not have."""
    wanted = options.region or [prices.REGION]
    for region in wanted:
        if not regions.is_region(region):
            refuse(f"--region {region}: the catalog has no region of this name. Use {regions.NAMES}")
    folder = options.out or find(Path.cwd()).root / FOLDER
    if not folder.is_dir():
        refuse(f"--out {folder}: there is no such folder. Create it first")
    # The moment of the answers, whatever day stacks are evaluated at (SLIPWAY_TODAY).
    now = datetime.now(UTC)  # noqa: TID251
    for region in wanted:
        pricing, ec2 = clients(region)
        refreshed = _query(partial(refresh, pricing, ec2, region, now))
        print(_summary(refreshed, refreshed.write(folder)))
    return 0


def clients(region: str) -> tuple[Any, Any]:
    """boto3 clients: for the price list, and for EC2 in the region."""
    return boto3.client("pricing", region_name=API), boto3.client("ec2", region_name=region)


def _query(call: Callable[[], Refreshed]) -> Refreshed:
    try:
        return call()
    except (BotoCoreError, ClientError) as error:
        fail(f"AWS returned no prices ({error}): {_NEEDS}", error)


def _summary(refreshed: Refreshed, path: Path) -> str:
    instances = len(refreshed.document["instances"])
    lines = [f"{path}: {len(refreshed.taken)} prices of {refreshed.region} and {instances} instance types"]
    lines += [f"  unchanged: {name} ({why})" for name, why in sorted(refreshed.kept.items())]
    lines += [f"  without a price: {name} ({why})" for name, why in sorted(refreshed.missing.items())]
    return "\n".join(lines)
