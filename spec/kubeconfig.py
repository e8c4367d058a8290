"""The kubeconfig of a cluster: the Kubernetes provider has it, and the policy pack accepts no other.

A kubeconfig can run a command, send what it is given to another server or through a proxy, and leave the server's
certificate unchecked (kubernetes.io, client-go, "kubeconfig (v1)").
"""

from typing import Any


def document(cluster: str, region: str, endpoint: object, certificate_authority: object) -> dict[str, Any]:
    """A kubeconfig with one context, as `aws eks update-kubeconfig` writes it (AWS CLI v2).

    Args:
        cluster: Name of the EKS cluster.
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


def update_command(cluster: str, region: str) -> str:
    """The command by which a person gets the same."""
    return f"aws eks update-kubeconfig --name {cluster} --region {region}"
