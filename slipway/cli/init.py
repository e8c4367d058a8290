"""`slipway init NAME`: write a stack file from options, or from a few questions on a terminal."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from slipway.cli.output import can_ask
from slipway.engine.project import find
from slipway.engine.stackfiles import stack_file
from spec import clock
from spec.errors import EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from slipway.cli.commands import Commands
    from slipway.cli.new_stack import Level

EPILOG: Final = """\
  slipway init dev --pool gpu-spot
  slipway init perf --account 111122223333 --owner ml-platform --cost-center ml --email ml-platform@example.com \\
    --admin arn:aws:iam::111122223333:role/admin --from 10.0.0.0/12 --ami-release 1.35.0-20261101 \\
    --pool gpu-spot --team vision

The file has what differs from the defaults, and passes the policies of its environment: those of dev, staging, or prod
for every other name. docs/settings.md has every setting.
"""
GPU_PRESETS: Final = ("a100", "h100", "gpu-spot")
"""Presets of `spec.settings.presets` for pools with GPUs; a copy, because every command of Slipway reads it."""
_SUGGESTED: Final = {
    "region": "us-east-1",
    "cidr": "10.64.0.0/16",
    "budget": "5000",
    "pool": "gpu-spot",
    "team": "research",
}
_QUESTIONS: Final = {
    "account": "AWS account ID (12 digits)",
    "region": "AWS region",
    "owner": "owner (a team or mailing list, for tags)",
    "cost_center": "cost center (for tags)",
    "email": "email address for notifications of budgets",
    "budget": "monthly budget, USD",
    "admin": "ARN of the IAM role that administers the cluster",
    "source": "network from which the API server is reached, as a CIDR (your office, VPN or CI)",
    "pool": "GPU pools, separated by spaces",
    "team": "teams, separated by spaces",
    "approval": "where the on-demand use of {pools} is approved (a ticket, meeting minutes)",
    "ami_release": "AMI release of the nodes, which {parameter} in SSM has",
}


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "init",
        help="write a new stack file, from options or a few questions",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", help="name of the stack, and of the environment")
    parser.add_argument("--account", metavar="ID", help="AWS account ID")
    parser.add_argument("--region", metavar="REGION", help=f"default: {_SUGGESTED['region']}")
    parser.add_argument("--owner", metavar="TEXT", help="owner, for tags")
    parser.add_argument("--cost-center", metavar="TEXT", help="cost center, for tags")
    parser.add_argument("--email", metavar="ADDRESS", help="address for notifications of budgets")
    parser.add_argument("--budget", metavar="USD", help=f"monthly budget (default: {_SUGGESTED['budget']})")
    parser.add_argument("--admin", metavar="ARN", help="IAM role that administers the cluster")
    parser.add_argument(
        "--from", dest="source", metavar="CIDR",
        help="network that may reach the API server: its private endpoint from a private network, else a public one",
    )  # fmt: skip
    parser.add_argument("--cidr", metavar="CIDR", help=f"range of the VPC (default: {_SUGGESTED['cidr']})")
    parser.add_argument("--pool", action="append", choices=GPU_PRESETS, help="GPU pool by preset; repeat for several")
    parser.add_argument("--team", action="append", metavar="NAME", help="team; repeat for several")
    parser.add_argument(
        "--approval", metavar="TEXT", help="dev and staging: where p4 and p5 instances on demand are approved"
    )
    parser.add_argument(
        "--ami-release", metavar="RELEASE", help="with the policies of prod: EKS AMI release, such as 1.35.0-20261101"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the file, unless there is one or its settings are invalid."""
    from policies.levels import environment  # noqa: PLC0415 - `slipway --help` needs none of it
    from slipway.cli import new_stack  # noqa: PLC0415 - as above

    project = find(Path.cwd())
    target = stack_file(project.stacks, options.name)
    if target.exists():
        msg = f"{target} exists: `slipway init` writes new stacks only. Edit the file, or choose another name."
        raise SlipwayError(msg, EXIT_REFUSED)
    new_stack.check_name(options.name)
    level = new_stack.LEVELS[environment(options.name)]
    answers = new_stack.Answers(name=options.name, **_answers(options, level))
    if level.private and not new_stack.is_private(answers.source):
        msg = (
            f"slipway init {options.name}: --from {answers.source} is not a private network, and the policies of prod, "
            "which every stack but dev and staging has, allow no public endpoint of the API server. "
            "Give the network that is peered with the VPC, such as 10.0.0.0/12"
        )
        raise SlipwayError(msg, EXIT_REFUSED)
    target.write_text(new_stack.text(options.name, new_stack.content(answers, level, clock.today())), encoding="utf-8")
    name = options.name
    print(f"wrote {target}\nnext: slipway check {name}, slipway policies {name}, slipway up {name} --sandbox")
    return 0


def _answers(options: argparse.Namespace, level: Level) -> dict[str, Any]:
    """The options, with questions for those that are missing where there is a terminal.

    Raises:
        SlipwayError: Options are missing and nobody can be asked; exit code 2.
    """
    from slipway.cli.new_stack import needing_approval  # noqa: PLC0415 - as above
    from spec.catalog import amis, kubernetes  # noqa: PLC0415 - as above

    given = {
        **dict.fromkeys(("approval", "ami_release")),
        **{name: getattr(options, name) for name in (*_QUESTIONS, "cidr")},
    }
    missing, asks = [], can_ask()
    for name, question in _QUESTIONS.items():
        premium = needing_approval(given["pool"] or (), level)
        if (
            given[name] is not None
            or (name == "approval" and not premium)
            or (name == "ami_release" and not level.pinned)
        ):
            continue
        default = _SUGGESTED.get(name, "")
        if asks:
            parameter = amis.release_parameter("al2023", kubernetes.DEFAULT, gpu=False)
            text = question.format(pools=" and ".join(premium), parameter=parameter)
            given[name] = input(f"{text}{f' [{default}]' if default else ''}: ").strip()
        given[name] = given[name] or default
        if not given[name]:
            missing.append(name)
        if name in ("pool", "team"):
            given[name] = given[name].split()
    if missing:
        flags = ", ".join(f"--{'from' if name == 'source' else name.replace('_', '-')}" for name in missing)
        msg = f"slipway init {options.name}: {flags} required; on a terminal, the command asks"
        raise SlipwayError(msg, EXIT_REFUSED)
    texts = {name: value or "" for name, value in given.items() if name not in ("pool", "team")}
    return {
        **texts,
        "cidr": texts["cidr"] or _SUGGESTED["cidr"],
        "pool": tuple(given["pool"]),
        "team": tuple(given["team"]),
    }
