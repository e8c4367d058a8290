"""A sample context for add-ons under test. Call `addon_context` inside `run`.

seen = seen_parts(lambda: Kueue(KueueSettings()))
seen = seen_parts(lambda: Kueue(KueueSettings()), pools={"a100": {"preset": "a100"}}, addons={"kueue": {}})
seen.values["kueue"], seen.objects["flavor-a100"], seen.recording.one(Release)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.addons.install import InstalledAddOn, InstalledAddOnArgs
from components.base.addon import AddOn, AddOnContext, Parts
from components.base.iam import PodRole
from components.base.outputs import BucketOutputs, DatabaseOutputs, EfsOutputs, LustreOutputs, StorageOutputs
from infra.facts import of_addons
from tests.components.pools.samples import platform
from tests.support.mocks import ACCOUNT, REGION, Recording, providers, run
from tests.support.outputs import cluster_outputs, network_outputs

PURPOSES: Final = ("raw", "checkpoints", "models", "state", "logs")
POOLS: Final[Mapping[str, Mapping[str, Any]]] = {
    "cpu": {"preset": "cpu"},
    "a100": {"preset": "a100", "role": "inference", "mig": {"layout": "all-1g.5gb"}},
    "h100": {"preset": "h100", "provisioner": "managed", "zones": [f"{REGION}b"], "efa": True, "dedicated": True},
    "gpu-spot": {"preset": "gpu-spot"},
}
"""One pool of every kind; `system` is added automatically."""


def storage_outputs() -> StorageOutputs:
    """Outputs of all storage; names are Outputs, like those from auto-naming."""
    out = pulumi.Output.from_input
    buckets = {
        purpose: BucketOutputs(name=out(f"slipway-test-{purpose}-0a1b2c3"), arn=out(f"arn:aws:s3:::slipway-{purpose}"))
        for purpose in PURPOSES
    }
    secret = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:rds!db-0a1b2c3d"
    return StorageOutputs(
        key_arn=out(f"arn:aws:kms:{REGION}:{ACCOUNT}:key/00000000-0000-4000-8000-000000000000"),
        buckets=buckets,
        efs=EfsOutputs(
            id=out("fs-0123456789abcdef0"),
            arn=out(f"arn:aws:elasticfilesystem:{REGION}:{ACCOUNT}:file-system/fs-0123456789abcdef0"),
            access_points={"datasets": out("fsap-0123456789abcdef0"), "models": out("fsap-0123456789abcdef1")},
            mount_role=PodRole(arn=out(f"arn:aws:iam::{ACCOUNT}:role/mounts"), name=out("mounts"), ready=()),
            ready=(),
        ),
        lustre=LustreOutputs(
            id=out("fs-0fedcba9876543210"),
            dns_name=out(f"fs-0fedcba9876543210.fsx.{REGION}.amazonaws.com"),
            mount_name=out("fsx"),
            capacity_gib=1200,
            zone=f"{REGION}b",
            ready=(),
        ),
        classes={"block": "gp3", "shared": "efs", "lustre": "lustre"},
        databases={
            name: DatabaseOutputs(host=out(f"{name}.example.internal"), port=port, name=name, secret_arn=out(secret))
            for name, port in {"mlflow": 5432, "pipelines": 3306}.items()
        },
        ready=(),
    )


def addon_context(
    opts: pulumi.ResourceOptions | None = None, *, pools: Mapping[str, Mapping[str, Any]] = POOLS, **parts: Any
) -> AddOnContext:
    """A context with these pools; `parts` are other settings of a stack file: `addons={"kueue": {}}`, `teams={...}`.

    Args:
        opts: Options with the providers, if the test declares its own resources.
        pools: Pools in stack file settings.
    """
    provider = _provider(opts)
    settings = platform(pools, **parts)
    system_node_groups = aws.eks.NodeGroup(
        "system-node-group",
        cluster_name="slipway-test",
        node_role_arn=f"arn:aws:iam::{ACCOUNT}:role/nodes",
        subnet_ids=["subnet-private-a"],
        scaling_config={"min_size": 2, "max_size": 3, "desired_size": 2},
        opts=pulumi.ResourceOptions(provider=provider),
    )
    return AddOnContext(
        **vars(of_addons(settings)),
        cluster=cluster_outputs(provider),
        network=network_outputs("abc"),
        storage=storage_outputs(),
        system_node_groups=[system_node_groups],
    )


@dataclass(frozen=True)
class Seen:
    """An add-on's parts as plain values, and its resources."""

    parts: Parts  # the result of `parts`
    values: Mapping[str, Any]  # values by release name, Outputs resolved
    before: Mapping[str, Any]  # manifests before the releases, by key
    objects: Mapping[str, Any]  # manifests after them, by key
    recording: Recording  # all resources


def seen_parts(
    addon: Callable[[], AddOn[Any]],
    *,
    pools: Mapping[str, Mapping[str, Any]] = POOLS,
    preview: bool = False,
    **parts: Any,
) -> Seen:
    """Install one add-on in a sample context; its requirements needn't be enabled."""
    returned: list[Parts] = []

    def build() -> dict[str, Any]:
        opts = pulumi.ResourceOptions(providers=providers())
        tested, context = addon(), addon_context(opts, pools=pools, **parts)
        declared = tested.parts(context)
        returned.append(declared)
        InstalledAddOn(tested.name, InstalledAddOnArgs(addon=tested, context=context, after=()), opts)
        return {
            "values": {chart.release_name: dict(chart.values) for chart in declared.releases},
            "before": {key: dict(manifest) for key, manifest in declared.before.items()},
            "objects": {key: dict(manifest) for key, manifest in declared.objects.items()},
        }

    recording = run(build, preview=preview)
    plain = recording.returned
    return Seen(
        parts=returned[0], values=plain["values"], before=plain["before"], objects=plain["objects"], recording=recording
    )


def _provider(opts: pulumi.ResourceOptions | None) -> pulumi.ProviderResource:
    listed = opts.providers if opts is not None else None
    first = listed[0] if isinstance(listed, list) and listed else providers()[0]
    assert isinstance(first, pulumi.ProviderResource)
    return first
