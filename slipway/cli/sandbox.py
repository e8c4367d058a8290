"""`slipway sandbox start|status|stop|network`: manage the sandbox."""

import argparse
import itertools
import json
from dataclasses import asdict
from pathlib import Path

from sandbox.aws.checked import Limit, limits, summary
from sandbox.aws.existing_network import make
from slipway.account.context import session
from slipway.cli import offline, shell
from slipway.cli.check import checked
from slipway.cli.output import Progress, table
from slipway.engine.project import find
from spec.errors import fail


def start(options: argparse.Namespace) -> int:
    """Start the sandbox, unless it is running."""
    already = offline.find_running() is not None
    sandbox = offline.start(
        Progress(), aws_port=options.aws_port, account=options.account, kubernetes_provider=options.kubernetes_provider
    )
    print(f"the sandbox is {'already ' if already else ''}running, in {sandbox.home}")
    print('enter it with: eval "$(slipway sandbox env)"')
    return 0


def status(options: argparse.Namespace) -> int:
    """Print the status, or what is checked of the inputs of AWS types; 1 unless all is running."""
    if options.limits is not None:
        return show_limits(options.limits, as_json=options.json)
    found = offline.status()
    print(json.dumps(found.as_data(), indent=2) if options.json else found.text())
    return 0 if found.healthy else 1


def stop(_options: argparse.Namespace) -> int:
    """Stop the sandbox."""
    print("the sandbox is stopped" if offline.stop(Progress()) else "the sandbox was not running")
    return 0


def network(options: argparse.Namespace) -> int:
    """Make the VPC that the settings of a stack name."""
    sandbox = offline.require_running()
    project = find(Path.cwd())
    platform = checked(project, options.stack, strict=False).platform
    if platform.network.existing is None:
        fail(f"stack {options.stack} makes its VPC: only `network.existing` names one that must be there before")
    keys = shell.account(sandbox, project, options.stack)
    client = session(platform.account.region, keys, sandbox.variables["AWS_ENDPOINT_URL"])
    made = make(client("ec2"), platform.network, platform.account.region)
    print(f"{made.vpc} {'is in the sandbox' if made.new else 'is in the sandbox already'}: {', '.join(made.subnets)}")
    return 0


def show_limits(containing: str, *, as_json: bool) -> int:
    """Print the limits of the types whose token contains a text. Raises SlipwayError if there are none."""
    found = list(limits(containing))
    if not found:
        fail(f"no AWS type with a table of limits contains {containing!r}: `slipway sandbox status --limits` lists all")
    print(json.dumps([asdict(one) for one in found], indent=2) if as_json else _text(found))
    return 0


def _text(found: list[Limit]) -> str:
    parts = []
    for type_token, group in itertools.groupby(found, key=lambda one: one.type):
        rows = [(one.input, one.parameter or "not mapped", _last(one)) for one in group]
        parts.append(f"{type_token}\n{table(rows, indent='  ')}\n")
    return "\n".join([*parts, summary(found)])


def _last(one: Limit) -> str:
    return f"{one.limits} [{one.source}]" if one.source else one.limits
