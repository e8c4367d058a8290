"""Queues of schedulers are those of the teams."""

from typing import Any, Final

import pytest
import yaml

from components.addons.schedulers import Volcano, Yunikorn
from components.tenancy.namespace import resource_quota
from spec.pools import resolve_all
from spec.settings.addons import batch
from spec.settings.teams import TeamNamespace
from tests.components.pools.samples import MANAGED_A100, platform
from tests.support.context import Seen, seen_parts

FIXED: Final = {"preset": "cpu", "provisioner": "managed", "min": 4, "max": 4}
POOLS: Final = {"cpu": FIXED, "a100": {**MANAGED_A100, "min": 2, "max": 2, "zones": ["us-east-1b"]}}
BASICS: Final = {"project": "p", "costCenter": "c"}
TEAMS: Final[dict[str, Any]] = {
    "vision": {
        **BASICS,
        "gpus": {"a100": {"nominalQuota": 4, "borrowingLimit": 2}},
        "cpus": {"cpu": {"nominalQuota": 8}},
    },
    "language": {**BASICS, "gpus": {"a100": {"nominalQuota": 6}}},
}


def seen(addon: Any, name: str, **settings: Any) -> Seen:
    parts = {"teams": TEAMS, **settings, "addons": {name: {}, **settings.get("addons", {})}}
    return seen_parts(addon, pools=POOLS, cluster={"version": "1.36"}, **parts)


def test_a_team_has_a_queue_of_yunikorn_with_what_it_may_use_over_all_pools() -> None:
    values = seen(lambda: Yunikorn(batch.Yunikorn.model_validate({"nodeSortPolicy": "fair"})), "yunikorn").values[
        "yunikorn"
    ]
    (partition,) = yaml.safe_load(values["yunikornDefaults"]["queues.yaml"])["partitions"]
    assert partition["placementrules"] == [{"name": "provided", "create": False}], "only queues of teams exist"
    assert partition["nodesortpolicy"] == {"type": "fair"}
    (root,) = partition["queues"]
    queues = {each["name"]: each["resources"] for each in root["queues"]}
    gpus = {
        name: (each["guaranteed"]["nvidia.com/gpu"], each["max"]["nvidia.com/gpu"]) for name, each in queues.items()
    }
    assert gpus == {"language": ("6", "6"), "vision": ("4", "6")}
    assert {"vcore", "memory"} <= set(queues["vision"]["max"])
    assert "cpu" not in queues["vision"]["max"], "an unknown resource would limit nothing"


def test_yunikorn_is_confined() -> None:
    found = seen(
        lambda: Yunikorn(batch.Yunikorn.model_validate({"memoryGib": 4})),
        "yunikorn",
        addons={"kubePrometheusStack": {}},
    )
    values = found.values["yunikorn"]
    assert values["embedAdmissionController"] is values["enableWebService"] is False
    assert (values["resources"]["limits"], values["goMemoryLimit"]) == ({"memory": "4Gi"}, "3072MiB")
    (rule,) = found.before["ingress"]["spec"]["ingress"]
    assert rule["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    assert found.objects["monitor"]["spec"]["podMetricsEndpoints"] == [{"port": "http1", "path": "/ws/v1/metrics"}]
    assert seen(lambda: Yunikorn(batch.Yunikorn()), "yunikorn").objects == {}


@pytest.mark.parametrize("kept", [None, 1])
def test_a_team_has_a_queue_of_volcano(kept: int | None) -> None:
    lending = {} if kept is None else {"lendingLimit": 4 - kept}
    share = {"nominalQuota": 4, "borrowingLimit": 2, **lending}
    teams = {**TEAMS, "vision": {**TEAMS["vision"], "gpus": {"a100": share}}}
    queue = seen(lambda: Volcano(batch.Volcano()), "volcano", teams=teams).objects["queue-vision"]
    spec = queue["spec"]
    assert (queue["metadata"]["name"], spec["reclaimable"]) == ("vision", True)
    assert (spec["deserved"]["nvidia.com/gpu"], spec["capability"]["nvidia.com/gpu"]) == ("4", "6")
    assert ("guarantee" in spec) is (kept is not None)
    if kept is not None:
        assert spec["guarantee"]["resource"]["nvidia.com/gpu"] == str(kept)


def test_volcano_decides_by_what_queues_deserve_and_takes_it_back() -> None:
    values = seen(lambda: Volcano(batch.Volcano()), "volcano").values["volcano"]
    config = yaml.safe_load(values["custom"]["scheduler_config_override"])
    plugins = {each["name"] for tier in config["tiers"] for each in tier["plugins"]}
    assert "capacity" in plugins
    assert "proportion" not in plugins, "the two exclude each other"
    assert "reclaim" in config["actions"]


def test_placeholders_stand_beside_the_pods_of_a_gang() -> None:
    settings = platform(POOLS, teams=TEAMS, addons={"yunikorn": {}}, cluster={"version": "1.36"})
    pools, team = resolve_all(settings), settings.teams["vision"]
    quotas = [
        resource_quota("vision", TeamNamespace(), team, pools, placeholders=each)["spec"]["hard"]
        for each in (False, True)
    ]
    assert [each["requests.nvidia.com/gpu"] for each in quotas] == ["6", "12"]
    assert len({each["pods"] for each in quotas}) == 1
