"""What NVIDIA's driver for Dynamic Resource Allocation publishes of a node: a ResourceSlice with its GPUs, or with the
MIG instances that the node's user data makes of them, and the DeviceClass of whole ones, which comes with its chart.

The scheduler and the controllers that allocate the devices are real; the kubelet's part, which gives them to
containers, is KWOK's, as for devices of a plugin.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sandbox.kubernetes.objects import Object, Ref
from sandbox.nodes import ec2_types
from spec.catalog import mig
from spec.catalog.document import load
from spec.catalog.gpus import DEVICE, DEVICE_CLASS
from spec.pools.keys import DRA, GPU_ALLOCATION, MIG_CONFIG

API: Final = "resource.k8s.io/v1"
_DATA: Final = load("dra.yaml")
_CHART: Final = "dra-driver-nvidia-gpu"


def allocates(labels: Any) -> bool:
    """Whether the driver runs on nodes with these labels, and no device plugin."""
    return bool(labels.get(GPU_ALLOCATION) == DRA)


def device_class() -> Object:
    """The class of whole GPUs, which also satisfies requests of `nvidia.com/gpu`. It is as one of a release, so that
    Helm takes it over where the driver's chart is at hand."""
    of_gpus = f"device.driver == '{DEVICE_CLASS}' && device.attributes['{DEVICE_CLASS}'].type == 'gpu'"
    spec = {"selectors": [{"cel": {"expression": of_gpus}}], "extendedResourceName": DEVICE}
    made = Ref(API, "DeviceClass", DEVICE_CLASS).as_object()
    notes = {"meta.helm.sh/release-name": _CHART, "meta.helm.sh/release-namespace": _CHART}
    made["metadata"] |= {"labels": {"app.kubernetes.io/managed-by": "Helm"}, "annotations": notes}
    return {**made, "spec": spec}


def resource_slice(node: Object) -> Object:
    """The slice of a node, which is deleted with it."""
    name, labels = node["metadata"]["name"], node["metadata"]["labels"]
    of_type, layout = labels["node.kubernetes.io/instance-type"], labels.get(MIG_CONFIG, mig.DISABLED)
    made = Ref(API, "ResourceSlice", f"{name}-{DEVICE_CLASS}").as_object()
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"], "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    return {
        **made,
        "spec": {"driver": DEVICE_CLASS, "nodeName": name, "pool": pool, "devices": list(devices(of_type, layout))},
    }


def devices(instance_type: str, layout: str = mig.DISABLED) -> Iterator[dict[str, Any]]:
    """The GPUs of an instance type with a named layout of MIG, with what its nodes have in common; none of a model that
    the catalog lacks. A GPU with MIG instances is no device itself (cmd/gpu-kubelet-plugin/nvlib.go, v0.4.1)."""
    kind = ec2_types.find(instance_type)
    model = (_DATA["gpus"].get(kind.gpu_name) if kind else None) or {}
    roots = str(_DATA["roots"].get(instance_type, "")).split()
    for index in range(kind.gpus if kind and model else 0):
        texts = {
            "type": "gpu",
            "brand": "Nvidia",
            "productName": model["productName"],
            "architecture": model["architecture"],
        }
        if roots:
            texts["resource.kubernetes.io/pcieRoot"] = f"pci0000:{roots[index]}"
        attributes: dict[str, Any] = {key: {"string": text} for key, text in texts.items()}
        attributes["cudaComputeCapability"] = {"version": model["cudaComputeCapability"]}
        whole = {"name": f"gpu-{index}", "attributes": attributes, "capacity": {"memory": {"value": model["memory"]}}}
        instances = mig.layout_of(layout, kind.gpu_name or "") if kind else None
        yield from _instances(whole, kind.gpu_name or "", instances) if kind and instances else (whole,)


def _instances(whole: Mapping[str, Any], gpu: str, layout: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """The MIG instances of a GPU, as `ToCanonicalName` and `GetDevice` of the driver write them (v0.4.1,
    cmd/gpu-kubelet-plugin). Of their capacity, numbers of multiprocessors and engines are not known here."""
    for profile, start in mig.placements(gpu, layout):
        of = mig.PROFILES[gpu][profile]
        plain = profile.replace(".", "").replace("+", "-")
        slices = {f"memorySlice{at}": {"value": "1"} for at in range(start, start + of.memory)}
        yield {
            "name": f"{whole['name']}-mig-{plain}-{of.id}-{start}",
            "attributes": {**whole["attributes"], "type": {"string": "mig"}, "profile": {"string": profile}},
            "capacity": {"memory": {"value": f"{of.memory_mib}Mi"}, **slices},
        }
