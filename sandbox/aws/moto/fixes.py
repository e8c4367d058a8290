"""Right requests that moto 5.2.5 refuses, or fails at: what it is asked, or what it answers, is changed."""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import pydoc
import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.sax.saxutils import unescape

from moto import settings
from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.ec2.exceptions import FilterNotImplementedError
from moto.ec2.models.flow_logs import FlowLogsBackend
from moto.ec2.models.launch_templates import LaunchTemplate
from moto.ec2.models.security_groups import SecurityGroupRule
from moto.ec2.models.subnets import Subnet
from moto.ec2.models.vpcs import VPC
from moto.ec2.utils import add_tag_specification
from moto.efs import urls
from moto.efs.responses import EFSResponse
from moto.kms.models import KmsBackend
from moto.moto_api._internal import mock_random
from moto.rds.models import DBCluster, RDSBackend
from moto.s3.models import FakeBucket
from moto.sqs.models import Queue
from moto.ssm.models import Parameter

from sandbox.aws.rules.policies import admits, listed
from sandbox.aws.shapes import normal
from spec import strict_yaml


def install() -> None:
    """Put them in place. A second call does nothing."""
    for path, methods in strict_yaml.beside(__file__).items():
        for name, change in methods.items():
            _around(pydoc.locate(path), name, globals()[f"_{change}"])
    # Otherwise a certificate is issued after a minute.
    settings.ACM_VALIDATION_WAIT = -1
    cluster: Any = DBCluster
    cluster.default_allocated_storage = staticmethod(_grows(DBCluster.default_allocated_storage))
    bucket: Any = FakeBucket
    bucket._log_permissions_enabled_policy = staticmethod(_takes_logs)
    files: Any = EFSResponse
    files.update_file_system, files.update_file_system_protection = _with_throughput, _with_protection
    paths: dict[str, Any] = urls.url_paths
    paths["/2015-02-01/file-systems/<file_system_id>/protection"] = files.dispatch
    template: Any = LaunchTemplate
    # Those of today: moto describes the tags that it was made with.
    template.tags = property(LaunchTemplate.get_tags, lambda *_: None)
    _property(Subnet, "available_ip_address_count", _addresses)
    _property(Subnet, "ipv6_cidr_block_association_set", _of_states)
    _property(VPC, "ipv6_cidr_block_association_set", _of_groups)
    queue: Any = Queue
    # Which queues may have this one for their dead letters, which moto doesn't tell.
    queue.redrive_allow_policy = None
    queue.BASE_ATTRIBUTES = [*dict.fromkeys((*Queue.BASE_ATTRIBUTES, "RedriveAllowPolicy"))]
    _property(Queue, "attributes", _compact)
    alarms: Any = CloudWatchResponse
    # Its method takes the rule of a composite alarm, too, and only the operation is missing.
    alarms.put_composite_alarm = CloudWatchResponse.put_metric_alarm
    rule: Any = SecurityGroupRule
    rule.description = property(_description)


def _around(owner: Any, name: str, change: Callable[..., Any]) -> None:
    original = getattr(owner, name)
    if original.__module__ == __name__:
        return

    def method(self: Any, *args: Any, **more: Any) -> Any:
        return change(functools.partial(original, self), self, *args, **more)

    setattr(owner, name, method)


def _property(owner: Any, name: str, change: Callable[..., Any]) -> None:
    original = getattr(owner, name).fget
    if not isinstance(original, functools.partial):
        setattr(owner, name, property(functools.partial(change, original)))


def _by_key(original: Callable[..., Any], backend: KmsBackend, key_id: str, *args: Any) -> Any:
    """A key may be named by its ARN (KMS API Reference, KeyId): moto looks for it among IDs."""
    return original(backend.get_key_id(key_id), *args)


def _apart(original: Callable[..., Any], _: KmsBackend, *args: Any) -> Any:
    """A replica has aliases, grants and a role of its own (KMS Developer Guide, multi-region-keys-overview.html)."""
    made = original(*args)
    made.aliases, made.grants = {}, {}
    made.multi_region_configuration = copy.deepcopy(made.multi_region_configuration)
    return made


def _with_key(original: Callable[..., Any], response: Any) -> Any:
    """Which key is answered about, so that what was set of it is found (remembered.py)."""
    return ActionResult({**(json.loads(original()) or {}), "KeyId": response._get_param("KeyId")})


