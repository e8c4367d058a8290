"""Objects of the Kubernetes API, declared from plain manifests."""

from components.kubernetes.declare import declare, type_token

__all__ = ["declare", "type_token"]
