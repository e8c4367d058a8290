"""Which changes replace an object is known of every type of the stacks, and is as in the provider's source."""

from typing import Any

import pytest

from sandbox.aws import replacement
from tests.support import stacks

VPC = "aws:ec2/vpc:Vpc"


def test_no_type_of_the_stacks_is_without_an_answer() -> None:
    used = {one.type for name in stacks.NAMES for one in stacks.recorded(name) if one.type.startswith("aws:")}
    assert sorted(token for token in used if not replacement.known(token)) == []


@pytest.mark.parametrize(
    ("type_token", "name", "replaces"),
    [
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", "monitorDimension", True),
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", "monitorSpecification", True),
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", "monitorType", True),
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", "name", False),
        ("aws:costexplorer/anomalySubscription:AnomalySubscription", "name", True),
        ("aws:costexplorer/anomalySubscription:AnomalySubscription", "frequency", False),
        ("aws:costexplorer/costAllocationTag:CostAllocationTag", "tagKey", True),
        ("aws:costexplorer/costAllocationTag:CostAllocationTag", "status", False),
        ("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "ecrRepositoryPrefix", True),
        ("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "credentialArn", False),
        ("aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate", "prefix", True),
        ("aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate", "description", False),
        ("aws:efs/backupPolicy:BackupPolicy", "fileSystemId", True),
        ("aws:efs/backupPolicy:BackupPolicy", "backupPolicy", False),
        ("aws:s3/bucketLogging:BucketLogging", "bucket", True),
        ("aws:s3/bucketLogging:BucketLogging", "targetPrefix", False),
        ("aws:s3/bucketObjectv2:BucketObjectv2", "key", True),
        ("aws:s3/bucketObjectv2:BucketObjectv2", "content", False),
    ],
)
def test_what_replaces_an_object(type_token: str, name: str, replaces: bool) -> None:
    assert replacement.forces_new(type_token, (name,), {name: "a"}, {name: "b"}) is replaces


@pytest.mark.parametrize(
    ("old", "new", "replaces"),
    [("dedicated", "default", False), ("dedicated", None, False), ("default", "dedicated", True)],
)
def test_a_vpc_becomes_default_in_place(old: str, new: str | None, replaces: bool) -> None:
    olds: dict[str, Any] = {"instanceTenancy": old}
    news = {} if new is None else {"instanceTenancy": new}
    assert replacement.forces_new(VPC, ("instanceTenancy",), olds, news) is replaces
