"""A cluster with an OpenID Connect provider and three managed node groups, in a component: what pulumi-eks' example
managed-nodegroups-py ends up with (pulumi/pulumi-eks, read 2026-11), and a GPU group whose taint a pod tolerates."""

import json
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

GROUPS: dict[str, dict[str, Any]] = {
    "simple": {},
    "labelled": {
        "disk_size": 20,
        "instance_types": ["t3.large"],
        "labels": {"ondemand": "true"},
        "tags": {"org": "lab"},
    },
    "gpu": {
        "instance_types": ["g6.xlarge"],
        "ami_type": "AL2023_x86_64_NVIDIA",
        "capacity_type": "SPOT",
        "taints": [{"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"}],
    },
}


class Cluster(pulumi.ComponentResource):
    """A cluster, who may use it, and its node groups."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("lab:eks:Cluster", name, None, opts)
        own = pulumi.ResourceOptions(parent=self)
        subnets = self._subnets(name)
        made = aws.eks.Cluster(
            name,
            role_arn=self._role(f"{name}-control", "eks.amazonaws.com").arn,
            version=pulumi.Config().get("version") or "1.34",
            access_config={"authentication_mode": "API"},
            vpc_config={"subnet_ids": subnets},
            opts=own,
        )
        aws.iam.OpenIdConnectProvider(
            name, client_id_lists=["sts.amazonaws.com"], url=made.identities[0].oidcs[0].issuer, opts=own
        )
        self.groups = [
            aws.eks.NodeGroup(
                f"{name}-{key}",
                cluster_name=made.name,
                node_group_name=key,
                node_role_arn=self._role(f"{name}-{key}", "ec2.amazonaws.com").arn,
                subnet_ids=subnets,
                scaling_config={"desired_size": 1, "min_size": 0, "max_size": 2},
                opts=own,
                **more,
            )
            for key, more in GROUPS.items()
        ]
        self.name, self.endpoint, self.authority = made.name, made.endpoint, made.certificate_authority
        self.register_outputs({"name": made.name})

    def _subnets(self, name: str) -> list[pulumi.Output[str]]:
        own = pulumi.ResourceOptions(parent=self)
        vpc = aws.ec2.Vpc(name, cidr_block="10.43.0.0/16", opts=own)
        zones = aws.get_availability_zones(state="available").names[:2]
        return [
            aws.ec2.Subnet(
                f"{name}-{number}", vpc_id=vpc.id, availability_zone=zone, cidr_block=f"10.43.{number}.0/24", opts=own
            ).id
            for number, zone in enumerate(zones)
        ]

    def _role(self, name: str, service: str) -> aws.iam.Role:
        trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": service}}
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        return aws.iam.Role(name, assume_role_policy=document, opts=pulumi.ResourceOptions(parent=self))


cluster = Cluster("lab")
token = {
    "apiVersion": "client.authentication.k8s.io/v1beta1",
    "command": "aws",
    "args": ["eks", "get-token", "--cluster-name", "lab"],
}
provider = kubernetes.Provider(
    "lab",
    kubeconfig=pulumi.Output.json_dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "lab",
                    "cluster": {"server": cluster.endpoint, "certificate-authority-data": cluster.authority.data},
                }
            ],
            "users": [
                {"name": "lab", "user": {"exec": {**token, "args": ["eks", "get-token", "--cluster-name", "lab"]}}}
            ],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
            "current-context": "lab",
        }
    ),
)
kubernetes.batch.v1.Job(
    "train",
    metadata={"name": "train", "namespace": "default"},
    spec={
        "template": {
            "spec": {
                "restart_policy": "Never",
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                "containers": [
                    {"name": "train", "image": "python:3.13", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
                ],
            }
        }
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=cluster.groups),
)
pulumi.export("cluster", cluster.name)
