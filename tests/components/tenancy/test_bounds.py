from __future__ import annotations

from typing import Any

from components.storage.volumes import VolumeSettings, team_volumes
from components.tenancy.bounds import limit_range, namespace_manifest, priority_quota, resource_quota
from spec.settings.teams import CLAIMS_GIB, Team
from tests.components.tenancy.samples import VISION, platform, pools
from tests.support.context import storage_outputs
from tests.support.mocks import REGION, run


def team(**more: Any) -> Team:
    return platform({"vision": {**VISION, "gpus": {"a100": {"nominalQuota": 4}}, **more}}).teams["vision"]


def hard(settings: Team, namespace: str = "vision-training") -> dict[str, str]:
    space = settings.namespaces_of("vision")[namespace]
    manifest: dict[str, str] = resource_quota(namespace, space, settings, pools())["spec"]["hard"]
    return manifest


def test_every_gpu_resource_has_a_quota_and_it_is_zero_without_a_share() -> None:
    limits = hard(team())
    assert limits["requests.nvidia.com/mig-1g.5gb"] == "28"
    assert limits["requests.nvidia.com/gpu"] == "0"
    assert "requests.vpc.amazonaws.com/efa" not in limits


def test_a_namespace_with_a_fraction_has_that_fraction_of_the_quota() -> None:
    whole, half = hard(team()), hard(team(), "vision-serving")
    assert (whole["requests.nvidia.com/mig-1g.5gb"], half["requests.nvidia.com/mig-1g.5gb"]) == ("28", "14")
    assert (whole["requests.storage"], half["requests.storage"]) == ("1Ti", "512Gi")


def test_load_balancers_are_forbidden_and_objects_are_limited() -> None:
    limits = hard(team(pods=50))
    assert (limits["services.loadbalancers"], limits["services.nodeports"], limits["pods"]) == ("0", "0", "50")
    assert int(limits["count/jobs.batch"]) <= 1000


def test_cpu_limits_have_no_quota() -> None:
    assert not any(name.startswith("limits.") for name in hard(team()))


def test_pods_of_priorities_that_a_team_may_not_use_are_refused() -> None:
    assert priority_quota("vision", team()) is None
    manifest = priority_quota("vision", team(priorities=["experiment", "interactive"]))
    assert manifest is not None
    assert manifest["spec"]["hard"] == {"pods": "0"}
    (expression,) = manifest["spec"]["scopeSelector"]["matchExpressions"]
    assert expression["values"] == ["production-inference", "production-training"]


def test_default_requests_fit_the_largest_node_and_contain_no_gpu() -> None:
    (container,) = limit_range("vision", team(), pools())["spec"]["limits"]
    assert container["default"]["cpu"] == container["max"]["cpu"]
    assert set(container["max"]) == {"cpu", "memory"}
    assert set(container["defaultRequest"]) == {"cpu", "memory"}


def test_a_namespace_has_labels_for_team_cost_center_and_pod_security() -> None:
    settings = team()
    manifest = namespace_manifest(
        "vision-training", "vision", settings, settings.namespaces_of("vision")["vision-training"]
    )
    labels = manifest["metadata"]["labels"]
    assert labels["platform.slipway/team"] == "vision"
    assert labels["platform.slipway/project"] == "perception"
    assert labels["platform.slipway/cost-center"] == "ml-vision"
    assert labels["pod-security.kubernetes.io/enforce"] == "baseline"
    assert labels["pod-security.kubernetes.io/warn"] == "restricted"


def test_the_settings_checks_know_the_storage_requests_of_claims() -> None:
    def build() -> int:
        settings = VolumeSettings(team="vision", region=REGION)
        volumes = team_volumes("vision", storage_outputs(), settings).values()
        claims = [each for each in volumes if each["kind"] == "PersistentVolumeClaim"]
        return sum(int(each["spec"]["resources"]["requests"]["storage"].removesuffix("Gi")) for each in claims)

    assert run(build).returned <= CLAIMS_GIB
