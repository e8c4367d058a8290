"""One way to declare any Kubernetes object: from its manifest.

The classes of `pulumi_kubernetes` and its `CustomResource` register the same type tokens with the same inputs; they
only add a signature for each kind, which a pure function that returns a manifest can't use. The API server validates
every manifest at preview, in the sandbox and on a real cluster, so nothing is lost.
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
        manifest: The whole object; `apiVersion`, `kind` and `metadata.name` are plain strings, other fields may be
            Outputs.
        opts: Parent and dependencies.

    Raises:
        ValueError: For a manifest without a name: auto-naming would choose one that nothing else can refer to.
    """
    if not isinstance(manifest.get("metadata", {}).get("name"), str):
        msg = f"{name}: a manifest needs metadata.name as a plain string (given: {manifest.get('metadata')!r})"
        raise ValueError(msg)
    token = type_token(manifest["apiVersion"], manifest["kind"])
    return pulumi.CustomResource(token, name, dict(manifest), opts)
