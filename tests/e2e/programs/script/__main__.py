"""A cluster with boto3 alone: made, changed and deleted."""

import json
from typing import Any

import boto3

NAME = "script"


def main() -> None:
    """Print what is there after each step."""
    ec2, eks = boto3.client("ec2"), boto3.client("eks")
    trust = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": ["eks.amazonaws.com", "ec2.amazonaws.com"]},
    }
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    role = boto3.client("iam").create_role(RoleName=NAME, AssumeRolePolicyDocument=document)["Role"]["Arn"]
    vpc = ec2.create_vpc(CidrBlock="10.44.0.0/16")["Vpc"]["VpcId"]
    zones = [zone["ZoneName"] for zone in ec2.describe_availability_zones()["AvailabilityZones"][:2]]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.44.{number}.0/24", AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for number, zone in enumerate(zones)
    ]
    eks.create_cluster(name=NAME, version="1.34", roleArn=role, resourcesVpcConfig={"subnetIds": subnets})
    eks.get_waiter("cluster_active").wait(name=NAME)
    group: dict[str, Any] = {"clusterName": NAME, "nodegroupName": "workers"}
    scaling = {"minSize": 1, "maxSize": 3, "desiredSize": 1}
    eks.create_nodegroup(**group, nodeRole=role, subnets=subnets, scalingConfig=scaling, instanceTypes=["m7i.xlarge"])
    eks.get_waiter("nodegroup_active").wait(**group)
    cluster = eks.describe_cluster(name=NAME)["cluster"]
    print("made", cluster["endpoint"], cluster["version"])
    eks.update_nodegroup_config(**group, scalingConfig={"desiredSize": 2})
    eks.update_cluster_version(name=NAME, version="1.35")
    eks.get_waiter("cluster_active").wait(name=NAME)
    eks.get_waiter("nodegroup_active").wait(**group)
    print("changed", eks.describe_cluster(name=NAME)["cluster"]["version"])
    eks.delete_nodegroup(**group)
    eks.get_waiter("nodegroup_deleted").wait(**group)
    eks.delete_cluster(name=NAME)
    eks.get_waiter("cluster_deleted").wait(name=NAME)
    print("deleted", eks.list_clusters()["clusters"])


if __name__ == "__main__":
    main()
