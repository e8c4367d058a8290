"""`slipway init NAME`: write a stack file, from options or a few questions, that passes the policies."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any, Final

from policies.rule import environment
from sandbox.files import write_atomically
from slipway.cli.output import can_ask
from slipway.engine.project import find
from slipway.engine.stacks import stack_file
from spec import clock
from spec.catalog import amis, kubernetes, regions
from spec.errors import refuse
from spec.pools import PoolSpec
from spec.pools.resolution import resolve_all
from spec.pricing import Amounts, estimate
from spec.pricing.estimate import PREMIUM
from spec.settings import load
from spec.settings.checks.network import RFC1918
from spec.settings.presets import PRESETS
from spec.settings.problems import ConfigurationError

SUGGESTED: Final = {
    "region": "us-east-1",
    "cidr": "10.64.0.0/16",
    "budget": "5000",
    "pool": "gpu-spot",
    "team": "research",
}
"""What is written where nobody says otherwise; the help of these options names it."""
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


def run(options: argparse.Namespace) -> int:
    """Write the file, unless there is one or its settings are invalid."""
    project = find(Path.cwd())
    target = stack_file(project.stacks, options.name)
    if target.exists():
        refuse(f"{target} exists: `slipway init` writes new stacks only. Edit the file, or choose another name.")
    check_name(options.name)
    level = LEVELS[environment(options.name)]
    answers = Answers(name=options.name, **_answers(options, level))
    if level.private and not is_private(answers.source):
        refuse(
            f"slipway init {options.name}: --from {answers.source} is not a private network, and the policies of prod, "
            "which every stack but dev and staging has, allow no public endpoint of the API server. "
            "Give the network that is peered with the VPC, such as 10.0.0.0/12"
        )
    write_atomically(target, text(options.name, content(answers, level, clock.today())), 0o644)
    name = options.name
    print(f"wrote {target}\nnext: slipway check {name}, slipway policies {name}, slipway up {name} --sandbox")
    return 0


def _answers(options: argparse.Namespace, level: Level) -> dict[str, Any]:
    """The options, with questions for those that are missing where there is a terminal.

    Raises:
        SlipwayError: Options are missing and nobody can be asked; exit code 2.
    """
    given = {
        **dict.fromkeys(("approval", "ami_release")),
        **{name: getattr(options, name) for name in (*_QUESTIONS, "cidr")},
    }
    missing, asks = [], can_ask()
    parameter = amis.release_parameter("al2023", kubernetes.DEFAULT, gpu=False)
    for name, question in _QUESTIONS.items():
        premium = needing_approval(given["pool"] or (), level)
        if (
            given[name] is not None
            or (name == "approval" and not premium)
            or (name == "ami_release" and not level.pinned)
        ):
            continue
        default = SUGGESTED.get(name, "")
        if asks:
            text = question.format(pools=" and ".join(premium), parameter=parameter)
            given[name] = input(f"{text}{f' [{default}]' if default else ''}: ").strip()
        given[name] = given[name] or default
        if not given[name]:
            missing.append(name)
        if name in ("pool", "team"):
            given[name] = given[name].split()
    if missing:
        flags = ", ".join(f"--{'from' if name == 'source' else name.replace('_', '-')}" for name in missing)
        release = f"; `aws ssm get-parameter --name {parameter}` has the release" if "ami_release" in missing else ""
        refuse(f"slipway init {options.name}: {flags} required{release}; on a terminal, the command asks")
    texts = {name: value or "" for name, value in given.items() if name not in ("pool", "team")}
    return {
        **texts,
        "cidr": texts["cidr"] or SUGGESTED["cidr"],
        "pool": tuple(given["pool"]),
        "team": tuple(given["team"]),
    }


SYSTEM: Final = ("system", "cpu")
APPROVED_DAYS: Final = 90
"""Days for which an approval of premium GPUs is valid: a quarter, in which most budgets are reviewed."""
_STEP: Final = 5
"""USD per hour to whose next multiple a limit is rounded: a price that rises by a few cents is no finding."""


@dataclass(frozen=True, kw_only=True)
class Level:
    """What the policies of an environment require beyond the defaults (`policies/levels`)."""

    zones: int  # Availability Zones
    settings: Mapping[str, Mapping[str, Any]]  # settings by section, which are merged with those of every stack
    pinned: bool = False  # whether nodes need a release of their AMI
    private: bool = False  # whether the API server may have no public endpoint
    approvals: bool = True  # whether premium GPUs on demand need an approval
    pool: Mapping[str, Mapping[str, Any]]  # settings of a GPU pool by preset, besides the preset's


_PRIVATE: Final = (*RFC1918, IPv4Network("100.64.0.0/10"))
"""With the shared addresses of RFC 6598: `is_private` of Python's also holds for networks that documentation uses."""
_ENDPOINTS: Final = ["ecr.api", "ecr.dkr", "sts"]
LEVELS: Final[Mapping[str, Level]] = {
    "dev": Level(zones=2, settings={}, pool={"gpu-spot": {"max": 4}, "h100": {"instanceTypes": ["p5.4xlarge"]}}),
    "staging": Level(zones=2, settings={"network": {"endpoints": _ENDPOINTS}}, pool={}),
    "prod": Level(
        zones=3,
        settings={
            "environment": {"protect": True},
            "network": {"nat": "per-zone", "endpoints": _ENDPOINTS, "flowLogs": {"retentionDays": 365}},
            "cluster": {"deletionProtection": True, "logRetentionDays": 365},
        },
        pinned=True,
        private=True,
        approvals=False,
        pool={},
    ),
}


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The options of a new stack; `pool` and `team` are names, `budget` is in USD a month."""

    name: str
    account: str
    region: str
    owner: str
    cost_center: str
    admin: str
    source: str
    cidr: str
    email: str
    budget: str
    approval: str
    ami_release: str
    pool: tuple[str, ...]
    team: tuple[str, ...]


def content(answers: Answers, level: Level, today: date) -> dict[str, Any]:
    """Everything in the file. The quotas of teams and the limits of cost follow from its pools."""
    data = _base(answers, level)
    specs = resolve_all(load(data, stack=answers.name, today=today).platform)
    data["teams"] = _teams(answers, specs)
    amounts = estimate(load(data, stack=answers.name, today=today).platform).amounts
    data["cost"] = _cost(answers, level, amounts, today)
    load(data, stack=answers.name, today=today)
    return data


def check_name(name: str) -> None:
    """Raises ConfigurationError if no environment may have this name, so that nobody answers questions in vain."""
    try:
        load({"environment": {"name": name}}, stack=name)
    except ConfigurationError as error:
        if problems := [one for one in error.problems if one.path == "environment.name"]:
            raise ConfigurationError(problems, error.source) from None


def text(name: str, data: Mapping[str, Any]) -> str:
    """The file: one line for each setting of a section, in YAML's flow style."""
    lines = [
        "# yaml-language-server: $schema=schema.json",
        f"# Written by `slipway init {name}`. docs/settings.md has every setting.",
        "config:",
        "  slipway:platform:",
    ]
    for section, settings in data.items():
        lines.append(f"    {section}:")
        lines += [f"      {key}: {_flow(value)}" for key, value in settings.items()]
    return "\n".join(lines) + "\n"


