"""A webhook that fails closed has two replicas in production: with one, each restart refuses every request."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.slipway.charts.rendering import Objects, releases, rendered
from tests.support import stacks

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
