"""Right requests that moto 5.2.5 refuses, or fails at: what it is asked, or what it answers, is changed."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, Final

from moto.ec2.models.flow_logs import FlowLogsBackend
from moto.kms.models import KmsBackend
from moto.route53.responses import Route53
from moto.s3.models import FakeBucket

from sandbox.aws.rules.policies import admits

_BY_KEY: Final = ("schedule_key_deletion", "cancel_key_deletion", "enable_key", "disable_key")
"""Operations of KMS that take the ARN of a key too (KMS API Reference, KeyId): moto looks for it among IDs."""


def install() -> None:
    """Put them in place. A second call does nothing."""
    for name in _BY_KEY:
        _around(KmsBackend, name, _by_key)
    _around(FlowLogsBackend, "create_flow_logs", _below_prefix)
    _around(Route53, "create_hosted_zone", _in_vpc)
    bucket: Any = FakeBucket
    bucket._log_permissions_enabled_policy = staticmethod(_takes_logs)


def _around(owner: Any, name: str, change: Callable[..., Any]) -> None:
    original = getattr(owner, name)
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def method(self: Any, *args: Any, **more: Any) -> Any:
        return change(functools.partial(original, self), self, *args, **more)

    setattr(owner, name, method)


def _by_key(original: Callable[..., Any], backend: KmsBackend, key_id: str, *args: Any) -> Any:
    return original(backend.get_key_id(key_id), *args)


def _below_prefix(original: Callable[..., Any], _: FlowLogsBackend, *, log_destination: str | None, **more: Any) -> Any:
    """The destination may be a folder of a bucket (EC2 API Reference, CreateFlowLogs): moto takes it for a bucket."""
    bucket = log_destination
    if log_destination and ":s3:::" in log_destination:
        bucket = log_destination.partition("/")[0]
    made, unsuccessful = original(log_destination=bucket, **more)
    for one in made:
        one.log_destination = log_destination
    return made, unsuccessful


def _in_vpc(original: Callable[..., Any], response: Any) -> Any:
    """A zone that is made in a VPC is private, whether its configuration says so or not (Route 53 API Reference,
    CreateHostedZone): moto makes a public one."""
    if response._get_param("VPC.VPCId"):
        response.params["HostedZoneConfig"] = {**(response.params.get("HostedZoneConfig") or {}), "PrivateZone": True}
    return original()


def _takes_logs(target_bucket: FakeBucket, target_prefix: str | None) -> bool:  # noqa: ARG001 - moto's names
    """The policy of a bucket may have lists for its principal and its resources: moto compares with one."""
    place = {"account": target_bucket.account_id, "region": target_bucket.region_name}
    document = json.loads(target_bucket.policy or "{}")
    return admits(document, "logging.s3", "s3:PutObject", place)