def _below_prefix(original: Callable[..., Any], _: FlowLogsBackend, *, log_destination: str | None, **more: Any) -> Any:
    """The destination may be a folder of a bucket (EC2 API Reference, CreateFlowLogs): moto takes it for a bucket."""
    bucket = log_destination
    if log_destination and ":s3:::" in log_destination:
        bucket = log_destination.partition("/")[0]
    made, unsuccessful = original(log_destination=bucket, **more)
    for one in made:
        one.log_destination = log_destination
    return made, unsuccessful


def _with_leases(original: Callable[..., Any], response: Any) -> Any:
    """Every option (EC2 API Reference, CreateDhcpOptions), of which moto knows five, and its tags."""
    answer = original()
    made = answer.result["DhcpOptions"]
    made._options |= {one["Key"]: one["Values"] for one in response.params["DhcpConfigurations"]}
    made.add_tags(add_tag_specification(response.params.get("TagSpecifications", [])))
    return answer


def _in_vpc(original: Callable[..., Any], response: Any) -> Any:
    """A zone that is made in a VPC is private, whether its configuration says so or not (Route 53 API Reference,
    CreateHostedZone): moto makes a public one."""
    if response._get_param("VPC.VPCId"):
        response.params["HostedZoneConfig"] = {**(response.params.get("HostedZoneConfig") or {}), "PrivateZone": True}
    return original()


def _with_tags(original: Callable[..., Any], response: Any, request: Any, name: str, query: Mapping[str, Any]) -> Any:
    """Tags with which a bucket is made (S3 API Reference, CreateBucketConfiguration)."""
    answer = original(request, name, query)
    found = (
        re.findall(r"<Tag><Key>(.*?)</Key><Value>(.*?)</Value></Tag>", str(request.data, "utf-8")) if not query else []
    )
    if found:
        response.backend.put_bucket_tagging(name, {unescape(key): unescape(value) for key, value in found})
    return answer


def _without_own_tags(
    original: Callable[..., Any], _: Any, name: str, description: str, data: dict[str, Any], tags: dict[str, Any]
) -> Any:
    """What a template is made of hasn't the template's own tags: moto adds them."""
    given = [one for one in data.get("TagSpecifications", []) if one["ResourceType"] != "launch-template"]
    return original(name, description, {**data, "TagSpecifications": given}, tags)


def _with_interface(original: Callable[..., Any], backend: Any, id: str) -> Any:
    """A NAT gateway is deleted with its interface, which else keeps its subnet."""
    gateway = original(id)
    backend.enis.pop(gateway._eni.id, None)
    return gateway


def _with_primary(original: Callable[..., Any], instance: Any) -> Any:
    """An instance ends with the interface that was made for it (EC2 User Guide, terminating-instances.html)."""
    for interface in instance.nics.values():
        interface.delete_on_termination |= interface.description == "Primary network interface"
    return original()


def _to_event_bridge(original: Callable[..., Any], response: Any) -> Any:
    """Whether events go to EventBridge, too (S3 API Reference, EventBridgeConfiguration), which moto doesn't tell."""
    status, headers, body = original()
    config, end = response.backend.get_bucket_notification_configuration(response.bucket_name), "</NotificationConfig"
    if config and config.event_bridge is not None:
        body = re.sub(r"<(Notif[^>]*?) ?/>", r"<\1></NotificationConfiguration>", body)
        body = body.replace(end, f"<EventBridgeConfiguration/>{end}")
    return status, headers, body


def _compact(original: Any, queue: Any) -> Any:
    """Documents are without blanks, as SQS answers them, and one that was taken away is not there: the provider waits
    for that."""
    found = original(queue).items()
    return {
        name: json.dumps(json.loads(one), separators=(",", ":")) if name == "RedrivePolicy" else one
        for name, one in found
        if one not in (None, "")
    }


def _grows(original: Callable[..., int]) -> Callable[..., int]:
    """The storage of Aurora grows by itself, whatever its type (Aurora User Guide, Aurora.Overview.StorageReliability):
    moto knows some types."""
    return lambda engine, storage_type: 1 if engine.startswith("aurora") else original(engine, storage_type)


def _with_checksum(original: Callable[..., Any], response: Any, *args: Any) -> Any:
    """A checksum names its algorithm (S3 User Guide, checking-object-integrity.html): moto asks for a header more."""
    environ, begin, own = (
        response.normalized_request.environ,
        "HTTP_X_AMZ_CHECKSUM_",
        "HTTP_X_AMZ_SDK_CHECKSUM_ALGORITHM",
    )
    for name in [one for one in environ if one.startswith(begin)]:
        environ.setdefault(own, name.removeprefix(begin))
    return original(*args)


