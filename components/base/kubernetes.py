"""One way to declare any object of the Kubernetes API: from its manifest.

The classes of `pulumi_kubernetes` and its `CustomResource` register the same tokens with the same inputs; what they add
is a signature for each kind, and that can't be passed on by a pure function that returns a manifest. The API server
validates every manifest at preview, in the sandbox and on a cluster alike, so nothing is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi


@dataclass(frozen=True)
class ManifestKind:
    """A kind of object in one version of its API."""

    api_version: str
    kind: str


def type_token(api_version: str, kind: str) -> str:
    """Pulumi's type token of a kind: `kubernetes:core/v1:ConfigMap`, `kubernetes:kueue.x-k8s.io/v1beta2:Cohort`."""
    version = api_version if "/" in api_version else f"core/{api_version}"
    return f"kubernetes:{version}:{kind}"


def declare(name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """Declare one object.

    Args:
        name: Logical name.
        manifest: The whole object; `apiVersion`, `kind` and `metadata.name` are plain text, others may be Outputs.
        opts: Parent and what it waits for.

    Raises:
        ValueError: For a manifest without a name: auto-naming would make one that nothing else can refer to.
    """
    if not isinstance(manifest.get("metadata", {}).get("name"), str):
        msg = f"{name}: a manifest needs metadata.name as plain text (given: {manifest.get('metadata')!r})"
        raise ValueError(msg)
    token = type_token(manifest["apiVersion"], manifest["kind"])
    return pulumi.CustomResource(token, name, dict(manifest), opts)
