"""The kubeconfig of an EKS cluster: the API server's URL and the command that gets a token. It contains no
credential."""

from __future__ import annotations

from typing import Any

import pulumi


def document(
    cluster: str, region: str, endpoint: pulumi.Input[str], certificate_authority: pulumi.Input[str]
) -> dict[str, Any]:
    """A kubeconfig with one context, as `aws eks update-kubeconfig` writes it (AWS CLI v2).

    Args:
        cluster: Name of the EKS cluster.
        region: Region that the token is signed for.
        endpoint: URL of the API server.
        certificate_authority: CA certificate of the API server, base64 of PEM.
    """
    arguments = ["eks", "get-token", "--cluster-name", cluster, "--region", region, "--output", "json"]
    token = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": arguments,
        # A pipeline can't answer prompts.
        "interactiveMode": "Never",
    }
    server = {"server": endpoint, "certificate-authority-data": certificate_authority}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": server}],
        "users": [{"name": cluster, "user": {"exec": token}}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": cluster}}],
        "current-context": cluster,
    }


def kubeconfig(
    cluster: str, region: str, endpoint: pulumi.Input[str], certificate_authority: pulumi.Input[str]
) -> pulumi.Output[str]:
    """The same as JSON, with sorted keys so that the text changes only when the cluster does."""
    return pulumi.Output.json_dumps(document(cluster, region, endpoint, certificate_authority), sort_keys=True)
