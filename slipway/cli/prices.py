"""`slipway prices refresh`: update the catalog's prices from AWS's price list; needs AWS credentials."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from slipway.engine.project import find
from spec.errors import EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from slipway.cli.commands import Commands
    from slipway.prices.refresh import Refreshed

API: Final = "us-east-1"
"""A region with a pricing API endpoint; it has the prices of all regions (AWS Billing User Guide, "Price List")."""
_NEEDS: Final = (
    "`slipway prices refresh` needs AWS credentials with pricing:GetProducts and ec2:DescribeSpotPriceHistory; "
    "log in first (`aws sso login`, AWS_PROFILE, ...). Until then, the catalog's own dated prices are used"
)


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("prices", help="update the catalog's prices from AWS's price list")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    refresh = actions.add_parser("refresh", help="query AWS's price list and Spot price history; needs AWS credentials")
    refresh.add_argument(
        "--region", action="append", metavar="REGION", help="region to query; repeatable (default: us-east-1)"
    )
    refresh.add_argument("--out", type=Path, metavar="DIR", help="folder to write to (default: the catalog's own)")
    refresh.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write a file per region, and report the prices that the list does not have."""
    from slipway.prices.refresh import refresh  # noqa: PLC0415
    from spec.catalog import document, prices, regions  # noqa: PLC0415 - `slipway --help` needs none of it

    wanted = options.region or [prices.REGION]
    for region in wanted:
        if not regions.is_region(region):
            msg = f"--region {region}: the catalog has no region of this name. Use {regions.NAMES}"
            raise SlipwayError(msg, EXIT_REFUSED)
    folder = options.out or find(Path.cwd()).root / document.FOLDER
    if not folder.is_dir():
        msg = f"--out {folder}: there is no such folder. Create it first"
        raise SlipwayError(msg, EXIT_REFUSED)
    # The moment of the answers, whatever day stacks are evaluated at (SLIPWAY_TODAY).
    now = datetime.now(UTC)  # noqa: TID251
    for region in wanted:
        pricing, ec2 = clients(region)
        refreshed = _query(partial(refresh, pricing, ec2, region, now))
        print(_summary(refreshed, refreshed.write(folder)))
    return 0


def clients(region: str) -> tuple[Any, Any]:
    """boto3 clients: for the price list, and for EC2 in the region."""
    import boto3  # noqa: PLC0415 - takes 0.3 s

    return boto3.client("pricing", region_name=API), boto3.client("ec2", region_name=region)


def _query(call: Callable[[], Refreshed]) -> Refreshed:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        return call()
    except (BotoCoreError, ClientError) as error:
        msg = f"AWS returned no prices ({error}): {_NEEDS}"
        raise SlipwayError(msg) from error


def _summary(refreshed: Refreshed, path: Path) -> str:
    instances = len(refreshed.document["instances"])
    lines = [f"{path}: {len(refreshed.taken)} prices of {refreshed.region} and {instances} instance types"]
    lines += [f"  unchanged: {name} ({why})" for name, why in sorted(refreshed.kept.items())]
    lines += [f"  without a price: {name} ({why})" for name, why in sorted(refreshed.missing.items())]
    return "\n".join(lines)
