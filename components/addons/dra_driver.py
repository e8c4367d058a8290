"""NVIDIA's driver for Dynamic Resource Allocation, only on the nodes of pools whose GPUs are allocated by claims."""

from collections.abc import Mapping
from typing import Any

from components.base.addon import AddOn, AddOnSite, ChartRelease, Parts
from components.base.placement import pool_tolerations, sized
from spec.catalog import gpus, mig
from spec.catalog.software import CHARTS
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.addons.gpu import DraDriver as Settings


class DraDriver(AddOn[Settings]):
    """A DaemonSet that publishes the GPUs of its node as ResourceSlices, and DeviceClasses: of whole GPUs, and of each
    MIG profile of the pools."""

    name = "dra-driver"
    software = CHARTS["dra-driver-nvidia-gpu"]

    def parts(self, context: AddOnSite) -> Parts:
        """One release; nothing if no pool has claims, because a DeviceClass would promise GPUs that no node has."""
        if not any(pool.dra for pool in context.pools.values()):
            return Parts()
        # The DaemonSet has the name of the chart, whatever that of the release is.
        release = ChartRelease(ref=self.software, release_name=self.software.name, values=values(context.pools))
        parted = [pool.mig.profiles for pool in context.pools.values() if pool.dra and pool.mig]
        made = [mig_class(profile) for profile in sorted({profile for profiles in parted for profile in profiles})]
        return Parts(releases=[release], objects={str(one["metadata"]["name"]): one for one in made})


def mig_class(profile: str) -> dict[str, Any]:
    """The DeviceClass of the MIG instances of a profile, as the driver publishes them (dra-driver-nvidia-gpu v0.4.1,
    cmd/gpu-kubelet-plugin/mig.go, CommonAttributesMig). Pods request its extended resource as of the device plugin."""
    resource = mig.resource_name(profile)
    of_driver = f"device.attributes['{gpus.DEVICE_CLASS}']"
    text = f"device.driver == '{gpus.DEVICE_CLASS}' && {of_driver}.type == 'mig' && {of_driver}.profile == '{profile}'"
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": gpus.device_class(resource)},
        "spec": {"selectors": [{"cel": {"expression": text}}], "extendedResourceName": resource},
    }


def values(pools: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """Values of the chart (0.4.1) that differ from its defaults."""
    names = sorted(name for name, pool in pools.items() if pool.dra)
    return {
        # The chart asks whether the device plugin is off: the GPU Operator tolerates no taint of these pools.
        "gpuResourcesEnabledOverride": True,
        # Those are for NVLink between machines (P6e-GB200), which no pool has.
        "resources": {"computeDomains": {"enabled": False}},
        "kubeletPlugin": {
            "nodeSelector": {keys.GPU_ALLOCATION: keys.DRA},
            # By default it selects labels of Node Feature Discovery, which comes with the GPU Operator and does not run
            # on these nodes.
            "affinity": {"nodeAffinity": None},
            "tolerations": pool_tolerations(pools, names),
            "containers": {"gpus": {"resources": sized("10m", "256Mi")}},
        },
    }
