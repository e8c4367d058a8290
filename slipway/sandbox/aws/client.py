"""The one door to moto: every AWS call of the aws provider goes through `Aws.call`, and a fault can be put there.

Moto tells accounts apart by the header `x-moto-account-id`, so the sandbox is whichever account a stack names.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import boto3
import botocore.config
import botocore.exceptions
from botocore.model import StructureShape

from slipway.sandbox.ports import Clusters, NodeObserver
from slipway.sandbox.rpc.errors import ProviderError

if TYPE_CHECKING:
    from slipway.sandbox.aws.in_process import Send

DEFAULT_ACCOUNT = "123456789012"
ACCOUNT_HEADER = "x-moto-account-id"

_NOT_FOUND = re.compile(r"NotFound|NoSuch|NonExistent|DoesNotExist|^404$")


class AwsError(ProviderError):
    """An answer of AWS that is an error; `code` is AWS's, such as `InvalidVpcID.NotFound`."""

    def __init__(self, operation: str, code: str, message: str) -> None:
        super().__init__(f"{operation}: {code}: {message}")
        self.code = code

    @property
    def not_found(self) -> bool:
        """Whether AWS says that there is no such object."""
        # Auto Scaling has no code of its own for it.
        told = self.code == "ValidationError" and "not found" in str(self)
        return told or _NOT_FOUND.search(self.code) is not None


# The account of the call a thread is about to make. A client per account would cost up to half a second each instead.
_ACCOUNT: ContextVar[str] = ContextVar("account", default=DEFAULT_ACCOUNT)


class Clients:
    """boto3 clients of one moto server, made once per service and region.

    Args:
        endpoint: Address of the server.
        send: What answers in its place where the server is of this process (`in_process.send_to`).
    """

    def __init__(self, endpoint: str, send: Send | None = None) -> None:
        self.endpoint = endpoint
        self._send = send
        # Moto takes any credential; without one boto3 would look for a real one on this machine.
        self._session: Any = boto3.Session(aws_access_key_id="sandbox", aws_secret_access_key="sandbox")  # noqa: S106
        self._made: dict[tuple[str, str], Any] = {}
        # Making clients from several threads at once is not safe in botocore; using them is.
        self._lock = threading.Lock()

    def get(self, service: str, region: str) -> Any:
        """The client of a service in a region."""
        key = (service, region)
        with self._lock:
            if key not in self._made:
                self._made[key] = self._make(*key)
            return self._made[key]

    def partition(self, region: str) -> str:
        """The partition a region belongs to: aws, aws-cn, aws-us-gov."""
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


@dataclass(frozen=True)
class Aws:
    """One region of one account, as one provider instance sees it."""

    clients: Clients
    region: str
    account: str = DEFAULT_ACCOUNT
    default_tags: Mapping[str, str] = field(default_factory=dict)
    clusters: Clusters | None = None
    nodes: NodeObserver | None = None

    @property
    def partition(self) -> str:
        """AWS's partition of the region: ARNs begin with it."""
        return self.clients.partition(self.region)

    def at(self, region: str | None) -> Aws:
        """The same account in another region: resources of pulumi_aws 7 may name one."""
        return self if region in (None, self.region) else replace(self, region=region)

    def call(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        """Call AWS; `operation` as boto3 names it (`create_vpc`). Raises AwsError."""
        method = getattr(self.clients.get(service, self.region), operation)
        token = _ACCOUNT.set(self.account)
        try:
            answer = method(**parameters)
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
        """What templates of ids and ARNs may mention."""
        return {"region": self.region, "account": self.account, "partition": self.partition}