def _base(answers: Answers, level: Level) -> dict[str, Any]:
    """The settings without teams and cost."""
    zones = regions.zones(answers.region) if regions.is_region(answers.region) else ()
    letters = "abc"[: level.zones]
    gpus: dict[str, Any] = {"gpuOperator": {}} if answers.pool else {}
    reach = _reach(answers.source)
    sections: dict[str, dict[str, Any]] = {
        "environment": {"name": answers.name, "owner": answers.owner, "costCenter": answers.cost_center},
        "account": {"id": answers.account, "region": answers.region},
        "network": {
            "cidr": answers.cidr,
            "zones": list(zones[: level.zones]) or [f"{answers.region}{letter}" for letter in letters],
        },
        "cluster": {
            "access": {"admins": {"principalArn": answers.admin, "policy": "AmazonEKSClusterAdminPolicy"}},
            **({"amiRelease": answers.ami_release} if level.pinned else {}),
        },
        "pools": {name: {"preset": name, **level.pool.get(name, {})} for name in (*SYSTEM, *answers.pool)},
        "storage": {"buckets": {}, "efs": {}},
        "notifications": {"emails": [answers.email]},
        "addons": {**gpus, "certManager": {}, "kueue": {}, "jobset": {}, "kubePrometheusStack": {}},
    }
    return {
        name: {**settings, **level.settings.get(name, {}), **reach.get(name, {})} for name, settings in sections.items()
    }


