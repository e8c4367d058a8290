"""What charts render: containers without a CPU limit, webhooks that fail closed."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from components.base.placement import sized, uncapped
from spec.catalog.software import CHARTS
from tests.slipway.charts.rendering import Objects, releases, rendered
from tests.support import stacks

# Rendered controllers have no CPU limit: a chart's own stays unless our values remove it.


LIMITED: Final[Mapping[tuple[str, str], str]] = {("kserve-release", "manager"): "4"}
"""CPU limits that cannot be removed, by release and container, with their value."""
CONTROLLERS: Final = ("Deployment", "StatefulSet")


def limits(objects: Objects) -> Iterator[tuple[str, str]]:
    """CPU limits of controllers, by container."""
    for each in objects:
        if each["kind"] in CONTROLLERS:
            for container in each["spec"]["template"]["spec"]["containers"]:
                limit = ((container.get("resources") or {}).get("limits") or {}).get("cpu")
                if limit is not None:
                    yield container["name"], str(limit)


def test_no_controller_of_a_stack_has_a_cpu_limit(shared: Path) -> None:
    found: dict[tuple[str, str], str] = {}
    seen = set()
    for name, use in releases(*stacks.NAMES).items():
        objects = rendered(shared / "charts-full", use)
        if objects is not None:
            seen.add(use.chart)
            found |= {(name, container): limit for container, limit in limits(objects)}
    assert seen >= {"kueue", "jobset", "keda", "kserve-resources", "gpu-operator", "kubecost"}
    assert found == dict(LIMITED)


def test_a_limit_that_is_not_removed_is_found(shared: Path) -> None:
    use = releases("prod")["jobset-release"]
    kept, removed = (
        rendered(shared / "charts-full", use, {"controller": {"resources": resources("50m", "256Mi")}})
        for resources in (sized, uncapped)
    )
    assert kept is not None
    assert removed is not None
    assert [limit for _, limit in limits(kept)] == ["2"]
    assert list(limits(removed)) == []


# A webhook that fails closed has two replicas in production: with one, each restart refuses every request.


STACK: Final = "prod"
CONFIGURATIONS: Final = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def closed(objects: Objects) -> set[str]:
    """Services of webhooks that fail closed."""
    hooks = [hook for each in objects if each["kind"] in CONFIGURATIONS for hook in each.get("webhooks") or ()]
    return {hook["clientConfig"]["service"]["name"] for hook in hooks if hook.get("failurePolicy", "Fail") == "Fail"}


def behind(objects: Objects, service: str) -> Iterator[dict[str, Any]]:
    """Deployments whose pods a Service selects."""
    selectors = [each["spec"]["selector"] for each in objects if each["kind"] == "Service"
                 and each["metadata"]["name"] == service]  # fmt: skip
    for each in objects:
        if each["kind"] == "Deployment":
            labels = each["spec"]["template"]["metadata"]["labels"]
            if any(selector.items() <= labels.items() for selector in selectors):
                yield each


@cache
def bounded() -> dict[str, int]:
    """Minimum replicas of Deployments that an autoscaler of ours sets."""
    specs = [
        each.inputs.plain["spec"]
        for each in stacks.recorded(STACK).resources.values()
        if each.type == "kubernetes:autoscaling/v2:HorizontalPodAutoscaler"
    ]
    return {spec["scaleTargetRef"]["name"]: spec["minReplicas"] for spec in specs}


def single(objects: Objects) -> set[str]:
    """Deployments with one replica behind such a webhook."""
    return {
        each["metadata"]["name"]
        for service in closed(objects)
        for each in behind(objects, service)
        if max(each["spec"].get("replicas", 1), bounded().get(each["metadata"]["name"], 1)) < 2
    }


def test_each_of_them_has_two_replicas(shared: Path) -> None:
    alone: set[str] = set()
    seen: set[str] = set()
    for use in releases(STACK).values():
        objects = rendered(shared / "charts-full", use)
        if objects is not None and closed(objects):
            seen.add(use.chart)
            assert all(list(behind(objects, service)) for service in closed(objects)), use.chart
            alone |= single(objects)
    assert seen >= {"kueue", "jobset", "kserve-resources", "cert-manager", "kubeflow-trainer", "lws"}
    assert alone == set()


def test_a_single_replica_is_found(shared: Path) -> None:
    use = releases(STACK)["jobset-release"]
    objects = rendered(shared / "charts-full", use, {"controller": {"replicas": 1}})
    assert objects is not None
    assert single(objects) == {"jobset-release-controller"}


def test_teams_may_create_ray_cron_jobs_once_the_operator_runs_them(shared: Path) -> None:
    objects = rendered(shared / "charts-full", releases("dev")["kuberay-operator"])
    assert objects is not None
    (operator,) = [each for each in objects if each["kind"] == "Deployment"]
    given = " ".join(operator["spec"]["template"]["spec"]["containers"][0]["args"])
    assert f"RayCronJob={str('raycronjobs' in CHARTS['kuberay-operator'].team_kinds['ray.io/v1']).lower()}" in given
