"""A pool and a team of their own on the cluster of stack dev, by its outputs."""

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from components.base.outputs import Cluster
from components.composition.team_queue import QueuedTeam, QueuedTeamArgs
from components.pools.gpu import GpuNodePool, GpuNodePoolArgs

dev = pulumi.StackReference("organization/slipway/dev")
cluster = Cluster(name="slipway-dev", account_id="111122223333", region="us-east-1", version="1.35")
providers = [
    aws.Provider("aws", region=cluster.region),
    kubernetes.Provider("dev", kubeconfig=dev.require_output("kubeconfig")),
]
opts = pulumi.ResourceOptions(providers=providers)
pool = GpuNodePool(
    "l4",
    GpuNodePoolArgs(
        cluster=cluster,
        settings={"preset": "gpu-spot", "max": 2},
        subnets={"us-east-1a": dev.require_output("privateSubnetIds").apply(lambda ids: ids["us-east-1a"])},
        instance_profile=dev.require_output("instanceProfile"),
        volume_key=dev.require_output("keyArn"),
    ),
    opts,
)
shares = {"project": "tests", "costCenter": "ml", "gpus": {"l4": {"nominalQuota": 2}}}
team = QueuedTeam("tests", QueuedTeamArgs(cluster=cluster, pools=[pool.spec], settings=shares), opts)
pulumi.export("others", dev.require_output("teams"))
pulumi.export("network", dev.require_output("vpcId"))
