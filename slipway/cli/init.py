"""`slipway init NAME`: write a stack file from options, or from a few questions on a terminal."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from slipway.cli.output import can_ask
from slipway.engine.project import find
from slipway.engine.stackfiles import stack_file
from spec.errors import EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from slipway.cli.commands import Commands
    from spec.settings import Platform

EPILOG: Final = """\
  slipway init perf
  slipway init perf --account 111122223333 --owner ml-platform --cost-center ml \\
    --admin arn:aws:iam::111122223333:role/admin --from 203.0.113.0/24 --pool gpu-spot --team vision

The file has only what differs from the defaults; docs/settings.md has every setting.
"""
SYSTEM: Final = ("system", "cpu")
_SUGGESTED: Final = {"region": "us-east-1", "cidr": "10.64.0.0/16", "pool": "gpu-spot", "team": "research"}
_QUESTIONS: Final = {
    "account": "AWS account ID (12 digits)",
    "region": "AWS region",
    "owner": "owner (a team or mailing list, for tags)",
    "cost_center": "cost center (for tags)",
    "admin": "ARN of the IAM role that administers the cluster",
    "source": "network from which the API server is reached, as a CIDR (your office, VPN or CI)",
    "pool": "GPU pools, separated by spaces",
    "team": "teams, separated by spaces",
}


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The options of a new stack; `pool` and `team` are names."""

    name: str
    account: str
    region: str
    owner: str
    cost_center: str
    admin: str
    source: str
    cidr: str
    pool: tuple[str, ...]
    team: tuple[str, ...]


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    from spec.settings.presets import PRESETS  # noqa: PLC0415 - the choices of an option

    parser = commands.add_parser(
        "init",
        help="write a new stack file, from options or a few questions",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    presets = [name for name in PRESETS if name not in SYSTEM]
    parser.add_argument("name", metavar="NAME", help="name of the stack, and of the environment")
    parser.add_argument("--account", metavar="ID", help="AWS account ID")
    parser.add_argument("--region", metavar="REGION", help=f"default: {_SUGGESTED['region']}")
    parser.add_argument("--owner", metavar="TEXT", help="owner, for tags")
    parser.add_argument("--cost-center", metavar="TEXT", help="cost center, for tags")
    parser.add_argument("--admin", metavar="ARN", help="IAM role that administers the cluster")
    parser.add_argument("--from", dest="source", metavar="CIDR", help="network that may reach the API server")
    parser.add_argument("--cidr", metavar="CIDR", help=f"range of the VPC (default: {_SUGGESTED['cidr']})")
    parser.add_argument("--pool", action="append", choices=presets, help="GPU pool by preset; repeat for several")
    parser.add_argument("--team", action="append", metavar="NAME", help="team; repeat for several")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the file, unless there is one or its settings are invalid."""
    from spec.settings import load  # noqa: PLC0415 - `slipway --help` needs none of it

    project = find(Path.cwd())
    target = stack_file(project.stacks, options.name)
    if target.exists():
        msg = f"{target} exists: `slipway init` writes new stacks only. Edit the file, or choose another name."
        raise SlipwayError(msg, EXIT_REFUSED)
    answers = _answers(options)
    data = settings(answers)
    data = {**data, "teams": teams(answers, load(data, stack=answers.name).platform)}
    load(data, stack=answers.name)
    target.write_text(text(answers, data), encoding="utf-8")
    name = answers.name
    print(f"wrote {target}\nnext: slipway check {name}, slipway cost {name}, slipway up {name} --sandbox")
    return 0


def settings(answers: Answers) -> dict[str, Any]:
    """The settings of the file, without teams, whose quotas depend on the pools."""
    from spec.catalog import regions  # noqa: PLC0415 - as above

    zones = regions.zones(answers.region) if regions.is_region(answers.region) else ()
    gpus: dict[str, Any] = {"gpuOperator": {}} if answers.pool else {}
    return {
        "environment": {"name": answers.name, "owner": answers.owner, "costCenter": answers.cost_center},
        "account": {"id": answers.account, "region": answers.region},
        "network": {"cidr": answers.cidr, "zones": list(zones[:2]) or [f"{answers.region}a", f"{answers.region}b"]},
        "cluster": {
            "endpoint": {"publicAccess": True, "publicAccessCidrs": [answers.source]},
            "access": {"admins": {"principalArn": answers.admin, "policy": "AmazonEKSClusterAdminPolicy"}},
        },
        "pools": {name: {"preset": name} for name in (*SYSTEM, *answers.pool)},
        "storage": {"buckets": {}, "efs": {}},
        "addons": {**gpus, "certManager": {}, "kueue": {}, "jobset": {}, "kubePrometheusStack": {}},
    }


def teams(answers: Answers, platform: Platform) -> dict[str, Any]:
    """Each team with an equal part of every pool; what doesn't divide stays unassigned."""
    from spec.pools.resolution import resolve_all  # noqa: PLC0415 - as above

    number = len(answers.team)
    gpus, cpus = {}, {}
    for name, spec in resolve_all(platform).items():
        size = spec.settings.max * (spec.gpu_count or min(kind.vcpus for kind in spec.instance_types))
        if name in answers.pool and size // number:
            gpus[name] = {"nominalQuota": size // number}
        elif name == "cpu":
            cpus[name] = {"nominalQuota": size // number}
    shares = {**({"gpus": gpus} if gpus else {}), "cpus": cpus}
    return {name: {"project": name, "costCenter": answers.cost_center, **shares} for name in answers.team}


def text(answers: Answers, data: dict[str, Any]) -> str:
    """The file: one line for each setting of a section, in YAML's flow style."""
    lines = [
        "# yaml-language-server: $schema=schema.json",
        f"# Written by `slipway init {answers.name}`. docs/settings.md has every setting.",
        "config:",
        "  slipway:platform:",
    ]
    for section, content in data.items():
        lines.append(f"    {section}:")
        lines += [f"      {key}: {_flow(value)}" for key, value in content.items()]
    return "\n".join(lines) + "\n"


def _flow(value: object) -> str:
    """A value in YAML's flow style: text is quoted, because an account ID must not become a number."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    plain = isinstance(value, str) and value.replace("-", "").isalnum() and not value[:1].isdigit()
    return str(value) if plain else json.dumps(value)


def _answers(options: argparse.Namespace) -> Answers:
    """The options, with questions for those that are missing where there is a terminal.

    Raises:
        SlipwayError: Options are missing and nobody can be asked; exit code 2.
    """
    given = {field.name: getattr(options, field.name) for field in fields(Answers)}
    missing = [name for name in _QUESTIONS if given[name] is None]
    if can_ask():
        for name in missing:
            default = _SUGGESTED.get(name, "")
            answer = input(f"{_QUESTIONS[name]}{f' [{default}]' if default else ''}: ").strip() or default
            given[name] = answer.split() if name in ("pool", "team") else answer
    required = [name for name in missing if not given[name] and name not in _SUGGESTED]
    if required:
        flags = ", ".join(f"--{'from' if name == 'source' else name.replace('_', '-')}" for name in required)
        msg = f"slipway init {options.name}: {flags} required; on a terminal, the command asks"
        raise SlipwayError(msg, EXIT_REFUSED)
    given["region"] = given["region"] or _SUGGESTED["region"]
    given["cidr"] = given["cidr"] or _SUGGESTED["cidr"]
    given["pool"] = tuple(given["pool"] or [_SUGGESTED["pool"]])
    given["team"] = tuple(given["team"] or [_SUGGESTED["team"]])
    return Answers(**given)
