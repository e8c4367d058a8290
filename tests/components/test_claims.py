"""GPUs by claims of devices: what the platform makes of a pool with `gpuAllocation: dra`, and who counts a claim."""

from dataclasses import replace
from typing import Any, Final

import pytest
import yaml

from components.addons.dra_driver import DraDriver
from components.addons.gpu_operator import GpuOperator
from components.addons.kueue import Kueue
from components.admission import StackContext, rules
from components.queues import by_topology, cluster_queue
from components.tenancy.namespace import manifests
from components.workloads.checks.fit import need
from components.workloads.target import Target
from infra.facts import of_teams
from slipway.verify.checks import Observed, of_probe
from slipway.verify.probes import of_pools
from slipway.why.file import findings
from slipway.why.judge import as_served, denied
from spec.catalog import lifecycle
from spec.pools import resolve_all
from spec.settings import load
from spec.settings.addons.batch import Kueue as KueueSettings
from spec.settings.addons.gpu import DraDriver as DraSettings
from spec.settings.addons.gpu import GpuOperator as GpuSettings
from spec.settings.queues import Queues
from tests.components.admission import samples as make
from tests.components.admission.samples import GPU, GPU_TAINT, POOL, Object, pool_taint
from tests.components.admission.upstream import CLAIMED, PARTED, POOL_NAME, ROWS, SAYS, claims_of, workload_of
from tests.components.pools.samples import platform
from tests.spec.settings.stack import BASE
from tests.support.context import seen_parts
from tests.support.day import TODAY

PARTS: Final[dict[str, Any]] = {"cluster": {"version": "1.36"}, "addons": {"draDriver": {}, "kueue": {}}}
PLUGGED: Final = {**CLAIMED, "gpuAllocation": "device-plugin"}
BOTH: Final[dict[str, Any]] = {POOL_NAME: CLAIMED, "plugged": PLUGGED, "cpu": {"preset": "cpu"}}
TEAMS: Final = {
    "vision": {
        "project": "perception",
        "costCenter": "ml-vision",
        "namespaces": {"training": {"purpose": "training"}},
        "gpus": {POOL_NAME: {"nominalQuota": 6}, "plugged": {"nominalQuota": 3}},
    }
}
PLATFORM: Final = platform(BOTH, teams=TEAMS, **PARTS)
POOLS: Final = resolve_all(PLATFORM)
CONTEXT: Final = StackContext(
    pools=POOLS, queues=True, max_replicas=100, prices={name: {GPU: 1000} for name in (POOL_NAME, "plugged")}
)
TARGET: Final = Target(pools=POOLS, namespace="vision-training", job_usd=100)


def refused(manifest: Object, context: StackContext = CONTEXT) -> dict[str, str]:
    """Messages of the rules that refuse an object, by rule."""
    found = {}
    for rule in rules(context):
        if any(each.kind == manifest["kind"] for each in rule.kinds):
            found[rule.name] = denied(rule, as_served(manifest, TARGET), TARGET)
    return {name: text for name, text in found.items() if text is not None}


def claiming(*templates: str, pool: str = POOL_NAME, **more: Any) -> Object:
    claims = [{"name": f"c{at}", "resourceClaimTemplateName": name} for at, name in enumerate(templates)]
    tolerations = [pool_taint(pool), GPU_TAINT]
    return make.spec(nodeSelector={POOL: pool}, tolerations=tolerations, resourceClaims=claims, **more)


def test_no_device_plugin_tolerates_nodes_with_claims_and_the_driver_runs_on_no_others() -> None:
    spec, other = POOLS[POOL_NAME], POOLS["plugged"]
    assert spec.labels["platform.slipway/gpu-allocation"] == "dra"
    assert "platform.slipway/gpu-allocation" not in other.labels
    assert "k8s.amazonaws.com/accelerator" in other.labels
    assert "k8s.amazonaws.com/accelerator" not in spec.labels
    plugin = seen_parts(lambda: GpuOperator(GpuSettings()), pools=BOTH, **PARTS).values["gpu-operator"]
    driver = seen_parts(lambda: DraDriver(DraSettings()), pools=BOTH, **PARTS).values["dra-driver-nvidia-gpu"]
    for values, name in ((plugin["daemonsets"], "plugged"), (driver["kubeletPlugin"], POOL_NAME)):
        assert [each["value"] for each in values["tolerations"] if each["key"] == POOL] == [name]
    assert driver["kubeletPlugin"]["nodeSelector"] == {"platform.slipway/gpu-allocation": "dra"}
    assert driver["gpuResourcesEnabledOverride"] is True
    assert seen_parts(lambda: DraDriver(DraSettings()), pools={"cpu": BOTH["cpu"]}).parts.releases == ()


