"""Launch templates and EC2NodeClasses: metadata service, public addresses and volumes."""

from collections.abc import Callable, Iterator
from math import inf
from typing import Final

from policies.checks.questions import at_most, is_in
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import INSTANCE, LAUNCH_CONFIGURATION, LAUNCH_TEMPLATE, NODE_CLASS, VOLUME
from policies.rule import Context, ResourceRule, Violation, setting, violation

_TEMPLATES: Final = (LAUNCH_TEMPLATE, NODE_CLASS)
_SINGLE: Final = (INSTANCE, LAUNCH_CONFIGURATION)
"""Instances and their forerunners of launch templates: no pool has them, and each is refused for that alone."""
_TYPES: Final = (*_TEMPLATES, *_SINGLE)


def _body(machine: Resource) -> Node:
    return machine["spec"] if machine.type == NODE_CLASS else machine.props


def _option(key: str) -> Callable[[Resource], Node]:
    return lambda machine: _body(machine)["metadataOptions"][key]


IMDSV2 = ResourceRule(
    name="node-imdsv2-required",
    types=_TYPES,
    finds={"tokens": is_in(_option("httpTokens"), "required")},
)


HOP_LIMIT = ResourceRule(
    name="node-imds-hop-limit",
    types=_TYPES,
    settings={"maximumHops": setting("maximum hops of a response of the metadata service", 1, minimum=1, maximum=64)},
    finds={"hops": at_most(_option("httpPutResponseHopLimit"), "maximumHops", default=inf)},
)


def _public_address(machine: Resource, _: Context) -> Iterator[Violation]:
    if machine.type == NODE_CLASS:
        flags = [machine["spec"]["associatePublicIPAddress"]]
    elif machine.type == LAUNCH_TEMPLATE:
        flags = [interface["associatePublicIpAddress"] for interface in machine["networkInterfaces"].items()]
    else:
        flags = [machine["associatePublicIpAddress"]]
    yield from (violation(flag) for flag in flags if flag.is_true(default=False))


def _bare(machine: Resource, _: Context) -> Iterator[Violation]:
    if machine.type in _SINGLE:
        yield Violation(path="", got=f"an {machine.type.rpartition(':')[2]}")


NO_PUBLIC_IP = ResourceRule(
    name="node-no-public-ip",
    types=_TYPES,
    finds={
        "address": _public_address,
        "pool": _bare,
    },
)


def _volumes(machine: Resource) -> list[Node]:
    if machine.type == VOLUME:
        return [machine.props]
    if machine.type in _SINGLE:
        disks = [machine["rootBlockDevice"], *machine["ebsBlockDevices"].items()]
    else:
        disks = [mapping["ebs"] for mapping in _body(machine)["blockDeviceMappings"].items()]
    return [disk for disk in disks if not disk.missing]


def _plain_disk(machine: Resource, _: Context) -> Iterator[Violation]:
    yield from (violation(ebs["encrypted"]) for ebs in _volumes(machine) if ebs["encrypted"].is_false(default=False))


def _no_disk(machine: Resource, _: Context) -> Iterator[Violation]:
    """Without a mapping, the AMI's own mapping applies, which is not encrypted."""
    if machine.type in _SINGLE and machine["rootBlockDevice"].missing:
        yield violation(machine["rootBlockDevice"])
    elif machine.type in _TEMPLATES:
        mappings = _body(machine)["blockDeviceMappings"]
        if mappings.missing or (mappings.known and not mappings.items()):
            yield violation(mappings)


def _aws_key(machine: Resource, _: Context) -> Iterator[Violation]:
    """The volumes of a launch configuration take no key (ec2, CreateLaunchConfiguration)."""
    if machine.type == LAUNCH_CONFIGURATION:
        return
    key = "kmsKeyID" if machine.type == NODE_CLASS else "kmsKeyId"
    yield from (violation(ebs[key]) for ebs in _volumes(machine) if ebs[key].missing)


def _old_disk(machine: Resource, _: Context) -> Iterator[Violation]:
    key = "type" if machine.type == VOLUME else "volumeType"
    yield from (violation(ebs[key]) for ebs in _volumes(machine) if ebs[key].is_not("gp3"))


EBS_ENCRYPTED = ResourceRule(
    name="node-ebs-encrypted-cmk",
    types=(*_TYPES, VOLUME),
    finds={
        "mapped": _no_disk,
        "encrypted": _plain_disk,
        "key": _aws_key,
        "type": _old_disk,
    },
)