def _of_its_own(original: Callable[..., Any], _: RDSBackend, *args: Any) -> Any:
    """A replica has a resource ID of its own: moto copies that of its source."""
    made = original(*args)
    _identified(lambda: None, made)
    return made


def _of_class(original: Callable[..., Any], response: Any) -> Any:
    """The class of a log group, which moto forgets."""
    answer, group = original(), response.logs_backend.groups[response._get_param("logGroupName")]
    group.slipway_class = response._get_param("logGroupClass")
    return answer


def _with_class(original: Callable[..., Any], group: Any) -> Any:
    """By default STANDARD (CloudWatch Logs API Reference, CreateLogGroup)."""
    return {**original(), "logGroupClass": getattr(group, "slipway_class", None) or "STANDARD"}


def _published(original: Callable[..., Any], _: Any, name: str) -> Any:
    """Images of EKS, Bottlerocket and others, which AWS publishes as parameters (EKS User Guide, retrieve-ami-id.html):
    moto has those of Amazon Linux and ECS. Which image is made up, the same one for a name."""
    found = original(name)
    if found is None and re.fullmatch("/aws/service/.+/image_id", name):
        image = f"ami-{hashlib.sha256(name.encode()).hexdigest()[:17]}"
        made: Any = Parameter
        found = made("", name, image, "String", None, None, None, utcnow(), 1, "aws:ec2:image")
    return found


def _with_statistic(original: Callable[..., Any], _: Any, *, extended_statistic: str | None, **more: Any) -> Any:
    """Trimmed means and others (CloudWatch User Guide, Statistics-definitions.html): moto has percentiles alone."""
    made = original(extended_statistic=extended_statistic and "p50", **more)
    made.extended_statistic = extended_statistic
    return made


def _in_default_group(original: Callable[..., Any], backend: Any, **more: Any) -> Any:
    """A mount target without groups is in the default group of its VPC (EFS API Reference, CreateMountTarget)."""
    subnets = {id: one for zone in backend.ec2_backend.subnets.values() for id, one in zone.items()}
    if not more.get("security_groups") and (subnet := subnets.get(more["subnet_id"])) is not None:
        more["security_groups"] = [backend.ec2_backend.get_default_security_group(subnet.vpc_id).id]
    return original(**more)


def _with_throughput(response: Any) -> Any:
    """The throughput of a file system, which moto has no operation to change."""
    one = response.efs_backend.file_systems_by_id[response._get_param("FileSystemId")]
    one.throughput_mode = response._get_param("ThroughputMode") or one.throughput_mode
    one.provisioned_throughput_in_mibps = response._get_param("ProvisionedThroughputInMibps")
    return json.dumps(one.info_json()), {"Content-Type": "application/json"}


def _with_protection(response: Any) -> Any:
    """Whether replication may overwrite a file system, which moto has no operation to change."""
    one, name = (
        response.efs_backend.file_systems_by_id[response._get_param("FileSystemId")],
        "ReplicationOverwriteProtection",
    )
    one.file_system_protection = {name: response._get_param(name)}
    return json.dumps(one.file_system_protection), {"Content-Type": "application/json"}


def _later(*_: Any) -> None:
    """Requests are logged within hours (S3 User Guide, ServerLogs.html), so not in a bucket about to be deleted."""


def _takes_logs(target_bucket: FakeBucket, target_prefix: str | None) -> bool:  # noqa: ARG001 - moto's names
    """The policy of a bucket may have lists for its principal and its resources: moto compares with one."""
    place = {"account": target_bucket.account_id, "region": target_bucket.region_name}
    return admits(target_bucket.policy, "logging.s3", "s3:PutObject", place)


def _without_conditions(original: Callable[..., Any], bucket: Any, *args: Any) -> Any:
    """A policy as if it had no statement with a condition: moto looks at none, so that one against plain HTTP forbids
    everything."""
    whole = bucket.policy
    if whole is None:
        return original(*args)
    document = json.loads(whole)
    statements = [one for one in document["Statement"] if isinstance(one, str) or "Condition" not in one]
    bucket.policy = json.dumps({**document, "Statement": statements}).encode()
    try:
        return original(*args)
    finally:
        bucket.policy = whole


def _of_user(original: Callable[..., Any], _: Any, parameters: Any) -> None:
    """Parameters that somebody set have that source (RDS API Reference, Parameter)."""
    original([{**one, "Source": "user"} for one in parameters])


