"""`slipway prices refresh`: the catalog's prices from AWS's own price list, for those who have credentials."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from slipway.engine.project import find
from spec.errors import SlipwayError

if TYPE_CHECKING:
    from slipway.cli.commands import Commands
    from slipway.prices.refresh import Refreshed

API: Final = "us-east-1"
"""One of the regions that have the pricing API; it tells the prices of all (AWS Billing User Guide, "Price List")."""
_NEEDS: Final = (
    "the price list is asked with AWS credentials that may pricing:GetProducts and ec2:DescribeSpotPriceHistory; "
    "log in first (`aws sso login`, AWS_PROFILE, ...). Without them, the catalog's own dated prices are used"
)


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("prices", help="renew the catalog's prices from AWS's price list")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    refresh = actions.add_parser("refresh", help="ask AWS's price list and Spot history; needs credentials")
    refresh.add_argument(
        "--region", action="append", metavar="REGION", help="a region; may be repeated; us-east-1 where not given"
    )
    refresh.add_argument("--out", type=Path, metavar="DIR", help="folder to write to; the catalog's own otherwise")
    refresh.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write a file for each region, and say what the list did not tell."""
    from slipway.prices.refresh import refresh  # noqa: PLC0415
    from spec.catalog import document, prices, regions  # noqa: PLC0415 - `slipway --help` needs none of it

    wanted = options.region or [prices.REGION]
    for region in wanted:
        if not regions.is_region(region):
            msg = f"AWS has no region {region!r} that the catalog knows: write it like us-east-1"
            raise SlipwayError(msg)
    folder = options.out or find(Path.cwd()).root / document.FOLDER
    if not folder.is_dir():
        msg = f"--out {folder}: no such folder"
        raise SlipwayError(msg)
    # The moment of the answers, whatever day stacks are evaluated at (SLIPWAY_TODAY).
    now = datetime.now(UTC)  # noqa: TID251
    for region in wanted:
        pricing, ec2 = clients(region)
        found = _asked(partial(refresh, pricing, ec2, region, now))
        print(_said(found, found.write(folder)))
    return 0


def clients(region: str) -> tuple[Any, Any]:
    """The clients of boto3: of the price list, and of the region's EC2."""
    import boto3  # noqa: PLC0415 - takes 0.3 s

    return boto3.client("pricing", region_name=API), boto3.client("ec2", region_name=region)


def _asked(call: Callable[[], Refreshed]) -> Refreshed:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        return call()
    except (BotoCoreError, ClientError) as error:
        msg = f"AWS gave no prices ({error}): {_NEEDS}"
        raise SlipwayError(msg) from error


def _said(found: Refreshed, path: Path) -> str:
    lines = [f"{path}: {len(found.taken)} prices of {found.region} and {len(found.document['instances'])} machines"]
    lines += [f"  kept as it was: {name} ({why})" for name, why in sorted(found.kept.items())]
    lines += [f"  without a price: {name} ({why})" for name, why in sorted(found.missing.items())]
    return "\n".join(lines)
