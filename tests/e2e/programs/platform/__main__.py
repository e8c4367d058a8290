"""A cluster in the account's default network, a key and a secret."""

import json

import pulumi
import pulumi_aws as aws


def trusting(service: str) -> str:
    """A trust policy."""
    statement = {"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sts:AssumeRole"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


network = aws.ec2.get_vpc(default=True)
subnets = aws.ec2.get_subnets(filters=[{"name": "vpc-id", "values": [network.id]}]).ids[:2]
control_plane = aws.iam.Role("control-plane", name="lab-control-plane", assume_role_policy=trusting("eks"))
policy = aws.iam.get_policy(name="AmazonEKSClusterPolicy")
attached = aws.iam.RolePolicyAttachment("control-plane", role=control_plane.name, policy_arn=policy.arn)
cluster = aws.eks.Cluster(
    "lab",
    name="lab",
    role_arn=control_plane.arn,
    vpc_config=aws.eks.ClusterVpcConfigArgs(subnet_ids=subnets),
    opts=pulumi.ResourceOptions(depends_on=[attached]),
)
aws.eks.NodeGroup(
    "nodes",
    cluster_name=cluster.name,
    node_role_arn=aws.iam.Role("node", assume_role_policy=trusting("ec2")).arn,
    subnet_ids=subnets,
    scaling_config=aws.eks.NodeGroupScalingConfigArgs(min_size=1, desired_size=1, max_size=2),
)
key = aws.kms.Key("data")
aws.kms.Alias("data", name="alias/lab-data", target_key_id=key.id)
secret = aws.secretsmanager.Secret("database", name="lab/database", recovery_window_in_days=0)
aws.secretsmanager.SecretVersion("database", secret_id=secret.id, secret_string=json.dumps({"user": "app"}))
aws.ssm.Parameter("size", name="/lab/size", type="String", value="2")
aws.route53.Zone("example", name="example.com", force_destroy=True)
