"""Mistakes of teams, their shares and queues."""

from __future__ import annotations

import math
from typing import Any, Final

from tests.spec.settings.bad.row import Bad

KUEUE: Final[dict[str, Any]] = {"addons.kueue": {}}
LEAD: Final = "arn:aws:iam::111122223333:role/vision-lead"


def team(**more: Any) -> dict[str, Any]:
    return {"project": "cameras", "costCenter": "ml-vision", "cpus": {"cpu": {"nominalQuota": 8}}, **more}


def gpus(nominal: Any, pool: str = "a100", **more: Any) -> dict[str, Any]:
    return team(gpus={pool: {"nominalQuota": nominal, **more}})


TEAMS: Final = (
    Bad(
        52,
        "negative quota",
        {"teams.vision": gpus(-1)},
        "teams.vision.gpus.a100.nominalQuota",
        "at least 0",
        "0 or more",
    ),
    Bad(
        53,
        "quota in bytes",
        {"teams.vision": gpus("8Gi")},
        "teams.vision.gpus.a100.nominalQuota",
        "whole number",
        "digits",
    ),
    Bad(
        53,
        "quota NaN",
        {"teams.vision": gpus(math.nan)},
        "teams.vision.gpus.a100.nominalQuota",
        "whole number",
        "digits",
    ),
    Bad(
        53, "infinite quota", {"teams.vision": gpus(math.inf)}, "teams.vision.gpus.a100.nominalQuota", "whole", "digits"
    ),
    Bad(53, "half a GPU", {"teams.vision": gpus(0.5)}, "teams.vision.gpus.a100.nominalQuota", "whole number", "digits"),
    Bad(
        54,
        "flavor without pool",
        {"teams.vision": gpus(1, "a1000")},
        "teams.vision.gpus.a1000",
        "must exist",
        "`a100`?",
    ),
    Bad(
        55,
        "pool without flavor",
        {"teams.vision": team(cpus={"system": {"nominalQuota": 2}})},
        "teams.vision.cpus.system",
        "has no flavor",
        "another role",
    ),
    Bad(
        55,
        "GPUs of a pool without GPUs",
        {"teams.vision": gpus(1, "cpu")},
        "teams.vision.gpus.cpu",
        "the pool has no GPUs",
        "`cpus`",
    ),
    Bad(
        55,
        "vCPUs of a pool with GPUs",
        {"teams.vision": team(cpus={"a100": {"nominalQuota": 8}})},
        "teams.vision.cpus.a100",
        "the pool has GPUs",
        "`gpus`",
    ),
    Bad(
        56,
        "more GPUs than the pool has",
        {"teams.vision": gpus(9), "teams.language": gpus(8)},
        "pools.a100.max",
        "a nominal quota of 17 GPUs, and the pool has at most 16",
        "Use 3, or lower `nominalQuota` of vision (9), language (8)",
    ),
    Bad(
        56,
        "more vCPUs than the pool has",
        {"teams.vision": team(cpus={"cpu": {"nominalQuota": 200}})},
        "pools.cpu.max",
        "at most 160",
        "Use 13",
    ),
    Bad(
        57,
        "a team's namespace is one of the cluster",
        {"teams.kube-system": team()},
        "teams.kube-system",
        "is reserved",
        "another name",
    ),
    Bad(
        57,
        "a team's namespace is an add-on's",
        {"teams.vision": team(), "teams.kubeflow": team(namespaces={"system": {}})},
        "teams.kubeflow.namespaces.system",
        "is reserved",
        "another name",
    ),
    Bad(
        57,
        "a team's prefix in a bucket is an add-on's",
        {"teams.vision": team(), "teams.mlflow": team(namespaces={"train": {}})},
        "teams.mlflow",
        "`mlflow/` belongs to an add-on",
        "another name",
    ),
    Bad(
        57,
        "one namespace, two teams",
        {"teams.a": team(namespaces={"b-c": {}}), "teams.a-b": team(namespaces={"c": {}})},
        "teams.a-b.namespaces.c",
        "teams.a already has it",
        "another name",
    ),
    Bad(57, "a team without a share", {"teams.vision": team(cpus={})}, "teams.vision", "at least one pool", "`gpus:`"),
    Bad(
        57,
        "a name that is too long for AWS",
        {f"teams.{'t' * 30}": team(namespaces={"n" * 30: {}})},
        f"teams.{'t' * 30}.namespaces.{'n' * 30}",
        "exceeds 64 characters",
        "Shorten",
    ),
    Bad(
        58,
        "lending more than the quota",
        {**KUEUE, "teams.vision": gpus(8, lendingLimit=9)},
        "teams.vision.gpus.a100.lendingLimit",
        "at most its nominalQuota (8)",
        "8 or less",
    ),
    Bad(
        58,
        "borrowing more than others lend",
        {**KUEUE, "teams.vision": gpus(8, borrowingLimit=8), "teams.language": gpus(8, lendingLimit=4)},
        "teams.vision.gpus.a100.borrowingLimit",
        "lend 4",
        "Use 4",
    ),
    Bad(
        58,
        "borrowing without a cohort",
        {"teams.vision": gpus(8, borrowingLimit=4), "teams.language": gpus(8)},
        "teams.vision.gpus.a100.borrowingLimit",
        "needs Kueue",
        "kueue: {}",
    ),
    Bad(
        59,
        "unknown priority",
        {"teams.vision": team(priorities=["experiments"])},
        "teams.vision.priorities.0",
        "this must be",
        "Did you mean experiment?",
    ),
    Bad(62, "budget of nothing", {"teams.vision": team(budgetUsd=0)}, "teams.vision.budgetUsd", "at least 1", "1 or"),
    Bad(62, "negative budget", {"teams.vision": team(budgetUsd=-5)}, "teams.vision.budgetUsd", "at least 1", "1 or"),
    Bad(
        62,
        "budget in a currency",
        {"teams.vision": team(budgetUsd="20000 EUR")},
        "teams.vision.budgetUsd",
        "whole number",
        "digits",
    ),
    Bad(
        64,
        "an empty share",
        {"teams.vision": gpus(0)},
        "teams.vision.gpus.a100",
        "must not be empty",
        "remove it",
    ),
    Bad(
        64,
        "a principal of another partition",
        {"teams.vision": team(members={"lead": {"principalArn": LEAD.replace("aws", "aws-cn", 1)}})},
        "teams.vision.members.lead.principalArn",
        "partition aws",
        "arn:aws:iam::111122223333:role/vision",
    ),
    Bad(
        64,
        "a principal in two teams",
        {
            "teams.language": team(members={"lead": {"principalArn": LEAD}}),
            "teams.vision": team(members={"lead": {"principalArn": LEAD}}),
        },
        "teams.vision.members.lead.principalArn",
        "teams.language.members.lead already has it",
        "one role for each team",
    ),
    Bad(
        64,
        "a principal that has an entry",
        {"teams.vision": team(members={"lead": {"principalArn": "arn:aws:iam::111122223333:role/platform-admin"}})},
        "teams.vision.members.lead.principalArn",
        "cluster.access.admins already has it",
        "Remove one",
    ),
    Bad(
        64,
        "storage below the claims",
        {"teams.vision": team(storageGib=100)},
        "teams.vision.storageGib",
        "request 103 GiB, from its 100 percent",
        "103 or more",
    ),
    Bad(
        64,
        "shares of namespaces above 100 percent",
        {"teams.vision": team(namespaces={"a": {"share": 60}, "b": {"share": 60}})},
        "teams.vision.namespaces",
        "at most 100 percent",
        "kueue: {}",
    ),
    Bad(
        64,
        "workers without a manager",
        {**KUEUE, "queues.workers": {"west": {"secret": "kubeconfig-west"}}},
        "queues.workers",
        "only a MultiKueue manager",
        "multiKueue: manager",
    ),
    Bad(
        64,
        "manager without workers",
        {"addons.kueue": {"multiKueue": "manager"}},
        "queues.workers",
        "at least one",
        "west",
    ),
    Bad(
        64,
        "an unknown remote pool",
        {
            "addons.kueue": {"multiKueue": "manager"},
            "queues": {"workers": {"west": {"secret": "kubeconfig-west"}}, "remotePools": ["h200"]},
        },
        "queues.remotePools.0",
        "must exist",
        "h100",
    ),
    Bad(
        64,
        "remote pools without workers",
        {**KUEUE, "queues.remotePools": ["h100"]},
        "queues.remotePools",
        "need a worker",
        "`workers`",
    ),
)
