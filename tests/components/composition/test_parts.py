"""GPU software, volume claims and cost guards by themselves, on a cluster that exists: no stack file, no platform."""

import json
import runpy
from pathlib import Path
from typing import Any, Final

import pulumi
import pytest
import yaml

from components.addons.gpu_software import GpuSoftware, GpuSoftwareArgs
from components.composition.alone import CostGuards, CostGuardsArgs
from components.storage.claims import ClaimArgs, ModelStorage, ModelStorageArgs
from spec.settings.problems import ConfigurationError
from tests.components.composition.test_alone import cluster, objects, pool, recorded
from tests.support.cases import beside
from tests.support.mocks import Recording, run

CASES: Final = beside(__file__)
ROOT: Final = Path(__file__).parents[3]
PROGRAM: Final = ROOT / "tests/e2e/programs/parts/__main__.py"


def made(part: str, opts: pulumi.ResourceOptions, name: str = "one", **changes: Any) -> pulumi.ComponentResource:
    """A part with right inputs but for the changes."""
    inputs: dict[str, Any] = {"cluster": cluster(), **changes}
    if part == "storage":
        given = {"namespace": "llm", "claims": {"models": {"bucket": "b"}}, **inputs}
        claims = {key: ClaimArgs(**one) for key, one in given["claims"].items()}
        return ModelStorage(name, ModelStorageArgs(**{**given, "claims": claims}), opts)
    if part == "software":
        return GpuSoftware(name, GpuSoftwareArgs(**{"pools": [pool(opts).spec], **inputs}), opts)
    return CostGuards(name, CostGuardsArgs(**{"settings": {}, **inputs}), opts)


def program() -> Recording:
    return run(lambda: [runpy.run_path(str(PROGRAM))][1:])


def test_all_parts_on_an_existing_cluster_take_thirty_lines_and_make_their_own_alone() -> None:
    text = PROGRAM.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 30
    assert text in (ROOT / "docs/guides/elsewhere.md").read_text(encoding="utf-8")
    found = program()
    assert not found.default_provider_users
    kinds = {kind for kind, _, _ in objects(found)}
    assert kinds == {
        "NodePool", "EC2NodeClass", "NodeOverlay", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "CronJob",
        "ConfigMap", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "PrometheusRule",
    }  # fmt: skip
    aws = {one.type.partition("/")[0] for one in found if one.type.startswith("aws:")}
    assert aws == {"aws:s3", "aws:budgets", "aws:kms", "aws:sns"}


def test_gpus_are_shared_as_the_pools_say_and_daemons_run_on_their_nodes() -> None:
    (release,) = (one for one in program() if one.type == "kubernetes:helm.sh/v3:Release")
    values = release.inputs["values"]
    shared = yaml.safe_load(values["devicePlugin"]["config"]["data"]["time-slicing-4"])["sharing"]["timeSlicing"]
    assert shared["resources"] == [{"name": "nvidia.com/gpu", "replicas": 4}]
    assert {"key": "platform.slipway/pool", "value": "l4"}.items() <= values["daemonsets"]["tolerations"][-1].items()
    assert values["operator"]["nodeSelector"] == {}


def test_software_follows_the_pools() -> None:
    """EFA needs its plugin."""
    efa = {"settings": {"preset": "h100", "efa": True, "zones": ["us-east-1a"]}, "vpc_id": "vpc-1"}
    found = recorded(
        lambda opts: [made("software", opts, pools=[pool(opts, "h100", **efa).spec], namespaces=False)][1:]
    )
    releases = {one.inputs["name"] for one in found if one.type == "kubernetes:helm.sh/v3:Release"}
    assert releases == {"gpu-operator", "efa-device-plugin"}
    assert "Namespace" not in {kind for kind, _, _ in objects(found)}


def test_idle_gpus_are_measured_by_a_rule_of_its_own() -> None:
    found = objects(program())
    rule = found["PrometheusRule", "guards-schedules", "guards-gpus"]
    assert rule["metadata"]["labels"] == {"release": "kube-prometheus-stack"}
    assert [one["record"] for one in rule["spec"]["groups"][0]["rules"]] == ["slipway:gpu:active"]
    pods = [one["spec"]["jobTemplate"]["spec"]["template"]["spec"] for key, one in found.items() if key[0] == "CronJob"]
    assert not [one for one in pods if "nodeSelector" in one]
    assert found["NodePool", "", "l4"]["metadata"]["annotations"] == {"pulumi.com/patchForce": "true"}


@pytest.mark.parametrize(("given", "driver", "options", "size", "mode"), CASES["what is behind a claim"])
def test_what_is_behind_a_claim(given: dict[str, Any], driver: str, options: list[str], size: str, mode: str) -> None:
    found = objects(recorded(lambda opts: [made("storage", opts, claims={"models": given})][1:]))
    spec, claim = found["PersistentVolume", "", "llm-models"]["spec"], found["PersistentVolumeClaim", "llm", "models"]
    assert (spec["csi"]["driver"], spec["mountOptions"], spec["capacity"]) == (driver, options, {"storage": size})
    assert spec["accessModes"] == claim["spec"]["accessModes"] == [mode]


@pytest.mark.parametrize(("part", "changes", "message"), CASES["wrong inputs are refused with path rule value and fix"])
def test_wrong_inputs_are_refused(part: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        recorded(lambda opts: made(part, opts, **json.loads(json.dumps(changes))))
    assert message in str(refused.value)


def test_two_of_a_part_on_one_cluster_do_not_collide() -> None:
    guarded = {"settings": {"schedules": {"n": {"stop": "0 20 * * *", "notebooks": True}}}, "namespaces": ["llm"]}

    def both(name: str, claim: str) -> Any:
        found = recorded(
            lambda opts: [
                made("guards", opts, name, **guarded, notifications={"emails": ["a@b.example"]}),
                made("storage", opts, f"{name}-storage", claims={claim: {"bucket": "b"}}),
            ][2:]
        )
        topics = {("Topic", "", one.inputs["name"]) for one in found if one.type == "aws:sns/topic:Topic"}
        return {*objects(found), *topics}

    one, other = both("one", "models"), both("other", "data")
    assert len(one) == len(other) >= 8
    assert not one & other
