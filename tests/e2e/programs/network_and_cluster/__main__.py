"""A VPC with public subnets in each zone, a cluster in it, and a node group: what Pulumi's example aws-py-eks declares
(pulumi/examples, read 2026-11), with a Deployment on the nodes."""

import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

settings = pulumi.Config()


def role(name: str, service: str, *policies: str) -> aws.iam.Role:
    """A role that a service assumes."""
    trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": service}}
    made = aws.iam.Role(name, assume_role_policy=json.dumps({"Version": "2012-10-17", "Statement": [trust]}))
    for policy in policies:
        aws.iam.RolePolicyAttachment(f"{name}-{policy}", role=made.name, policy_arn=f"arn:aws:iam::aws:policy/{policy}")
    return made


def kubeconfig(endpoint: str, authority: str, name: str) -> str:
    """With the AWS CLI for a token, as `aws eks update-kubeconfig` writes it."""
    token = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": ["eks", "get-token", "--cluster-name", name],
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": endpoint, "certificate-authority-data": authority}}],
            "users": [{"name": name, "user": {"exec": token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
    )


vpc = aws.ec2.Vpc("vpc", cidr_block="10.42.0.0/16", enable_dns_hostnames=True, enable_dns_support=True)
gateway = aws.ec2.InternetGateway("gateway", vpc_id=vpc.id)
routes = aws.ec2.RouteTable("routes", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "gateway_id": gateway.id}])
subnets = []
for number, zone in enumerate(aws.get_availability_zones().names):
    subnet = aws.ec2.Subnet(
        f"subnet-{zone}",
        vpc_id=vpc.id,
        availability_zone=zone,
        cidr_block=f"10.42.{number}.0/24",
        map_public_ip_on_launch=True,
    )
    aws.ec2.RouteTableAssociation(f"routes-{zone}", route_table_id=routes.id, subnet_id=subnet.id)
    subnets.append(subnet.id)
group = aws.ec2.SecurityGroup(
    "group",
    vpc_id=vpc.id,
    ingress=[
        {"cidr_blocks": ["0.0.0.0/0"], "from_port": port, "to_port": port, "protocol": "tcp"} for port in (80, 443)
    ],
)
cluster = aws.eks.Cluster(
    "cluster",
    name="network-and-cluster",
    role_arn=role("control", "eks.amazonaws.com", "AmazonEKSClusterPolicy").arn,
    vpc_config={"public_access_cidrs": ["0.0.0.0/0"], "security_group_ids": [group.id], "subnet_ids": subnets},
)
of_nodes = ("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly")
nodes = aws.eks.NodeGroup(
    "nodes",
    cluster_name=cluster.name,
    node_group_name="workers",
    node_role_arn=role("nodes", "ec2.amazonaws.com", *of_nodes).arn,
    subnet_ids=subnets,
    scaling_config={"desired_size": settings.require_int("nodes"), "min_size": 1, "max_size": 4},
)
provider = kubernetes.Provider(
    "cluster",
    kubeconfig=pulumi.Output.all(cluster.endpoint, cluster.certificate_authority, cluster.name).apply(
        lambda found: kubeconfig(found[0], found[1]["data"], found[2])
    ),
)
kubernetes.apps.v1.Deployment(
    "web",
    metadata={"name": "web", "namespace": "default"},
    spec={
        "replicas": 2,
        "selector": {"match_labels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx:1.29.0"}]},
        },
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[nodes]),
)
# A type that nothing emulates.
aws.ec2.PlacementGroup("near", strategy="cluster")
pulumi.export("cluster", cluster.name)
pulumi.export("password", settings.require("password"))
