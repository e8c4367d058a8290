"""What NVIDIA's driver for Dynamic Resource Allocation publishes of a node: a ResourceSlice with its GPUs, and the
DeviceClass of whole ones, which comes with the driver's chart.

The scheduler and the controllers that allocate the devices are real; the kubelet's part, which gives them to
containers, is KWOK's, as for devices of a plugin.
"""

from collections.abc import Iterator
from typing import Any, Final

from sandbox.kubernetes.objects import Object, Ref
from sandbox.nodes import ec2_types
from spec.catalog.document import load
from spec.catalog.gpus import DEVICE, DEVICE_CLASS
from spec.pools.keys import DRA, GPU_ALLOCATION

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
    name, of_type = node["metadata"]["name"], node["metadata"]["labels"]["node.kubernetes.io/instance-type"]
    made = Ref(API, "ResourceSlice", f"{name}-{DEVICE_CLASS}").as_object()
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"], "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    return {**made, "spec": {"driver": DEVICE_CLASS, "nodeName": name, "pool": pool, "devices": list(devices(of_type))}}


def devices(instance_type: str) -> Iterator[dict[str, Any]]:
    """The GPUs of an instance type, with what its nodes have in common; none of a model that the catalog lacks."""
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
        attributes = {key: {"string": text} for key, text in texts.items()}
        attributes["cudaComputeCapability"] = {"version": model["cudaComputeCapability"]}
        capacity = {"memory": {"value": model["memory"]}}
        yield {"name": f"gpu-{index}", "attributes": attributes, "capacity": capacity}