def is_private(source: str) -> bool:
    """Whether a network has no public addresses; a text that is no network counts as public, and is refused later."""
    try:
        network = IPv4Network(source, strict=False)
    except ValueError:
        return False
    return any(network.subnet_of(one) for one in _PRIVATE)


def _reach(source: str) -> dict[str, dict[str, Any]]:
    """A private network reaches the cluster's private endpoint as a peer, a public one its public endpoint."""
    if is_private(source):
        return {"network": {"peers": {"administrators": source}}}
    return {"cluster": {"endpoint": {"publicAccess": True, "publicAccessCidrs": [source]}}}


def _teams(answers: Answers, specs: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """Each team with an equal part of the budget and of every pool; what doesn't divide stays unassigned."""
    number = len(answers.team)
    gpus, cpus = {}, {}
    for name, spec in specs.items():
        size = spec.settings.max * (spec.gpu_count or min(kind.vcpus for kind in spec.instance_types))
        if name in answers.pool and size // number:
            gpus[name] = {"nominalQuota": size // number}
        elif name == "cpu":
            cpus[name] = {"nominalQuota": size // number}
    shares = {**({"gpus": gpus} if gpus else {}), "cpus": cpus}
    budget = {"budgetUsd": max(1, int(answers.budget) // number)} if answers.budget.isdecimal() else {}
    return {name: {"project": name, "costCenter": answers.cost_center, **budget, **shares} for name in answers.team}


def needing_approval(pools: Iterable[str], level: Level) -> list[str]:
    """Presets of on-demand p4, p5 and p6 instances, which outside production need an approval."""
    return [
        name
        for name in pools
        if level.approvals
        and "capacity" not in PRESETS[name]
        and any(kind.startswith(PREMIUM) for kind in PRESETS[name]["instanceTypes"])
    ]


def _cost(answers: Answers, level: Level, amounts: Amounts, today: date) -> dict[str, Any]:
    until = (today + timedelta(days=APPROVED_DAYS)).isoformat()
    approval = {"reference": answers.approval, "until": until}
    approvals = dict.fromkeys(needing_approval(answers.pool, level), approval)
    limits = {"ceilingUsdPerHour": _limit(amounts.ceiling), "floorUsdPerHour": _limit(amounts.floor)}
    budget = int(answers.budget) if answers.budget.isdecimal() else answers.budget
    idle: dict[str, Any] = {"idleGpus": {}} if answers.pool else {}
    return {"monthlyBudgetUsd": budget, **idle, "limits": {**limits, **({"premium": approvals} if approvals else {})}}


def _limit(amount: Decimal) -> int:
    return math.ceil(amount / _STEP) * _STEP


def _flow(value: object) -> str:
    """A value in YAML's flow style: text is quoted, because an account ID must not become a number."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    plain = isinstance(value, str) and value.replace("-", "").isalnum() and not value[:1].isdigit()
    return str(value) if plain else json.dumps(value)
