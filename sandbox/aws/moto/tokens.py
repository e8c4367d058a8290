"""EKS authentication: who has a token of `aws eks get-token`, as the webhook that EKS's API servers ask.

Such a token is a presigned URL of sts:GetCallerIdentity; the identity is looked up among the cluster's access entries
(kubernetes-sigs/aws-iam-authenticator, README.md, "How does it work"; EKS User Guide, access-entries.html; read
2026-11). Moto accepts any signature, so the access key alone says who it is.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from sandbox.aws.client import CLUSTER_HEADER, ROLE, TOKEN_PREFIX
from sandbox.aws.moto import live
from sandbox.aws.moto.eks import contents

PATH: Final = "/slipway/tokens/"
"""Of the webhook; the slot of an API server follows."""
ADMIN: Final = ("kubernetes-admin", ["system:masters"])
"""User and groups of a cluster's administrators."""
ADMIN_POLICY: Final = "cluster-access-policy/AmazonEKSClusterAdminPolicy"
_ROLE: Final = re.compile(r"arn:(?P<partition>[\w-]+):sts::(?P<account>\d+):assumed-role/(?P<role>[^/]+)/.*")
_ANYBODY: Final = "user/moto"
"""End of the ARN that moto gives to keys of nobody in IAM: those of the sandbox's own environment."""

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass(frozen=True)
class User:
    """Who Kubernetes takes the bearer of a token for."""

    name: str
    groups: list[str] = field(default_factory=list)


def answering(application: Application) -> Application:
    """The application, which also answers the TokenReviews of API servers."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = str(environ.get("PATH_INFO", ""))
        if not path.startswith(PATH) or environ.get("REQUEST_METHOD") != "POST":
            return application(environ, start_response)
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        reviewed = json.dumps(review(json.loads(body), path.removeprefix(PATH))).encode()
        ok = f"{HTTPStatus.OK.value} {HTTPStatus.OK.phrase}"
        start_response(ok, [("Content-Type", "application/json"), ("Content-Length", str(len(reviewed)))])
        return [reviewed]

    return answer


def review(request: Mapping[str, Any], slot: str) -> dict[str, Any]:
    """The answer to a TokenReview (authentication.k8s.io/v1) of the API server of a slot."""
    name = live.behind().cluster_of(slot)
    with live.turn():
        user = _user(str(request["spec"].get("token") or ""), name) if name else None
    status = (
        {"authenticated": False}
        if user is None
        else {"authenticated": True, "user": {"username": user.name, "groups": [*user.groups, "system:authenticated"]}}
    )
    return {"apiVersion": request["apiVersion"], "kind": "TokenReview", "status": status}


def _user(token: str, name: str) -> User | None:
    arn = identity(token)
    if arn is None:
        return None
    return next((user for cluster in _clusters(name) if (user := _of_cluster(cluster, arn)) is not None), None)


def identity(token: str) -> str | None:
    """The ARN of the principal with a token; None if it is no token of EKS."""
    from moto.iam.models import get_account_id_from  # noqa: PLC0415 - moto reads the environment at import
    from moto.sts.models import sts_backends  # noqa: PLC0415

    query = _query(token)
    if query.get("Action") != "GetCallerIdentity" or CLUSTER_HEADER not in query.get("X-Amz-SignedHeaders", ""):
        return None
    try:
        key, _, region, *_ = query.get("X-Amz-Credential", "").split("/")
    except ValueError:
        return None
    _, arn, _ = sts_backends[get_account_id_from(key)]["aws"].get_caller_identity(key, region)
    match = _ROLE.fullmatch(arn)
    return f"arn:{match['partition']}:iam::{match['account']}:role/{match['role']}" if match else str(arn)


def _query(token: str) -> dict[str, str]:
    encoded = token.removeprefix(TOKEN_PREFIX)
    if encoded == token:
        return {}
    try:
        url = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, ValueError):
        return {}
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def _clusters(name: str) -> Iterator[Any]:
    from moto.eks.models import eks_backends  # noqa: PLC0415

    for regions in list(eks_backends.values()):
        for backend in list(regions.values()):
            if name in backend.clusters:
                yield backend.clusters[name]


def _of_cluster(cluster: Any, arn: str) -> User | None:
    """The user by the access entry of a principal; the sandbox's own keys are the account's administrator, who made
    the cluster."""
    inside = contents(cluster)
    for principal, entry in inside.entries.items():
        if _same(principal, arn):
            policies = (policy for (of, policy) in inside.policies if of == principal)
            admin = ADMIN[1] if any(policy.endswith(ADMIN_POLICY) for policy in policies) else []
            return User(str(entry["username"]), [*entry["kubernetesGroups"], *admin])
    account = str(cluster.arn).split(":")[4]
    ours = arn.split(":")[4] == account and arn.rpartition(":")[2] in (_ANYBODY, f"role/{ROLE}")
    return User(ADMIN[0], ADMIN[1]) if ours else None


def _same(principal: str, arn: str) -> bool:
    """Whether they are one principal: the ARN of a session has the role's name, without its path."""
    head, _, path = principal.partition(":role/")
    return arn in (principal, f"{head}:role/{path.rpartition('/')[2]}")


def configuration(endpoint: str, slot: str) -> dict[str, Any]:
    """The value of `--authentication-token-webhook-config-file`: a kubeconfig that leads to the webhook."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "eks", "cluster": {"server": f"{endpoint}{PATH}{slot}"}}],
        "users": [{"name": "api-server", "user": {}}],
        "contexts": [{"name": "eks", "context": {"cluster": "eks", "user": "api-server"}}],
        "current-context": "eks",
    }
