"""Mistakes of placement end `up` with the reason: one change of the real program for each."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from sandbox.kubernetes.controllers import table
from tests.e2e.world import World, some_charts

pytestmark = pytest.mark.sandbox

CHARTS: Final = ("jobset", "cert-manager", "opencost", "kubeflow-trainer", "gpu-operator")
"""With templates, of those that stack dev installs; the other releases are only recorded."""
MUTATIONS: Final = """
import copy

from pulumi_kubernetes.core.v1 import ResourceQuota

WRONG = {
    # The toleration of another pool.
    "jobset-release": {"controller.nodeSelector": {"platform.slipway/pool": "a100"}},
    "cert-manager-release": {"resources.requests.cpu": "500"},
    "opencost-release": {"serviceAccount": {"create": False, "name": "nobody"}},
    # Without a strategy the chart renders a null, which server-side apply refuses.
    "gpu-operator-release": {"node-feature-discovery.worker.tolerations": [], "mig.strategy": "single"},
}

# Helm would wait for the pods, remove the release, and end the run at the first of them with its reason; here the run
# has to come to its summary. `atomic` waits whatever `skip_await` says.
NO_WAIT = {"atomic": False, "cleanup_on_fail": False, "skip_await": True}


def wrong(args):
    if args.type_ != "kubernetes:helm.sh/v3:Release":
        return None
    if args.name == "trainer-kubeflow-trainer":
        quota = ResourceQuota(
            "small",
            metadata={"name": "small", "namespace": args.props["namespace"]},
            spec={"hard": {"pods": "0"}},
            opts=pulumi.ResourceOptions(parent=args.opts.parent, depends_on=args.opts.depends_on),
        )
        after = pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(depends_on=[quota]))
        return pulumi.ResourceTransformationResult({**args.props, **NO_WAIT}, after)
    if args.name not in WRONG:
        return None
    values = copy.deepcopy(args.props["values"])
    for path, value in WRONG[args.name].items():
        *above, last = path.split(".")
        inner = values
        for key in above:
            inner = inner.setdefault(key, {})
        inner[last] = value
    return pulumi.ResourceTransformationResult({**args.props, "values": values, **NO_WAIT}, args.opts)


pulumi.runtime.register_stack_transformation(wrong)
"""
BEFORE: Final = "def _declare()"


@pytest.fixture(scope="module")
def summary(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The end of an `up` of stack dev with all mutations."""
    directory = tmp_path_factory.mktemp("placement")
    charts = some_charts(shared, CHARTS, directory / "charts")
    # With the controllers of add-ons, the run ends at the webhook of one whose pods the quota refuses, as on AWS.
    world = replace(World.make(directory, charts), more={table.VARIABLE: table.NONE})
    world.edit("infra/__main__.py", BEFORE, f"{MUTATIONS}\n\n{BEFORE}")
    try:
        output = world.succeed("up", "dev", "--sandbox")
        yield output[output.index("Pods: ") :]
    finally:
        world.run("sandbox", "stop")


@pytest.mark.parametrize(
    ("owner", "reason"),
    [
        ("  1  Deployment jobset-system/", "node(s) had untolerated taint(s)"),
        ("  1  Deployment cert-manager/cert-manager:", "Insufficient cpu"),
        ("  1  Deployment opencost/", 'serviceaccount "nobody" not found'),
        ("  1  Deployment kubeflow-system/", "exceeded quota: small"),
        ("  DaemonSet gpu-operator/", "no pod on nodes of a100, gpu-spot, h100: it does not tolerate"),
    ],
)
def test_the_summary_says_which_pods_are_missing_and_why(summary: str, owner: str, reason: str) -> None:
    (line,) = [line for line in summary.splitlines() if line.startswith(owner)]
    assert reason in line


def test_all_other_pods_run(summary: str) -> None:
    rows = summary.split("\n\n", maxsplit=1)[0].splitlines()
    assert sum(line.startswith("  1  ") for line in rows) == 4
