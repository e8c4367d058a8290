"""AWS resources that controllers of a cluster made, found by the tags that they set, and removed.

- load balancers, target groups and their security groups: `elbv2.k8s.aws/cluster` (AWS Load Balancer Controller)
- classic load balancers and theirs: `kubernetes.io/cluster/NAME: owned` (cloud-provider-aws, pkg/providers/v1/tags.go)
- instances of Karpenter: the same, and `karpenter.sh/nodepool` (Karpenter v1.14, NodeClasses, `spec.naming`)
- launch templates of Karpenter: `karpenter.k8s.aws/cluster` (the same page)
- volumes: `kubernetes.io/cluster/NAME: owned` or `ebs.csi.aws.com/cluster-name` (aws-ebs-csi-driver, docs/tagging.md)
- network interfaces: `cluster.k8s.amazonaws.com/name` (amazon-vpc-cni-k8s, README, `CLUSTER_NAME`)
- the log group of the control plane has no tag: EKS's service-linked role makes it again, without retention, if the
  control plane writes once more after its deletion (terraform-aws-modules/terraform-aws-eks#2763)

Read 2026-11.

A key that waits for its deletion decrypts nothing; cancelled, it is disabled, and enabled again it is as before (KMS
Developer Guide, "Key states of AWS KMS keys"; read 2026-11).
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import botocore.exceptions

from spec import naming
from spec.pools.keys import NODE_POOL

Client = Callable[[str], Any]  # a boto3 client of a service, in the stack's region
CLAIM: Final = "kubernetes.io/created-for/pvc/name"
_FILTER: Final = 200
"""Values of one filter of EC2 (EC2 User Guide, "List and filter using the CLI and API", read 2026-11)."""
_BATCH: Final = 20
"""Load balancers and target groups whose tags one call describes (botocore 1.44.5, elbv2 and elb DescribeTags)."""


@dataclass(frozen=True)
class LeftoverSearch:
    """Where to look."""

    client: Client  # clients of AWS
    cluster: str
    volumes: frozenset[str] = frozenset()  # IDs of volumes that belong to it, whatever their tags


@dataclass(frozen=True)
class Leftover:
    """One resource: its kind in words, its ID or ARN, and the name by which a user knows it."""

    kind: str
    id: str
    name: str = ""
    gib: int = field(default=0, compare=False)  # size of a volume

    def __str__(self) -> str:
        more = ", ".join(filter(None, (self.name, f"{self.gib} GiB" * bool(self.gib))))
        return f"{self.kind} {self.id}" + (f" ({more})" if more else "")


INSTANCE: Final = "instance"
BALANCER: Final = "load balancer"
CLASSIC: Final = "classic load balancer"
TARGETS: Final = "target group"
INTERFACE: Final = "network interface"
GROUP: Final = "security group"
VOLUME: Final = "volume"
TEMPLATE: Final = "launch template"
LOGS: Final = "log group"
ORDER: Final = (INSTANCE, BALANCER, CLASSIC, TARGETS, INTERFACE, GROUP, VOLUME, TEMPLATE, LOGS)
"""The order of removal: users of a resource before the resource."""
IN_THE_WAY: Final = frozenset({BALANCER, CLASSIC, TARGETS, INTERFACE, GROUP})
"""Kinds that keep a VPC from being deleted, and that hold no data."""


def find(search: LeftoverSearch) -> list[Leftover]:
    """All of them, in the order of removal."""
    client, cluster = search.client, search.cluster
    ec2 = client("ec2")
    found = [
        *_of_ec2(ec2, cluster),
        *_volumes(ec2, cluster, search.volumes),
        *_balancers(client("elbv2"), cluster),
        *_classic(client("elb"), cluster),
        *_logs(client("logs"), cluster),
    ]
    return sorted(found, key=lambda each: (ORDER.index(each.kind), each.id))


def remove(client: Client, leftover: Leftover) -> None:
    """Request its removal; raises botocore's ClientError, as long as something still uses it."""
    ec2, elb, key = client("ec2"), client("elbv2"), leftover.id
    calls: Mapping[str, Callable[[], Any]] = {
        INSTANCE: lambda: ec2.terminate_instances(InstanceIds=[key]),
        BALANCER: lambda: elb.delete_load_balancer(LoadBalancerArn=key),
        CLASSIC: lambda: client("elb").delete_load_balancer(LoadBalancerName=key),
        TARGETS: lambda: elb.delete_target_group(TargetGroupArn=key),
        INTERFACE: lambda: ec2.delete_network_interface(NetworkInterfaceId=key),
        GROUP: lambda: ec2.delete_security_group(GroupId=key),
        VOLUME: lambda: ec2.delete_volume(VolumeId=key),
        TEMPLATE: lambda: ec2.delete_launch_template(LaunchTemplateId=key),
        LOGS: lambda: client("logs").delete_log_group(logGroupName=key),
    }
    calls[leftover.kind]()


