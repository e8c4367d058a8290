"""Data sources of what gives access: tokens of clusters and registries, secrets."""

# ruff: noqa: ARG001

from __future__ import annotations

# All functions take the same arguments, used or not.
import base64
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from sandbox.aws.client import Aws

Args: TypeAlias = dict[str, Any]


def _cluster_token(aws: Aws, args: Args) -> Args:
    """What `aws eks get-token` prints: a signed address of STS that says who asks, and for which cluster."""
    name = args["name"]
    aws.call("eks", "describe_cluster", name=name)
    return {"id": name, "name": name, "token": aws.clients.cluster_token(aws.region, name)}


def _clusters(aws: Aws, args: Args) -> Args:
    return {"id": aws.region, "names": sorted(aws.call("eks", "list_clusters")["clusters"])}


def _registry_token(aws: Aws, args: Args) -> Args:
    registry = args.get("registryId") or aws.account
    (found,) = aws.call("ecr", "get_authorization_token")["authorizationData"]
    user, _, password = base64.b64decode(found["authorizationToken"]).decode().partition(":")
    expires = found["expiresAt"].strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "id": registry, "authorizationToken": found["authorizationToken"], "userName": user, "password": password,
        "proxyEndpoint": found["proxyEndpoint"], "expiresAt": expires,
    }  # fmt: skip


def _secret(aws: Aws, args: Args) -> Args:
    found = aws.call("secretsmanager", "describe_secret", SecretId=args.get("arn") or args["name"])
    tags = {one["Key"]: one["Value"] for one in found.get("Tags") or ()}
    return {
        "id": found["ARN"], "arn": found["ARN"], "name": found["Name"], "description": found.get("Description", ""),
        "kmsKeyId": found.get("KmsKeyId", ""), "policy": "", "tags": tags,
    }  # fmt: skip


def _secret_version(aws: Aws, args: Args) -> Args:
    stage = args.get("versionStage") or "AWSCURRENT"
    version = {"VersionId": args["versionId"]} if args.get("versionId") else {"VersionStage": stage}
    found = aws.call("secretsmanager", "get_secret_value", SecretId=args["secretId"], **version)
    return {
        "id": f"{args['secretId']}|{args.get('versionId') or stage}",
        "arn": found["ARN"],
        "secretId": args["secretId"],
        "secretString": found.get("SecretString", ""),
        "secretBinary": base64.b64encode(found.get("SecretBinary") or b"").decode(),
        "versionId": found["VersionId"],
        "versionStages": found["VersionStages"],
    }


FUNCTIONS: Final[Mapping[str, Callable[[Aws, Args], Args]]] = MappingProxyType(
    {
        "aws:ecr/getAuthorizationToken:getAuthorizationToken": _registry_token,
        "aws:ecr/getCredentials:getCredentials": _registry_token,
        "aws:eks/getClusterAuth:getClusterAuth": _cluster_token,
        "aws:eks/getClusters:getClusters": _clusters,
        "aws:secretsmanager/getSecret:getSecret": _secret,
        "aws:secretsmanager/getSecretVersion:getSecretVersion": _secret_version,
    }
)
