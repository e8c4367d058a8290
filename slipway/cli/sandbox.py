"""`slipway sandbox start|status|stop|env|capacity|reclaim|expire`: manage the sandbox."""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.cli.output import Progress
from slipway.engine.project import find
from spec.errors import SlipwayError

if TYPE_CHECKING:
    from slipway.cli.commands import Commands

MOST_SECONDS = 3600.0
NOT_RUNNING = "the sandbox is not running: start it with `slipway sandbox start` or `slipway up STACK --sandbox`"


def add(commands: Commands) -> None:
    """Add the group to the parser."""
    group = commands.add_parser("sandbox", help="start, inspect, enter or stop the sandbox")
    actions = group.add_subparsers(dest="action", required=True, metavar="ACTION")
    start = actions.add_parser("start", help="start the sandbox, unless it is running")
    start.add_argument("--aws-port", type=_port, metavar="PORT", help="port of moto (default: a free one)")
    start.add_argument(
        "--account", type=_account, metavar="ID", help="act as this account only (default: the account of each stack)"
    )
    start.add_argument(
        "--kubernetes-provider", metavar="official|PATH",
        help="run Pulumi's Kubernetes provider instead of the sandbox's own (default: $SLIPWAY_KUBERNETES_PROVIDER)",
    )  # fmt: skip
    start.set_defaults(run=_start)
    status = actions.add_parser(
        "status", help="show processes, addresses and memory; exit code 1 unless all is running"
    )
    status.add_argument("--json", action="store_true", help="print JSON")
    status.add_argument(
        "--limits",
        nargs="?",
        const="",
        metavar="TYPE",
        help="show instead what is checked of each input of each AWS type; of the types whose token contains TYPE only",
    )
    status.set_defaults(run=_status)
    stop = actions.add_parser("stop", help="stop the sandbox; everything in it is deleted")
    stop.set_defaults(run=_stop)
    network = actions.add_parser(
        "network", help="make the existing VPC that a stack names (`network.existing`) in the sandbox"
    )
    network.add_argument("stack", metavar="STACK", help="stack whose settings describe the VPC")
    network.set_defaults(run=_network)
    env = actions.add_parser("env", help='print variables for a shell: eval "$(slipway sandbox env)"')
    env.add_argument(
        "stack",
        metavar="STACK",
        nargs="?",
        help="use this stack's account and region (default: the first stack by name)",
    )
    env.add_argument("--json", action="store_true", help="print a JSON object")
    env.set_defaults(run=_env)
    _add_elastic(actions)


def _add_elastic(actions: Commands) -> None:
    capacity = actions.add_parser("capacity", help="show or change what EC2 has no capacity for, and its launch time")
    change = capacity.add_mutually_exclusive_group()
    change.add_argument("--refuse", metavar="TYPE", help="launch no more instances of this type; `all` for every type")
    change.add_argument("--restore", metavar="TYPE", help="launch them again; `all` for every type")
    capacity.add_argument("--zone", default="", help="in this Availability Zone only")
    capacity.add_argument("--market", default="", choices=("on-demand", "spot"), help="of this capacity type only")
    capacity.add_argument(
        "--launch-seconds", type=_seconds, metavar="SECONDS", help="time from a launch until the node registers"
    )
    capacity.add_argument("--json", action="store_true", help="print JSON")
    capacity.set_defaults(run=lambda options: _elastic("capacity", options))
    reclaim = actions.add_parser("reclaim", help="interrupt a Spot node, with EC2's notice of two minutes")
    reclaim.add_argument("node", metavar="NODE")
    reclaim.add_argument("--notice", type=_seconds, default=120.0, metavar="SECONDS", help="default: 120")
    reclaim.set_defaults(run=lambda options: _elastic("reclaim", options))
    expire = actions.add_parser("expire", help="let a node of Karpenter reach the age at which it is replaced")
    expire.add_argument("node", metavar="NODE")
    expire.set_defaults(run=lambda options: _elastic("expire", options))


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MOST_SECONDS:
        msg = f"a number of seconds from 0 to {MOST_SECONDS:g} (given: {text!r})"
        raise argparse.ArgumentTypeError(msg)
    return seconds


def _elastic(action: str, options: argparse.Namespace) -> int:
    from slipway.cli import elastic, offline  # noqa: PLC0415

    sandbox = offline.find_running()
    if sandbox is None:
        raise SlipwayError(NOT_RUNNING)
    return int(getattr(elastic, action)(sandbox, options))


def _account(text: str) -> str:
    if not re.fullmatch(r"[0-9]{12}", text):
        msg = f"an AWS account ID has 12 digits (given: {text!r})"
        raise argparse.ArgumentTypeError(msg)
    return text


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        msg = f"a port is a number from 1 to 65535 (given: {text!r})"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _start(options: argparse.Namespace) -> int:
    from slipway.cli import offline  # noqa: PLC0415 - `slipway --help` needs none of it

    already = offline.find_running() is not None
    sandbox = offline.start(
        Progress(),
        aws_port=options.aws_port,
        account=options.account,
        kubernetes_provider=options.kubernetes_provider,
    )
    print(f"the sandbox is {'already ' if already else ''}running, in {sandbox.home}")
    print('enter it with: eval "$(slipway sandbox env)"')
    return 0


def _status(options: argparse.Namespace) -> int:
    from slipway.cli import limits, offline  # noqa: PLC0415

    if options.limits is not None:
        return limits.show(options.limits, as_json=options.json)
    status = offline.status()
    print(json.dumps(status.as_data(), indent=2) if options.json else status.text())
    return 0 if status.healthy else 1


def _stop(_options: argparse.Namespace) -> int:
    from slipway.cli import offline  # noqa: PLC0415

    print("the sandbox is stopped" if offline.stop(Progress()) else "the sandbox was not running")
    return 0


def _network(options: argparse.Namespace) -> int:
    from slipway.account.context import session  # noqa: PLC0415
    from slipway.cli import offline, shell  # noqa: PLC0415
    from slipway.cli.settings import checked  # noqa: PLC0415
    from slipway.sandbox.aws.existing_network import make  # noqa: PLC0415

    sandbox = offline.find_running()
    if sandbox is None:
        raise SlipwayError(NOT_RUNNING)
    project = find(Path.cwd())
    platform = checked(project, options.stack, strict=False).platform
    if platform.network.existing is None:
        msg = f"stack {options.stack} makes its VPC: only `network.existing` names one that must be there before"
        raise SlipwayError(msg)
    keys = shell.account(sandbox, project, options.stack)
    client = session(platform.account.region, keys, sandbox.variables["AWS_ENDPOINT_URL"])
    made = make(client("ec2"), platform.network, platform.account.region)
    print(f"{made.vpc} {'is in the sandbox' if made.new else 'is in the sandbox already'}: {', '.join(made.subnets)}")
    return 0


def _env(options: argparse.Namespace) -> int:
    from slipway.cli import offline, shell  # noqa: PLC0415

    sandbox = offline.find_running()
    if sandbox is None:
        raise SlipwayError(NOT_RUNNING)
    project = find(Path.cwd())
    session = shell.account(sandbox, project, options.stack)
    variables = shell.enter(sandbox.engine(os.environ), sandbox, project, os.environ, session)
    print(json.dumps(dict(variables.set), indent=2) if options.json else variables.script(), end="")
    if options.json:
        print()
    return 0
