"""AWS's device plugin for Elastic Fabric Adapters, only on the nodes of EFA pools."""

from collections.abc import Mapping
from typing import Any

from components.base.addon import AddOn, AddOnSite, ChartRelease, Parts
from components.base.placement import pool_tolerations, sized
from spec.catalog.regions import eks_registry
from spec.catalog.software import CHARTS
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.addons.gpu import EfaDevicePlugin as Settings


class EfaDevicePlugin(AddOn[Settings]):
    """A DaemonSet that advertises `vpc.amazonaws.com/efa`."""

    name = "efa-device-plugin"
    software = CHARTS["aws-efa-k8s-device-plugin"]

    def parts(self, context: AddOnSite) -> Parts:
        """One release; nothing if no pool has adapters, because the chart can't express an empty selection."""
        if not any(pool.efa_count for pool in context.pools.values()):
            return Parts()
        chart_values = values(pools=context.pools, region=context.cluster.region)
        return Parts(releases=[ChartRelease(ref=self.software, release_name="efa-device-plugin", values=chart_values)])


def values(*, pools: Mapping[str, PoolSpec], region: str) -> dict[str, Any]:
    """Values of the chart (v0.5.30) that differ from its defaults.

    It runs on pools with `efa: true`, not on all instance types that support EFA: a p5 without `efa: true` has no
    adapter.

    Args:
        pools: Pools by name.
        region: Region of the nodes, for the registry of the image; the chart's default is in us-west-2, which an
            isolated network can't reach.
    """
    names = sorted(name for name, pool in pools.items() if pool.efa_count)
    registry = eks_registry(region)
    image = {"image": {"repository": f"{registry}/eks/aws-efa-k8s-device-plugin"}} if registry else {}
    return {
        **image,
        "supportedInstanceLabels": {"keys": [keys.POOL], "values": names},
        "tolerations": pool_tolerations(pools, names),
        "resources": sized("10m", "64Mi"),
    }