def _of_ec2(ec2: Any, cluster: str) -> Iterator[Leftover]:
    owned = {"Name": f"tag:kubernetes.io/cluster/{cluster}", "Values": ["owned"]}
    alive = {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped"]}
    pooled = {"Name": "tag-key", "Values": [NODE_POOL]}
    for reservation in _pages(ec2, "describe_instances", "Reservations", Filters=[owned, alive, pooled]):
        for one in reservation["Instances"]:
            yield Leftover(INSTANCE, one["InstanceId"], _tags(one)[NODE_POOL])
    named = {"Name": "tag:cluster.k8s.amazonaws.com/name", "Values": [cluster]}
    for one in _pages(ec2, "describe_network_interfaces", "NetworkInterfaces", Filters=[named]):
        # An interface in use goes with its instance.
        if one["Status"] == "available":
            yield Leftover(INTERFACE, one["NetworkInterfaceId"], one.get("Description", ""))
    made = {"Name": "tag:elbv2.k8s.aws/cluster", "Values": [cluster]}
    groups = {
        one["GroupId"]: one
        for chosen in (made, owned)
        for one in _pages(ec2, "describe_security_groups", "SecurityGroups", Filters=[chosen])
    }
    for key, one in groups.items():
        # EKS deletes its own group with the cluster.
        if "aws:eks:cluster-name" not in _tags(one):
            yield Leftover(GROUP, key, one["GroupName"])
    launched = {"Name": "tag:karpenter.k8s.aws/cluster", "Values": [cluster]}
    for one in _pages(ec2, "describe_launch_templates", "LaunchTemplates", Filters=[launched]):
        yield Leftover(TEMPLATE, one["LaunchTemplateId"], one["LaunchTemplateName"])


def _volumes(ec2: Any, cluster: str, known: Collection[str]) -> Iterator[Leftover]:
    claimed = {"Name": "tag-key", "Values": [CLAIM]}
    owned = {"Name": f"tag:kubernetes.io/cluster/{cluster}", "Values": ["owned"]}
    scoped = {"Name": "tag:ebs.csi.aws.com/cluster-name", "Values": [cluster]}
    by_id = [[{"Name": "volume-id", "Values": batch}] for batch in _batches(known, _FILTER)]
    volumes = {
        one["VolumeId"]: one
        for filters in ([owned, claimed], [scoped, claimed], *by_id)
        for one in _pages(ec2, "describe_volumes", "Volumes", Filters=filters)
    }
    for key, one in volumes.items():
        tags = _tags(one)
        claim = f"{tags.get('kubernetes.io/created-for/pvc/namespace', '')}/{tags[CLAIM]}" if CLAIM in tags else ""
        yield Leftover(VOLUME, key, claim, one["Size"])


def _balancers(elb: Any, cluster: str) -> Iterator[Leftover]:
    for kind, operation, key, arn, name in (
        (BALANCER, "describe_load_balancers", "LoadBalancers", "LoadBalancerArn", "LoadBalancerName"),
        (TARGETS, "describe_target_groups", "TargetGroups", "TargetGroupArn", "TargetGroupName"),
    ):
        names = {one[arn]: one[name] for one in _pages(elb, operation, key)}
        for batch in _batches(list(names)):
            for one in elb.describe_tags(ResourceArns=batch)["TagDescriptions"]:
                if _ours(_tags(one), cluster):
                    yield Leftover(kind, one["ResourceArn"], names[one["ResourceArn"]])


def _classic(elb: Any, cluster: str) -> Iterator[Leftover]:
    names = [one["LoadBalancerName"] for one in _pages(elb, "describe_load_balancers", "LoadBalancerDescriptions")]
    for batch in _batches(names):
        for one in elb.describe_tags(LoadBalancerNames=batch)["TagDescriptions"]:
            tags = _tags(one)
            if _ours(tags, cluster):
                yield Leftover(CLASSIC, one["LoadBalancerName"], tags.get("kubernetes.io/service-name", ""))


def _logs(logs: Any, cluster: str) -> Iterator[Leftover]:
    name = naming.control_plane_logs(cluster)
    for one in _pages(logs, "describe_log_groups", "logGroups", logGroupNamePrefix=name):
        # A program's own has a retention.
        if one["logGroupName"] == name and "retentionInDays" not in one:
            yield Leftover(LOGS, name, "made again by EKS")


def _ours(tags: Mapping[str, str], cluster: str) -> bool:
    return tags.get("elbv2.k8s.aws/cluster") == cluster or tags.get(f"kubernetes.io/cluster/{cluster}") == "owned"


def _pages(client: Any, operation: str, key: str, **arguments: Any) -> Iterator[Any]:
    for page in client.get_paginator(operation).paginate(**arguments):
        yield from page[key]


def _tags(resource: Mapping[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in resource.get("Tags") or ()}


def _batches(names: Collection[str], size: int = _BATCH) -> Iterator[list[str]]:
    every = sorted(names)
    for start in range(0, len(every), size):
        yield every[start : start + size]


# KMS keys that a destroy has scheduled for deletion, and that encrypt volumes which are left.


PENDING = "PendingDeletion"


def warnings(client: Client, left: list[Leftover]) -> list[str]:
    """One line for each such key: until when its volumes can be saved, and how."""
    volumes = [one.id for one in left if one.kind == VOLUME]
    if not volumes:
        return []
    found = client("ec2").describe_volumes(VolumeIds=volumes)["Volumes"]
    keys = Counter(one["KmsKeyId"] for one in found if one.get("KmsKeyId"))
    return [line for key, count in sorted(keys.items()) for line in _line(client("kms"), key, count)]


def _line(kms: Any, key: str, count: int) -> Iterator[str]:
    described = kms.describe_key(KeyId=key)["KeyMetadata"]
    if described["KeyState"] != PENDING:
        return
    end: datetime = described["DeletionDate"]
    id = described["KeyId"]
    yield (
        f"{count} of the volumes can't be read after {end:%Y-%m-%d}, when their key is deleted. To keep it: "
        f"aws kms cancel-key-deletion --key-id {id} && aws kms enable-key --key-id {id}"
    )


def clear_directories(client: Client, stack: str, say: Callable[[str], None]) -> None:
    """Empty the stack's buckets that have nothing but the directories of its teams: S3 deletes no bucket with an object
    in it, and these stay when a team goes. A bucket with a file in it stays as it is."""
    s3 = client("s3")
    for name in (one["Name"] for one in s3.list_buckets()["Buckets"]):
        page = s3.list_object_versions(Bucket=name) if name.startswith(f"{naming.PROJECT}-{stack}-storage-") else {}
        versions = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
        # With more than a page of them there are files.
        if versions and not page["IsTruncated"] and all(_is_directory(one) for one in versions):
            say(f"emptying bucket {name}, which has directories of teams and no files")
            for one in versions:
                s3.delete_object(Bucket=name, Key=one["Key"], VersionId=one["VersionId"])


def _is_directory(version: Mapping[str, Any]) -> bool:
    return str(version["Key"]).endswith("/") and not version.get("Size")


# Removing what `leftovers` finds, with the patience that AWS needs: a load balancer's interfaces go minutes later.


POLL: Final = 15.0
PATIENCE: Final = 600.0
"""Seconds. Interfaces of a deleted load balancer remain for some minutes, and keep its security groups."""


def sweep(
    search: LeftoverSearch,
    wanted: Callable[[Leftover], bool],
    say: Callable[[str], None],
    *,
    seconds: float = PATIENCE,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> list[Leftover]:
    """Remove the wanted leftovers, again until they are gone; all that remains, wanted or not.

    Args:
        search: Where to look.
        wanted: Which of them to remove.
        say: Reports each removal once.
    """
    began = clock()
    said: set[Leftover] = set()
    while True:
        left = find(search)
        chosen = [one for one in left if wanted(one)]
        for one in chosen:
            if one not in said:
                say(f"removing {one}")
                said.add(one)
            try:
                remove(search.client, one)
            except botocore.exceptions.ClientError as error:
                if clock() - began >= seconds:
                    say(f"{one} stays: {error}")
        if not chosen or clock() - began >= seconds:
            return find(search) if chosen else left
        sleep(POLL)
