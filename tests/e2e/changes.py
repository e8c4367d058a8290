"""Changes every Kubernetes resource of the program, in the way that the variable CHANGE names.

Imported by the entry point of a test's checkout. Every change is one that the API server accepts.
"""

import os
from typing import Any, Final

import pulumi

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
NAMED: Final = ("kubernetes:core/v1:Namespace", "kubernetes:serving.kserve.io/v1alpha1:ClusterServingRuntime")
"""Types that keep their names. KServe refuses a second runtime of one format and priority beside the first."""


def change(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Change one resource."""
    if not args.type_.startswith("kubernetes:"):
        return None
    properties, kind = dict(args.props), os.environ["CHANGE"]
    if args.type_ == RELEASE:
        # The name of a release decides the names of its objects.
        return None
    given: Any = properties.get("metadata")
    metadata = dict(given or {})
    if kind == "label":
        metadata["labels"] = {**(metadata.get("labels") or {}), "changed": "yes"}
    elif args.type_ not in NAMED:
        metadata["name"] = f"{metadata['name']}-2"
    properties["metadata"] = metadata
    return pulumi.ResourceTransformResult(props=properties, opts=args.opts)


if os.environ.get("CHANGE"):
    pulumi.runtime.register_resource_transform(change)
