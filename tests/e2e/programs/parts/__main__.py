"""A pool with its software, volume claims and cost guards on a cluster that another tool made."""

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from components.addons.gpu_software import GpuSoftware, GpuSoftwareArgs
from components.base.outputs import Cluster
from components.composition.alone import CostGuards, CostGuardsArgs
from components.pools.gpu import GpuNodePool, GpuNodePoolArgs
from components.storage.claims import ClaimArgs, ModelStorage, ModelStorageArgs

cluster = Cluster(name="slipway-parts", account_id="777788880003", region="us-east-1", version="1.35")
cloud = aws.Provider("aws", region=cluster.region, allowed_account_ids=[cluster.account_id])
opts = pulumi.ResourceOptions(providers=[cloud, kubernetes.Provider("inside", context=cluster.name)])
shared = {"preset": "gpu-spot", "sharing": {"mode": "time-slicing", "replicas": 4}, "max": 2}
pool = GpuNodePoolArgs(
    cluster=cluster, settings=shared, subnets={"us-east-1a": "subnet-0a1b"}, instance_profile="nodes", scheduled=True
)
l4 = GpuNodePool("l4", pool, opts)
GpuSoftware("gpus", GpuSoftwareArgs(cluster=cluster, pools=[l4.spec]), opts)
models = aws.s3.Bucket("models", opts=opts)
claims = {"models": ClaimArgs(bucket=models.bucket, prefix="llm/"), "checkpoints": ClaimArgs(storage_class="gp2")}
ModelStorage("llm", ModelStorageArgs(cluster=cluster, namespace="default", claims=claims), opts)
nights = {"stop": "0 20 * * *", "start": "0 7 * * MON-FRI", "pools": ["l4"], "notebooks": True}
cost = {"monthlyBudgetUsd": 5000, "idleGpus": {"after": "3h"}, "schedules": {"nights": nights}}
to = {"emails": ["ml-platform@example.com"]}
guards = CostGuardsArgs(cluster=cluster, settings=cost, notifications=to, pools=[l4.spec], namespaces=["default"])
CostGuards("guards", guards, opts)
