"""`slipway quickstart NAME --stack STACK --team TEAM`: print YAML for `kubectl` with a team's queue, pools, claims."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.cli.output import table
from slipway.engine.project import find
from slipway.sandbox import IN_SANDBOX_SHELL
from spec.errors import EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from slipway.cli.commands import Commands
    from slipway.quickstarts.catalog import Quickstart
    from spec.settings import Platform

EPILOG = """\
  slipway quickstart                                            list the quickstarts
  slipway quickstart training-job --stack dev --team vision > training-job.yaml
  kubectl apply --server-side -f training-job.yaml

docs/quickstarts/ has a page for each.
"""


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "quickstart",
        help="print complete YAML for a first job, notebook or model server of a team",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("quickstart", metavar="NAME", nargs="?", help="which one; without it, they are listed")
    parser.add_argument("--stack", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
    parser.add_argument("--team", metavar="TEAM", help="your team")
    parser.add_argument("--namespace", metavar="NS", help="namespace of the team (default: one with a fitting purpose)")
    parser.add_argument("--pool", metavar="POOL", help="pool (default: the lowest-priced of the team that fits)")
    parser.add_argument("--name", metavar="NAME", help="name of the objects (default: that of the quickstart)")
    parser.add_argument(
        "--models", metavar="URI",
        help="address of the team's models, s3://BUCKET/TEAM/ (default: read from the cluster)",
    )  # fmt: skip
    parser.add_argument("--sandbox", action="store_true", help="read the address from the stack's sandbox cluster")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the list, or one quickstart."""
    from slipway.quickstarts import QUICKSTARTS  # noqa: PLC0415 - `slipway --help` needs none of it

    if options.quickstart is None:
        print(table([(name, one.summary) for name, one in QUICKSTARTS.items()], indent="  "))
        return 0
    if options.quickstart not in QUICKSTARTS:
        msg = f"NAME: it must be a quickstart (given: {options.quickstart!r}). There are: {', '.join(QUICKSTARTS)}."
        raise SlipwayError(msg, EXIT_REFUSED)
    for name in ("stack", "team"):
        if getattr(options, name) is None:
            msg = f"--{name}: the quickstart is for a {name} (given: nothing). Add --{name} {name.upper()}."
            raise SlipwayError(msg, EXIT_REFUSED)
    print(_text(options, QUICKSTARTS[options.quickstart]), end="")
    return 0


def _text(options: argparse.Namespace, quickstart: Quickstart) -> str:
    from components.workloads import Target  # noqa: PLC0415 - the SDK takes a second
    from slipway.cli.settings import checked  # noqa: PLC0415
    from slipway.quickstarts import Request, choose, namespace_of, text  # noqa: PLC0415

    platform = checked(find(Path.cwd()), options.stack).platform
    namespace = namespace_of(platform, options.team, quickstart.purposes, options.namespace)
    models = _models(options, platform, namespace) if quickstart.reads_models else ""
    request = Request(
        name=options.name or options.quickstart, target=Target.of(platform, namespace=namespace), models=models
    )
    chosen = choose(options.quickstart, request, options.pool)
    return text(chosen.manifests, comments(options.quickstart, options.stack, options.team, chosen.place))


def comments(quickstart: str, stack: str, team: str, place: str) -> list[str]:
    """What has been filled in, above the YAML."""
    return [
        f"slipway quickstart {quickstart} --stack {stack} --team {team}: on {place}.",
        f"kubectl apply --server-side -f {quickstart}.yaml",
    ]


def _models(options: argparse.Namespace, platform: Platform, namespace: str) -> str:
    """The address of the team's models, from the option or from the claim in the cluster."""
    if options.models is not None:
        return f"{str(options.models).removesuffix('/')}/"
    from slipway.cli.cluster import connect  # noqa: PLC0415 - process control or botocore
    from slipway.quickstarts import CLAIM  # noqa: PLC0415
    from slipway.sandbox.kubernetes.errors import ApiError, UnreachableError  # noqa: PLC0415
    from slipway.sandbox.kubernetes.objects import Ref  # noqa: PLC0415
    from spec.teams.labels import S3_URI  # noqa: PLC0415

    hint = (
        f"name it: --models with what `kubectl -n {namespace} get pvc {CLAIM} -o yaml` has as annotation {S3_URI}, or "
        f"below `pulumi stack output buckets`: --models s3://BUCKET/{options.team}/"
    )
    try:
        client = connect(platform, simulated=bool(options.sandbox or os.environ.get(IN_SANDBOX_SHELL)))
        claim = client.get(Ref("v1", "PersistentVolumeClaim", CLAIM, namespace))
    except (ApiError, UnreachableError, SlipwayError) as error:
        msg = f"the address of the team's models can't be read from the cluster: {error}. Else {hint}"
        raise SlipwayError(msg) from error
    address = ((claim or {}).get("metadata", {}).get("annotations") or {}).get(S3_URI)
    if address is None:
        msg = f"claim {namespace}/{CLAIM} of {platform.cluster_name} has no address: run `slipway up` once, or {hint}"
        raise SlipwayError(msg)
    return str(address)
