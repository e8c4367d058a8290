"""What every machine has, whether its template is EC2's or Karpenter's: metadata service, addresses, disks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.access import Node
from policies.levels import Levels
from policies.resource import Resource
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation
from policies.tokens import INSTANCE, LAUNCH_CONFIGURATION, LAUNCH_TEMPLATE, NODE_CLASS, VOLUME

_TYPES: Final = (LAUNCH_TEMPLATE, NODE_CLASS)


def _body(machine: Resource) -> Node:
    return machine["spec"] if machine.type == NODE_CLASS else machine.props


def _tokens(machine: Resource, _: Context) -> Iterator[Violation]:
    tokens = _body(machine)["metadataOptions"]["httpTokens"]
    if tokens.is_not("required"):
        yield violation(tokens)


IMDSV2 = ResourceRule(
    name="node-imdsv2-required",
    title="The metadata service answers only to session tokens",
    types=_TYPES,
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Without a token, any program that can be made to fetch a URL gives away the node's credentials.",
    fix="Set httpTokens: required in the metadata options of the template.",
    checks={
        "tokens": Check(
            asks="must be 'required'",
            find=_tokens,
            external_ids=("CKV_AWS_79", "AVD-AWS-0130"),
        )
    },
)


def _hops(machine: Resource, context: Context) -> Iterator[Violation]:
    hops = _body(machine)["metadataOptions"]["httpPutResponseHopLimit"]
    number = hops.number()
    if hops.missing or (number is not None and number > context.settings["maximumHops"]):
        yield violation(hops)


HOP_LIMIT = ResourceRule(
    name="node-imds-hop-limit",
    title="The metadata service is out of a pod's reach",
    types=_TYPES,
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="With two hops, every pod can take the node's role (EKS Best Practices, Identity and Access Management).",
    fix="Set httpPutResponseHopLimit: 1 and give the pod a role by EKS Pod Identity.",
    settings={
        "maximumHops": Setting(
            asks="hops that an answer of the metadata service may travel",
            schema={"type": "integer", "minimum": 1, "maximum": 64},
            values=everywhere(1),
        )
    },
    checks={
        "hops": Check(
            asks="must be 1",
            find=_hops,
            external_ids=("CKV_AWS_341",),
        )
    },
)


def _public_address(machine: Resource, _: Context) -> Iterator[Violation]:
    if machine.type == NODE_CLASS:
        flags = [machine["spec"]["associatePublicIPAddress"]]
    elif machine.type == LAUNCH_TEMPLATE:
        flags = [interface["associatePublicIpAddress"] for interface in machine["networkInterfaces"].items()]
    else:
        flags = []
    yield from (violation(flag) for flag in flags if flag.is_true(default=False))


def _bare(machine: Resource, _: Context) -> Iterator[Violation]:
    if machine.type in {INSTANCE, LAUNCH_CONFIGURATION}:
        yield Violation(path="", got=f"an {machine.type.rpartition(':')[2]}")


NO_PUBLIC_IP = ResourceRule(
    name="node-no-public-ip",
    title="No machine has a public address, and none stands outside a node pool",
    types=(*_TYPES, INSTANCE, LAUNCH_CONFIGURATION),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A node with a public address is one security group away from the internet.",
    fix="Leave out the public address, and make machines by a pool of the stack file.",
    checks={
        "address": Check(
            asks="must be false",
            find=_public_address,
            external_ids=("CKV_AWS_88", "CIS-5.4.3"),
        ),
        "pool": Check(
            asks="must belong to a pool",
            find=_bare,
            external_ids=("CKV_AWS_126", "CKV_AWS_135", "CKV2_AWS_41"),
        ),
    },
)


def _volumes(machine: Resource) -> list[Node]:
    if machine.type == VOLUME:
        return [machine.props]
    disks = [mapping["ebs"] for mapping in _body(machine)["blockDeviceMappings"].items()]
    return [disk for disk in disks if not disk.missing]


def _plain_disk(machine: Resource, _: Context) -> Iterator[Violation]:
    yield from (violation(ebs["encrypted"]) for ebs in _volumes(machine) if ebs["encrypted"].is_false(default=False))


def _no_disk(machine: Resource, _: Context) -> Iterator[Violation]:
    """Without a mapping the AMI's own is used, which is not encrypted."""
    mappings = _body(machine)["blockDeviceMappings"]
    if machine.type != VOLUME and (mappings.missing or (mappings.known and not mappings.items())):
        yield violation(mappings)


def _aws_key(machine: Resource, _: Context) -> Iterator[Violation]:
    key = "kmsKeyID" if machine.type == NODE_CLASS else "kmsKeyId"
    yield from (violation(ebs[key]) for ebs in _volumes(machine) if ebs[key].missing)


def _old_disk(machine: Resource, _: Context) -> Iterator[Violation]:
    key = "type" if machine.type == VOLUME else "volumeType"
    yield from (violation(ebs[key]) for ebs in _volumes(machine) if ebs[key].is_not("gp3"))


EBS_ENCRYPTED = ResourceRule(
    name="node-ebs-encrypted-cmk",
    title="Disks are gp3, encrypted with a key of the stack's own",
    types=(*_TYPES, VOLUME),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Images, logs and scratch data of every team are on them, and a key of one's own can be taken away.",
    fix="Set encrypted, a KMS key and volumeType: gp3 for every volume of the template.",
    checks={
        "mapped": Check(
            asks="must describe the root volume",
            find=_no_disk,
        ),
        "encrypted": Check(
            asks="must be true",
            find=_plain_disk,
            external_ids=("CKV_AWS_3", "CKV_AWS_8", "CKV2_AWS_2", "AVD-AWS-0026"),
        ),
        "key": Check(
            asks="must be a KMS key",
            find=_aws_key,
            external_ids=("CKV_AWS_189", "AVD-AWS-0027"),
        ),
        "type": Check(
            asks="must be 'gp3'",
            find=_old_disk,
        ),
    },
)

RULES = (IMDSV2, HOP_LIMIT, NO_PUBLIC_IP, EBS_ENCRYPTED)
