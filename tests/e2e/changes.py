"""Changes every Kubernetes resource of the program, in the way that the variable CHANGE names.

Imported by the entry point of a test's checkout. Every change is one that the API server accepts.
"""

import os
from collections.abc import Mapping
from typing import Any, Final

import pulumi

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
FIELDS: Final[Mapping[str, tuple[tuple[str | int, ...], Any]]] = {
    "kubernetes:batch/v1:CronJob": (("spec", "schedule"), "1 1 * * *"),
    "kubernetes:core/v1:ConfigMap": (("data", "changed"), "yes"),
    "kubernetes:core/v1:PersistentVolume": (("spec", "csi", "volumeHandle"), "changed"),
    "kubernetes:core/v1:PersistentVolumeClaim": (("spec", "volumeName"), "changed"),
    "kubernetes:core/v1:ResourceQuota": (("spec", "hard", "count/services"), "7"),
    "kubernetes:core/v1:Secret": (("stringData", "changed"), "yes"),
    "kubernetes:networking.k8s.io/v1:NetworkPolicy": (("spec", "podSelector"), {"matchLabels": {"changed": "yes"}}),
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole": (("rules", 0, "verbs"), ["get"]),
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": (("roleRef", "name"), "changed"),
    "kubernetes:rbac.authorization.k8s.io/v1:Role": (("rules", 0, "verbs"), ["get"]),
    "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": (("roleRef", "name"), "changed"),
    "kubernetes:scheduling.k8s.io/v1:PriorityClass": (("description",), "changed"),
    "kubernetes:storage.k8s.io/v1:StorageClass": (("parameters", "changed"), "yes"),
    "kubernetes:karpenter.sh/v1:NodePool": (("spec", "weight"), 77),
    "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass": (("spec", "detailedMonitoring"), True),
    "kubernetes:kueue.x-k8s.io/v1beta2:WorkloadPriorityClass": (("value",), 77),
    "kubernetes:monitoring.coreos.com/v1:PodMonitor": (("spec", "jobLabel"), "changed"),
    RELEASE: (("timeout",), 599),
}
"""A field of each type and its new value: where the type has one, a field that can't be updated."""

NAMED: Final = ("kubernetes:core/v1:Namespace", "kubernetes:serving.kserve.io/v1alpha1:ClusterServingRuntime")
"""Types that keep their names. KServe refuses a second runtime of one format and priority beside the first."""


def change(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Change one resource."""
    if not args.type_.startswith("kubernetes:"):
        return None
    properties, kind = dict(args.props), os.environ["CHANGE"]
    if kind == "field":
        if args.type_ not in FIELDS:
            return None
        path, value = FIELDS[args.type_]
        _put(properties, path, value)
    elif args.type_ == RELEASE:
        # The name of a release decides the names of its objects.
        return None
    else:
        given: Any = properties.get("metadata")
        metadata = dict(given or {})
        if kind == "label":
            metadata["labels"] = {**(metadata.get("labels") or {}), "changed": "yes"}
        elif args.type_ not in NAMED:
            metadata["name"] = f"{metadata['name']}-2"
        properties["metadata"] = metadata
    return pulumi.ResourceTransformResult(props=properties, opts=args.opts)


def _put(properties: dict[Any, Any], path: tuple[str | int, ...], value: Any) -> None:
    """Set a value, and copy the maps and lists above it."""
    above: Any = properties
    key: Any
    for key in path[:-1]:
        below = above[key] if isinstance(above, list) else above.get(key, {})
        above[key] = list(below) if isinstance(below, list) else dict(below)
        above = above[key]
    above[path[-1]] = value


if os.environ.get("CHANGE"):
    pulumi.runtime.register_resource_transform(change)
