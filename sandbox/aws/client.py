"""The client of moto, and the account, region and credentials that a call is made with."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Final, TypeAlias

import boto3
import botocore.config
import botocore.exceptions
import botocore.session
from botocore.awsrequest import AWSResponse
from botocore.model import StructureShape
from botocore.retries import standard

from sandbox.errors import cancelled
from sandbox.notes import Notes
from sandbox.ports import Clusters, ManagedAddons
from sandbox.rpc import wire
from sandbox.rpc.errors import ProviderError

Send: TypeAlias = Callable[..., AWSResponse]
"""A handler of botocore's event `before-send`: botocore uses the returned answer and sends nothing."""

DEFAULT_ACCOUNT = "123456789012"
TOKEN_PREFIX: Final = "k8s-aws-v1."  # noqa: S105 - a token begins with it
CLUSTER_HEADER: Final = "x-k8s-aws-id"
"""Of a token of EKS: its beginning, and the header that names the cluster."""
ACCOUNT_HEADER = "x-moto-account-id"

ATTEMPTS = 25
"""Of a call that AWS throttles, or could not answer for a moment (terraform-provider-aws, `max_retries`)."""
LONGEST_PAUSE = 20.0
"""Seconds between two of them; the first is half a second, each further one twice as long (botocore 1.44.5,
retries/standard)."""
_AGAIN = frozenset({
    *standard.ThrottledRetryableChecker._THROTTLED_ERROR_CODES,
    *standard.TransientRetryableChecker._TRANSIENT_ERROR_CODES,
})  # fmt: skip
_UNAVAILABLE = (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)
"""A status of 500 is a fault of moto's, which does not pass."""
FAULT = "InternalFailure"
"""The code of an answer that AWS, here moto, could not give because of a fault of its own."""

_NOT_FOUND = re.compile(r"NotFound|NoSuch|NonExistent|DoesNotExist|^404$")


class AwsError(ProviderError):
    """An error answer of AWS; `code` is AWS's, such as `InvalidVpcID.NotFound`."""

    def __init__(self, operation: str, code: str, message: str) -> None:
        super().__init__(f"{operation}: {code}: {message}")
        self.operation, self.code, self.text = operation, code, message

    @property
    def not_found(self) -> bool:
        """Whether AWS says that there is no such object."""
        # Auto Scaling has no error code of its own for it.
        in_text = self.code == "ValidationError" and "not found" in str(self)
        return in_text or _NOT_FOUND.search(self.code) is not None


# The account of a thread's next call. A separate client per account would take up to half a second each.
_ACCOUNT: ContextVar[str] = ContextVar("account", default=DEFAULT_ACCOUNT)


class Clients:
    """boto3 clients of one moto server, created once per service and region.

    Args:
        endpoint: Address of the server.
        send: Answers requests without a socket if the server runs in this process (`moto.in_process.send_to`).
    """

    def __init__(self, endpoint: str, send: Send | None = None) -> None:
        self.endpoint = endpoint
        self._send = send
        # Moto accepts any credentials; without any, boto3 would look for real ones on this machine.
        # Whatever AWS_PROFILE says: boto3 refuses a profile that the machine's files don't have.
        core = botocore.session.Session({"profile": (None, None, None, None)})
        keys = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}
        self._session: Any = boto3.Session(botocore_session=core, **keys)
        self._made: dict[tuple[str, str], Any] = {}
        # In botocore, creating clients is not thread-safe; using them is.
        self._lock = threading.Lock()

    def get(self, service: str, region: str) -> Any:
        """The client of a service in a region."""
        key = (service, region)
        with self._lock:
            if key not in self._made:
                self._made[key] = self._make(*key)
            return self._made[key]

    def partition(self, region: str) -> str:
        """The partition of a region: aws, aws-cn, aws-us-gov."""
        return str(self._session.get_partition_for_region(region))

    def _make(self, service: str, region: str) -> Any:
        config = botocore.config.Config(retries={"total_max_attempts": 1}, max_pool_connections=32, proxies={})
        client = self._session.client(service, region_name=region, endpoint_url=self.endpoint, config=config)
        client.meta.events.register("before-sign.*.*", _name_account)
        if self._send:
            client.meta.events.register("before-send.*.*", self._send)
        return client


def _name_account(request: Any, **_: Any) -> None:
    request.headers[ACCOUNT_HEADER] = _ACCOUNT.get()


def _called(method: Callable[..., Any], parameters: Mapping[str, Any]) -> Any:
    """The answer, after as many attempts as the real provider makes."""
    for attempt in range(ATTEMPTS - 1):
        try:
            return method(**parameters)
        except botocore.exceptions.ClientError as error:
            code = error.response.get("Error", {}).get("Code")
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
            if (code not in _AGAIN and status not in _UNAVAILABLE) or cancelled():
                raise
        time.sleep(min(LONGEST_PAUSE, 0.5 * 2**attempt))
    return method(**parameters)