def _remembered(original: Callable[..., Any], backend: Any, name: str, *args: Any) -> Any:
    """A subnet group that is modified is there still."""
    backend.subnet_groups[name] = original(name, *args)
    return backend.subnet_groups[name]


def _identified(original: Callable[..., Any], database: Any, *args: Any, **more: Any) -> None:
    """A database has a resource ID of its own: moto gives all the same."""
    original(*args, **more)
    database.dbi_resource_id = f"db-{mock_random.get_random_hex(26).upper()}"


def _description(rule: Any) -> str | None:
    """The description of a rule whose source is a group is the group's: moto looks at ranges alone."""
    found: str | None = rule.ip_range.get("Description") or rule.source_group.get("Description")
    return found


def _with_attributes(original: Callable[..., Any], response: Any) -> Any:
    """The names of instances (EC2 API Reference, ModifySubnetAttribute), of which moto knows one attribute."""
    answer, subnet = original(), response.ec2_backend.get_subnet(response._get_param("SubnetId"))
    for member, given in response.params.items():
        option = member.removeprefix("PrivateDns").removesuffix("OnLaunch")
        if option in subnet.private_dns_name_options_on_launch:
            value = given["Value"] if isinstance(given, Mapping) else given
            subnet.private_dns_name_options_on_launch[option] = value
    return answer


def _addresses(original: Any, subnet: Any) -> int:
    """The free addresses of IPv4, of which a subnet of IPv6 alone has none."""
    return 0 if subnet.ipv6_native else int(original(subnet))


def _of_states(original: Any, subnet: Any) -> list[Any]:
    """The state of a range is a text: moto has a structure in a structure."""
    return [{**one, "ipv6CidrBlockState": one["ipv6CidrBlockState"]["state"]} for one in original(subnet)]


def _of_groups(original: Any, vpc: Any) -> list[Any]:
    """The group of zones that a range of IPv6 is announced from, which moto has under another name."""
    name = "ipv6_cidr_block_network_border_group"
    return [{**one, "NetworkBorderGroup": one.get(name)} for one in original(vpc)]


def _of_every_port(original: Callable[..., Any], _: Any, *args: Any, **more: Any) -> None:
    """Of a protocol without ports, such as ESP, they are -1 (EC2 API Reference, IpPermission): moto fails at none."""
    backend, protocol, group, *ports = args[:5]
    original(backend, protocol, group, *(-1 if one is None else one for one in ports), *args[5:], **more)


def _with_policy(original: Callable[..., Any], queue: Any, attributes: Any, *args: Any) -> None:
    """The policy stays if it isn't named (SQS API Reference, SetQueueAttributes): moto clears it."""
    before = getattr(queue, "policy", None)
    original(attributes, *args)
    queue.policy = attributes.get("Policy", before)


def _by_member(original: Callable[..., Any], one: Any, name: str, method: str | None = None) -> Any:
    """A filter has the name of a member, or of one in another (EC2 API Reference, Describe*): moto knows some."""
    try:
        return original(name, method)
    except FilterNotImplementedError:
        found: list[Any] = [one]
        for part in name.split("."):
            names = {
                normal(each): each for owner in found for each in (owner if isinstance(owner, dict) else dir(owner))
            }
            member: Any = names.get(normal(part.replace("-", "")))
            if found and member is None:
                raise
            owners = [owner[member] if isinstance(owner, dict) else getattr(owner, member) for owner in found]
            found = [each for value in owners for each in _items(value)]
        return found


def _items(value: Any) -> list[Any]:
    """What is below a member: moto has some lists as maps by ID."""
    of_maps = isinstance(value, dict) and all(isinstance(each, dict) for each in value.values())
    return list(value.values()) if of_maps else listed(value)


def _with_sources(original: Callable[..., Any], backend: Any, group_id: str, rules: Any) -> None:
    """Sources that moto doesn't change: other kinds than ranges of IPv4. A rule of every protocol has no ports."""
    ports = {"FromPort": -1, "ToPort": -1}
    original(group_id, {id: {**(ports if new.get("IpProtocol") == "-1" else {}), **new} for id, new in rules.items()})
    group = backend.get_security_group_from_id(group_id)
    for id, new in rules.items():
        rule = group.get_rule(id)
        if "ReferencedGroupId" in new:
            rule.source_group = {"GroupId": new["ReferencedGroupId"], "UserId": backend.account_id}
        rule.ip_range |= {name: new[name] for name in ("CidrIpv6",) if name in new}
        rule.prefix_list_id = new.get("PrefixListId", rule.prefix_list_id)
