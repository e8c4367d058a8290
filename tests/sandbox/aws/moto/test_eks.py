"""The operations of EKS that are added to moto, as boto3 and the AWS CLI see them: over HTTP."""

from typing import Any

import pytest

from sandbox.aws.client import Aws, AwsError, Clients
from sandbox.aws.moto import clusters
from sandbox.aws.moto.server import MotoServer
from tests.sandbox.aws.samples import World

PRINCIPAL = "arn:aws:iam::123456789012:role/path/admin"
POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"


@pytest.fixture(scope="module")
def aws(moto: MotoServer) -> Aws:
    return Aws(Clients(moto.endpoint), "us-west-2", "200000000001")


@pytest.fixture
def cluster(aws: Aws) -> str:
    return World(aws).cluster()


def code(aws: Aws, operation: str, **parameters: Any) -> str:
    with pytest.raises(AwsError) as raised:
        aws.call("eks", operation, **parameters)
    return raised.value.code


def test_an_addon_owns_its_associations(aws: Aws, cluster: str) -> None:
    names = {"clusterName": cluster, "addonName": "vpc-cni"}
    role = {"serviceAccount": "aws-node", "roleArn": PRINCIPAL}
    addon = aws.call("eks", "create_addon", **names, podIdentityAssociations=[role])["addon"]
    assert addon["status"] == "ACTIVE"
    made = aws.call("eks", "list_pod_identity_associations", clusterName=cluster)["associations"]
    assert [one["associationArn"] for one in made] == addon["podIdentityAssociations"]
    assert (made[0]["namespace"], made[0]["ownerArn"]) == ("kube-system", addon["addonArn"])
    again = {"clusterName": cluster, "namespace": "kube-system", **role}
    assert code(aws, "create_pod_identity_association", **again) == "ResourceInUseException"
    assert aws.call("eks", "list_addons", clusterName=cluster)["addons"] == ["vpc-cni"]
    aws.call("eks", "delete_addon", **names)
    assert aws.call("eks", "list_pod_identity_associations", clusterName=cluster)["associations"] == []
    assert code(aws, "describe_addon", **names) == "ResourceNotFoundException"


def test_an_addon_whose_association_exists_is_not_created(aws: Aws, cluster: str) -> None:
    role = {"serviceAccount": "aws-node", "roleArn": PRINCIPAL}
    aws.call("eks", "create_pod_identity_association", clusterName=cluster, namespace="kube-system", **role)
    names = {"clusterName": cluster, "addonName": "vpc-cni"}
    other = {"serviceAccount": "other", "roleArn": PRINCIPAL}
    refused = code(aws, "create_addon", **names, podIdentityAssociations=[other, role])
    assert refused == "ResourceInUseException"
    assert aws.call("eks", "list_addons", clusterName=cluster)["addons"] == []
    assert len(aws.call("eks", "list_pod_identity_associations", clusterName=cluster)["associations"]) == 1


def test_an_access_entry_takes_its_policies_with_it(aws: Aws, cluster: str) -> None:
    """A principal's ARN contains slashes, and is a part of the address."""
    names = {"clusterName": cluster, "principalArn": PRINCIPAL}
    scope = {"accessScope": {"type": "cluster"}, "policyArn": POLICY}
    assert code(aws, "associate_access_policy", **names, **scope) == "ResourceNotFoundException"
    entry = aws.call("eks", "create_access_entry", **names)["accessEntry"]
    assert (entry["type"], entry["username"]) == ("STANDARD", PRINCIPAL)
    assert code(aws, "create_access_entry", **names) == "ResourceInUseException"
    aws.call("eks", "associate_access_policy", **names, **scope)
    listed = aws.call("eks", "list_associated_access_policies", **names)["associatedAccessPolicies"]
    assert [one["policyArn"] for one in listed] == [POLICY]
    aws.call("eks", "disassociate_access_policy", **names, policyArn=POLICY)
    assert code(aws, "disassociate_access_policy", **names, policyArn=POLICY) == "ResourceNotFoundException"
    aws.call("eks", "associate_access_policy", **names, **scope)
    aws.call("eks", "delete_access_entry", **names)
    aws.call("eks", "create_access_entry", **names)
    assert aws.call("eks", "list_associated_access_policies", **names)["associatedAccessPolicies"] == []
    assert aws.call("eks", "list_access_entries", clusterName=cluster)["accessEntries"] == [PRINCIPAL]


def test_the_entry_of_a_nodes_role_has_no_policies(aws: Aws, cluster: str) -> None:
    names = {"clusterName": cluster, "principalArn": PRINCIPAL}
    aws.call("eks", "create_access_entry", **names, type="EC2_LINUX")
    scope = {"accessScope": {"type": "cluster"}, "policyArn": POLICY}
    assert code(aws, "associate_access_policy", **names, **scope) == "InvalidRequestException"


def test_a_cluster_of_the_config_map_has_no_access_entries_until_its_mode_is_changed(aws: Aws) -> None:
    world = World(aws)
    inputs = {"roleArn": world.role()["arn"], "vpcConfig": {"subnetIds": world.subnets()}}
    name, outputs = world.make("aws:eks/cluster:Cluster", name=world.unique("old"), **inputs)
    names = {"clusterName": name, "principalArn": PRINCIPAL}
    assert code(aws, "create_access_entry", **names) == "InvalidRequestException"
    changed = {**inputs, "name": name, "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"}}
    world.objects("aws:eks/cluster:Cluster").update(name, outputs, changed, inputs)
    aws.call("eks", "create_access_entry", **names)


def test_tags_of_a_cluster_and_of_what_it_contains(aws: Aws, cluster: str) -> None:
    addon = aws.call("eks", "create_addon", clusterName=cluster, addonName="coredns", tags={"a": "1"})["addon"]
    plane = aws.call("eks", "describe_cluster", name=cluster)["cluster"]
    for arn in (addon["addonArn"], plane["arn"]):
        aws.call("eks", "tag_resource", resourceArn=arn, tags={"b": "2", "c": "3", "d": "4"})
        aws.call("eks", "untag_resource", resourceArn=arn, tagKeys=["c", "d"])
        aws.call("eks", "untag_resource", resourceArn=arn, tagKeys=["a"])
        assert aws.call("eks", "list_tags_for_resource", resourceArn=arn)["tags"] == {"b": "2"}


def test_accounts_and_regions_are_separate_and_a_cluster_takes_its_contents_with_it(aws: Aws, cluster: str) -> None:
    aws.call("eks", "create_addon", clusterName=cluster, addonName="coredns")
    for other in (Aws(aws.clients, "us-west-2", "200000000002"), aws.at("eu-west-1")):
        assert code(other, "describe_addon", clusterName=cluster, addonName="coredns") == "ResourceNotFoundException"
    plane = aws.call("eks", "describe_cluster", name=cluster)["cluster"]
    aws.call("eks", "delete_cluster", name=cluster)
    aws.call(
        "eks", "create_cluster", name=cluster, roleArn=plane["roleArn"],
        resourcesVpcConfig={"subnetIds": plane["resourcesVpcConfig"]["subnetIds"]},
    )  # fmt: skip
    assert aws.call("eks", "list_addons", clusterName=cluster)["addons"] == []


def test_installing_again_changes_nothing() -> None:
    from moto.eks import urls  # noqa: PLC0415 - moto reads the environment at import

    before = dict(urls.url_paths)
    clusters.install()
    assert list(urls.url_paths) == list(before)
