"""The device plugin for Elastic Fabric Adapters."""

from pathlib import Path
from typing import Any

from components.addons.efa_device_plugin import EfaDevicePlugin, values
from spec.pools import resolve_all
from spec.settings.addons.gpu import EfaDevicePlugin as Settings
from tests.components.addons.charts import own_values, unknown_keys
from tests.components.pools.samples import ONE_ZONE, platform
from tests.support.context import POOLS, seen_parts

EFA: dict[str, Any] = {"preset": "h100", "efa": True, "zones": ONE_ZONE, "dedicated": True}


def chart_values(region: str = "us-east-1", **pools: dict[str, Any]) -> dict[str, Any]:
    return values(pools=resolve_all(platform(pools)), region=region)


def test_it_runs_only_on_pools_with_efa_enabled() -> None:
    result = chart_values(fabric=EFA, alone={"preset": "h100"})
    assert result["supportedInstanceLabels"] == {"keys": ["platform.slipway/pool"], "values": ["fabric"]}
    pools = [each["value"] for each in result["tolerations"] if each["key"] == "platform.slipway/pool"]
    assert pools == ["fabric"]
    assert {"key": "dedicated", "operator": "Equal", "value": "ml-workloads", "effect": "NoSchedule"} in (
        result["tolerations"]
    )


def test_its_image_comes_from_the_nodes_region() -> None:
    assert chart_values("eu-west-1", fabric=EFA)["image"] == {
        "repository": "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/aws-efa-k8s-device-plugin"
    }
    assert "image" not in chart_values("us-iso-east-1", fabric=EFA)


def test_without_efa_pools_nothing_is_installed() -> None:
    parts = seen_parts(lambda: EfaDevicePlugin(Settings()), pools={"cpu": POOLS["cpu"]}).parts
    assert parts.releases == ()
    (release,) = seen_parts(lambda: EfaDevicePlugin(Settings())).parts.releases
    assert release.values["supportedInstanceLabels"]["values"] == ["h100"]


def test_every_value_exists_in_the_chart(shared: Path) -> None:
    assert list(unknown_keys(chart_values(fabric=EFA), own_values(shared, "aws-efa-k8s-device-plugin"))) == []