@dataclass(frozen=True)
class Aws:
    """One region of one account, as one provider instance sees it."""

    clients: Clients
    region: str
    account: str = DEFAULT_ACCOUNT
    default_tags: Mapping[str, str] = field(default_factory=dict)
    clusters: Clusters | None = None

    @property
    def partition(self) -> str:
        """The region's AWS partition, part of its ARNs."""
        return self.clients.partition(self.region)

    def at(self, region: str | None) -> Aws:
        """The same account in another region; resources of pulumi_aws 7 may name one."""
        return self if region in (None, self.region) else replace(self, region=region)

    def call(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        """Call AWS; `operation` as boto3 names it (`create_vpc`). Raises AwsError."""
        method = getattr(self.clients.get(service, self.region), operation)
        token = _ACCOUNT.set(self.account)
        try:
            answer = _called(method, parameters)
        except botocore.exceptions.ClientError as error:
            details = error.response.get("Error", {})
            name = f"{service} {operation}"
            raise AwsError(name, str(details.get("Code", "")), str(details.get("Message", ""))) from error
        except botocore.exceptions.ParamValidationError as error:
            name = f"{service} {operation}"
            raise AwsError(name, "InvalidParameter", str(error)) from error
        except botocore.exceptions.EndpointConnectionError as error:
            msg = f"the sandbox's AWS at {self.clients.endpoint} does not answer; restart the sandbox"
            raise ProviderError(msg) from error
        except Exception as error:
            # Moto runs in this process. The caller must know that AWS failed: what it made before is in the state then.
            name, msg = f"{service} {operation}", f"the sandbox's AWS failed: {type(error).__name__}: {error}"
            raise AwsError(name, FAULT, msg) from error
        finally:
            _ACCOUNT.reset(token)
        answer.pop("ResponseMetadata", None)
        return dict(answer)

    def input_shape(self, service: str, operation: str) -> StructureShape:
        """The shape of an operation's parameters."""
        meta = self.clients.get(service, self.region).meta
        shape: StructureShape = meta.service_model.operation_model(meta.method_to_api_mapping[operation]).input_shape
        return shape

    def names(self) -> dict[str, str]:
        """Names that templates of ids and ARNs may use."""
        return {"region": self.region, "account": self.account, "partition": self.partition}


# Credentials with which any AWS client uses a stack's account in the sandbox.
#
# Moto selects the account by a header that only our provider sends. A session issued by moto's STS identifies the
# account too, and every SDK and the AWS CLI can use one.

ROLE = "slipway-sandbox"
"""Name of the role in the session's ARN; moto does not require it to exist, so the account stays empty."""
DURATION_SECONDS = 12 * 3600
"""The maximum that AWS allows for a session (STS API Reference, AssumeRole)."""


def credentials(endpoint: str, account: str, region: str) -> dict[str, str]:
    """The environment variables for a session of an account.

    Args:
        endpoint: Address of the moto server.
        account: AWS account, 12 digits.
        region: Default AWS Region of clients.
    """
    return keys(Aws(Clients(endpoint), region, account))


def keys(aws: Aws) -> dict[str, str]:
    """The same, for an account and region."""
    answer = aws.call(
        "sts",
        "assume_role",
        RoleArn=f"arn:{aws.partition}:iam::{aws.account}:role/{ROLE}",
        RoleSessionName="shell",
        DurationSeconds=DURATION_SECONDS,
    )
    session = answer["Credentials"]
    return {
        "AWS_ACCESS_KEY_ID": session["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": session["SecretAccessKey"],
        "AWS_SESSION_TOKEN": session["SessionToken"],
        # boto3 and the AWS CLI read the first, other SDKs the second.
        "AWS_DEFAULT_REGION": aws.region,
        "AWS_REGION": aws.region,
    }


# The account and region of an `aws.Provider`, from its arguments.
#
# Credentials, profiles and roles are accepted and ignored: the sandbox serves whichever account the stack names.

_REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")


@dataclass(frozen=True)
class World:
    """What all provider instances share."""

    clients: Clients
    clusters: Clusters | None = None
    addons: ManagedAddons | None = None
    notes: Notes | None = None
    processes: Any = None
    """The Terraform providers that act on the account; by default, ones of the provider's own."""


def session(world: World, config: Mapping[str, Any]) -> Aws:
    """The account and region of one provider instance. Raises ProviderError with the AWS provider's message."""
    return Aws(
        world.clients,
        _region(config),
        _account(config),
        _default_tags(wire.nested(config.get("defaultTags"))),
        world.clusters,
    )


def _region(config: Mapping[str, Any]) -> str:
    named = [config.get("region"), *(os.environ.get(name) for name in _REGION_VARIABLES)]
    region = next((region for region in named if region), None)
    if not region:
        msg = (
            "missing region configuration: set it with `pulumi config set aws:region REGION`, as the argument `region` "
            "of aws.Provider, or as AWS_REGION when you start the sandbox"
        )
        raise ProviderError(msg)
    return str(region)


def _account(config: Mapping[str, Any]) -> str:
    """The first account that the stack allows. Refuses one that it forbids like the AWS provider."""
    allowed = [str(account) for account in wire.nested(config.get("allowedAccountIds")) or []]
    forbidden = [str(account) for account in wire.nested(config.get("forbiddenAccountIds")) or []]
    account = allowed[0] if allowed else DEFAULT_ACCOUNT
    if account in forbidden:
        msg = f"AWS account ID not allowed: {account}, by forbiddenAccountIds"
        raise ProviderError(msg)
    return account


def _default_tags(value: Any) -> dict[str, str]:
    tags = (value or {}).get("tags") or {}
    return {str(key): str(item) for key, item in tags.items()}