SMALL: Final = "nvidia.com/mig-1g.5gb"


def test_mig_instances_are_requested_and_no_claim_gets_one() -> None:
    shares = {"parts": {"nominalQuota": 8}}
    settings = platform({"parts": PARTED}, teams={"vision": {**TEAMS["vision"], "gpus": shares}}, **PARTS)
    pools = resolve_all(settings)
    assert dict(pools["parts"].resources) == {SMALL: 16, "nvidia.com/mig-2g.10gb": 8, "nvidia.com/mig-3g.20gb": 8}
    seen = seen_parts(lambda: DraDriver(DraSettings()), pools={"parts": PARTED}, **PARTS)
    assert seen.parts.objects["mig-1g.5gb.nvidia.com"]["spec"]["extendedResourceName"] == SMALL
    queue = seen_parts(lambda: Kueue(KueueSettings()), pools={"parts": PARTED}, **PARTS).values["kueue"]
    mapped = yaml.safe_load(queue["managerConfig"]["controllerManagerConfigYaml"])["resources"]["deviceClassMappings"]
    assert {"name": SMALL, "deviceClassNames": ["mig-1g.5gb.nvidia.com"]} in mapped
    found = dict(manifests("vision-training", "vision", settings.teams["vision"], of_teams(settings)))
    hard = found["quota"]["spec"]["hard"]
    assert (hard[f"requests.{SMALL}"], hard["gpu.nvidia.com.deviceclass.resource.k8s.io/devices"]) == ("16", "0")
    assert [name for name in found if name.startswith("claim-")] == []
    context = replace(CONTEXT, pools=pools, prices={"parts": {SMALL: 500}})
    tolerations = [pool_taint("parts"), GPU_TAINT]
    asks = make.spec(make.gpus(1, SMALL), nodeSelector={POOL: "parts"}, tolerations=tolerations)
    assert refused(make.job(asks), context) == {}
    # Half a dollar an hour: 200 hours are the bound of the team, counted in whole dollars.
    assert "job-cost" in refused(make.job(asks, activeDeadlineSeconds=203 * 3600), context)
    offer = refused(make.job(claiming("gpu-1", pool="parts")), context)["gpu-pool"]
    assert "by claims" not in offer
    why = findings(make.job(claiming("gpu-1", pool="parts")), replace(TARGET, pools=pools), ())
    says = [one.problem.rule for one in why]
    assert any("no pool of the stack allocates" in text for text in says), says


def test_a_queue_counts_claims_and_requests_as_one_resource() -> None:
    def configured(pools: dict[str, Any]) -> Any:
        seen = seen_parts(lambda: Kueue(KueueSettings()), pools=pools, **PARTS)
        return yaml.safe_load(seen.values["kueue"]["managerConfig"]["controllerManagerConfigYaml"])["resources"]

    mapped = configured(BOTH)["deviceClassMappings"]
    assert mapped == [{"name": GPU, "deviceClassNames": ["gpu.nvidia.com"]}]
    assert "deviceClassMappings" not in configured({"plugged": PLUGGED})
    (group,) = cluster_queue("vision", PLATFORM.teams["vision"], POOLS, Queues())["spec"]["resourceGroups"]
    assert GPU in group["coveredResources"]
    assert "gpu.nvidia.com" not in group["coveredResources"]


def test_a_namespace_has_a_quota_of_the_class_and_a_template_for_each_size() -> None:
    found = dict(manifests("vision-training", "vision", PLATFORM.teams["vision"], of_teams(PLATFORM)))
    hard = found["quota"]["spec"]["hard"]
    # Requests are of both pools, claims of one.
    assert (hard[f"requests.{GPU}"], hard["gpu.nvidia.com.deviceclass.resource.k8s.io/devices"]) == ("9", "6")
    assert "count/resourceclaims.resource.k8s.io" not in hard
    assert [name for name in found if name.startswith("claim-")] == ["claim-1", "claim-2", "claim-4"]
    for count in (1, 2, 4):
        template = dict(found[f"claim-{count}"])
        assert template["metadata"]["name"] == f"gpu-{count}"
        assert refused(template) == {}


def test_a_split_of_costs_that_sees_no_claims_is_warned_of() -> None:
    parts = {**PARTS, "addons": {**PARTS["addons"], **BASE["addons"], "kubePrometheusStack": {}, "opencost": {}}}
    data = {"pools": {POOL_NAME: CLAIMED, **BASE["pools"]}, **parts}
    warned = [
        one.path
        for one in load(
            {**BASE, **data, "cluster": {**BASE["cluster"], "version": "1.36"}}, stack="test", today=TODAY
        ).warnings
    ]
    assert f"pools.{POOL_NAME}.gpuAllocation" in warned


def test_kueue_places_no_claims_by_topology() -> None:
    fabric = {**CLAIMED, "instanceTypes": ["p5.48xlarge"], "efa": True, "zones": ["us-east-1b"]}
    both = resolve_all(platform({"a": fabric, "b": {**fabric, "gpuAllocation": "device-plugin"}}, **PARTS))
    assert [by_topology(both[name], Queues(topology=True)) for name in "ab"] == [False, True]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["sample"])
def test_samples_of_others_are_admitted_or_refused_with_the_feature_that_is_off(row: dict[str, Any]) -> None:
    if row["outcome"] == "api":
        assert lifecycle.removed(f"resource.k8s.io/{row['api']}", "ResourceClaimTemplate", "1.36")
        return
    objects = [each for each in (*claims_of(row), workload_of(row)) if each["kind"] != "ResourceClaim"]
    messages = [text for each in objects for text in refused(each).values()]
    if row["outcome"] == "run":
        assert messages == []
    else:
        assert any(SAYS[row["outcome"]] in text for text in messages), messages


@pytest.mark.parametrize(("templates", "gpus"), [(("single",), 1), (("gpu-4",), 4), (("gpu-2", "a100"), 3)])
def test_a_claim_costs_what_as_many_requests_cost(templates: tuple[str, ...], gpus: int) -> None:
    assert need(claiming(*templates))[GPU] == gpus
    # A dollar an hour each: 25 hours of four are the bound of the team, and one more second is not.
    for seconds, fits in ((100 * 3600 // gpus, True), (100 * 3600 // gpus + 3600, False)):
        text = refused(make.job(claiming(*templates), activeDeadlineSeconds=seconds)).get("job-cost", "")
        asked = refused(make.job(make.on(POOL_NAME, make.gpus(gpus)), activeDeadlineSeconds=seconds))
        assert (text == "") is fits
        assert text == asked.get("job-cost", "")


def test_claims_are_for_pools_that_have_them() -> None:
    assert refused(make.job(claiming("gpu-4"))) == {}
    assert "no pool fits" in refused(make.job(claiming("gpu-8")))["gpu-pool"]
    assert "no pool fits" in refused(make.job(claiming("gpu-1", pool="plugged")))["gpu-pool"]
    # Kueue would assign either pool.
    anywhere = {**claiming("gpu-1"), "nodeSelector": {}}
    assert "no pool fits" in refused(make.job(anywhere))["gpu-pool"]
    alone = replace(CONTEXT, pools={name: pool for name, pool in POOLS.items() if name != "plugged"})
    assert refused(make.job(anywhere), alone) == {}


def test_a_patch_of_a_runtime_claims_no_devices() -> None:
    job = make.train_job(resourcesPerNode={"limits": {GPU: "1"}})
    inner = {"name": "node", "template": {"spec": {"template": {"spec": claiming("gpu-4")}}}}
    patch = {"manager": "me", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [inner]}}}}
    assert "resourceClaims of a patch" in refused(make.given(job, runtimePatches=[patch]))["device-claims"]


@pytest.mark.parametrize("given", [{"resourceClaimName": "it-1"}, {}])
def test_a_probe_of_a_pool_with_claims_needs_a_device_of_the_class(given: dict[str, str]) -> None:
    (probe,) = (each for each in of_pools(PLATFORM, 60) if each.pool.name == POOL_NAME)
    node = {"metadata": {"name": "n", "labels": {POOL: POOL_NAME}}, "status": {"allocatable": {}}}
    seen = Observed(pod={"metadata": {}, "status": {"extendedResourceClaimStatus": given}}, node=node)
    found = {one.what: one.status for one in of_probe(probe, seen, simulated=True)}
    assert found["its request gets a device of the DeviceClass"] == ("passed" if given else "failed")
    assert "its node advertises nvidia.com/gpu" not in found


def test_what_holds_a_claim_is_explained() -> None:
    def explained(body: Object, *others: Object, target: Target = TARGET) -> list[str]:
        return [one.problem.rule for one in findings(make.job(body), target, others)]

    (row,) = (row for row in ROWS if row["sample"] == "kueue gpu-job-admitted")
    assert explained(claiming("gpu-2")) == []
    assert explained(claiming("gpu-claim"), *claims_of(row)) == []
    (unknown,) = explained(claiming("gpu-claim"))
    assert "no ResourceClaimTemplate of that name" in unknown
    (pool,) = explained(claiming("gpu-1", pool="plugged"))
    assert "gives GPUs to requests" in pool
    without = replace(TARGET, pools={"plugged": POOLS["plugged"]})
    assert any(
        "no pool of the stack allocates" in text
        for text in explained(claiming("gpu-1", pool="plugged"), target=without)
    )
