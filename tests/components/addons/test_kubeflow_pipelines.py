"""Kubeflow Pipelines: what its parts agree on, what upstream has, and what the rules say of its runs."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.addons import kubeflow_pipelines as addon
from components.addons.mlflow.password_file import filled, look
from components.tenancy.network_policies import network_policies
from components.tenancy.pipelines import access, server_role, steps_role, ways
from infra.target import target_of
from slipway.why.judge import violations
from spec.catalog.software import CHARTS, MANIFESTS
from spec.settings.addons import Addons
from spec.settings.addons.batch import KubeflowPipelines as Settings
from spec.settings.teams import TeamNamespace
from spec.teams import pipelines
from tests.components.addons.charts import beyond, granted
from tests.support.context import Seen, seen_parts
from tests.support.stacks import platform_of

ROOT: Final = Path(__file__).parents[3]
SPACE: Final = "vision-training"
PASSWORD: Final = "a\"b\\c'd$#%"
"""With what JSON and Protocol Buffers escape."""


def seen(*namespaces: str) -> Seen:
    settings = Settings(namespaces=namespaces or (SPACE,))
    return seen_parts(lambda: addon.KubeflowPipelines(settings))


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = seen().objects[f"server-{SPACE}"]["spec"]["template"]["spec"]
    return spec


def test_names_and_ports_of_a_server_are_those_that_its_namespace_has_and_may_reach() -> None:
    service, policy = seen().objects[f"service-{SPACE}"], seen().before[f"ingress-{SPACE}"]
    ports = {port["port"] for port in service["spec"]["ports"]}
    opened = {port["containerPort"] for each in pod()["containers"] for port in each.get("ports", [])}
    assert ports == opened == {port["port"] for port in policy["spec"]["ingress"][0]["ports"]}
    name = service["metadata"]["name"]
    inside = ways(SPACE, "bucket", "us-east-1")
    hosts = {inside[alias]["spec"]["externalName"] for alias in pipelines.ALIASES}
    assert hosts == {f"{name}.kubeflow-pipelines.svc.cluster.local"}
    assert service["spec"]["selector"] == seen().objects[f"server-{SPACE}"]["spec"]["template"]["metadata"]["labels"]
    addons = Addons.model_validate({"kubeflowPipelines": {"namespaces": (SPACE,)}})
    team = network_policies(SPACE, "vision", TeamNamespace(), platform_of("prod").network, addons)["team"]
    (way,) = [rule for rule in team["spec"]["egress"] if "kubeflow-pipelines" in json.dumps(rule)]
    selected = way["to"][0]["podSelector"]["matchLabels"]
    assert selected.items() <= service["spec"]["selector"].items()
    assert {port["port"] for port in way["ports"]} == ports


def test_a_server_acts_in_its_namespace_alone() -> None:
    inside = access(SPACE, "workload")
    server, steps = inside["pipelines-binding"], inside["pipelines-steps-binding"]
    assert {each["metadata"]["namespace"] for each in inside.values()} == {SPACE}
    own = seen().before[f"account-{SPACE}"]
    account = {"name": own["metadata"]["name"], "namespace": own["metadata"]["namespace"]}
    assert server["subjects"] == [{"kind": own["kind"], **account}]
    assert steps["subjects"] == [{"kind": "ServiceAccount", "name": "workload", "namespace": SPACE}]
    roles = {role["metadata"]["name"] for role in (server_role(), steps_role())}
    assert {server["roleRef"]["name"], steps["roleRef"]["name"]} == roles
    assert not [each for each in seen().before.values() if each["kind"] == "ClusterRoleBinding"]


@pytest.mark.parametrize(
    ("own", "files"),
    [(server_role(), ("apiserver", "persistenceagent", "scheduledworkflow")), (steps_role(), ("runner",))],
)
def test_no_role_allows_what_upstreams_do_not(own: dict[str, Any], files: tuple[str, ...], shared: Path) -> None:
    allowed = {one for name in files for one in granted(upstream(shared, f"pipeline/*{name}-role.yaml"))}
    assert beyond(granted(own), allowed) == set()


def test_the_definition_of_recurring_runs_is_upstreams(shared: Path) -> None:
    assert addon.definition() == upstream(shared, "pipeline/cluster-scoped/scheduled-workflow-crd.yaml")


def upstream(shared: Path, pattern: str) -> dict[str, Any]:
    """A manifest of 2.16.1; these didn't lose anything in 2.17.0."""
    (path,) = (shared / "manifests-full/kubeflow-pipelines/base").glob(pattern)
    content: dict[str, Any] = yaml.safe_load(path.read_text())
    return content


def test_files_of_a_server_have_the_password_whatever_its_characters() -> None:
    data = seen().before[f"templates-{SPACE}"]["data"]
    secret = json.dumps({"username": "slipway", "password": PASSWORD})
    config = json.loads(filled(data[addon.CONFIG], secret))
    assert config["DBConfig"]["MySQLConfig"]["Password"] == PASSWORD
    (written,) = re.findall(r'password: (".*")', filled(data[addon.METADATA], secret))
    assert json.loads(written) == PASSWORD


def test_the_sidecar_writes_each_template_and_a_server_waits_for_the_last(tmp_path: Path) -> None:
    templates, out = tmp_path / "templates", tmp_path / "out"
    (sidecar,) = pod()["initContainers"]
    folder, *names = sidecar["command"][3:]
    for path in (templates, out):
        path.mkdir()
    for name in names:
        (templates / Path(name).name).write_text('"${password}"')

    class Client:
        def get_secret_value(self, SecretId: str) -> dict[str, str]:  # noqa: N803 - AWS's spelling
            return {"SecretString": json.dumps({"username": "u", "password": SecretId})}

    given = tuple(str(templates / Path(name).name) for name in names)
    assert look(Client(), "a:b", out, given) == ""
    assert {path.name: path.read_text() for path in out.iterdir()} == {Path(name).name: '"a:b"' for name in names}
    assert sidecar["startupProbe"]["exec"]["command"] == ["test", "-s", f"{folder}/{Path(names[-1]).name}"]


def test_a_process_that_read_the_password_ends_when_it_changes_and_no_other() -> None:
    containers = {each["name"]: each for each in pod()["containers"]}
    read = {
        name: set(re.findall(r"/run/database/(\S+\.\w+)", json.dumps(each["command"])))
        for name, each in containers.items()
        if any(mount["name"] == "database" for mount in each["volumeMounts"])
    }
    assert read == {"api-server": {addon.CONFIG}, "metadata": {addon.METADATA}}
    for name, (file,) in read.items():
        test = containers[name]["livenessProbe"]["exec"]["command"][-1]
        assert f"cmp -s /run/database/{file} /run/started/{file}" in test
        assert containers[name]["command"][-1].startswith(f"cp /run/database/{file} /run/started/{file} && exec ")
    assert PASSWORD not in json.dumps(seen().before)


def test_its_pod_satisfies_the_pod_security_level() -> None:
    spec = pod()
    assert addon.KubeflowPipelines.namespace.enforce == "restricted"
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in (*spec["initContainers"], *spec["containers"]):
        own = container["securityContext"]
        assert (own["allowPrivilegeEscalation"], own["capabilities"]) == (False, {"drop": ["ALL"]}), container["name"]
        assert container["resources"]["limits"]["memory"], container["name"]


def test_its_images_are_those_of_one_release_which_is_built_for_the_platforms_argo() -> None:
    images = [each["image"] for each in pod()["containers"] if "kubeflow" in each["image"]]
    (api,) = [each for each in pod()["containers"] if each["name"] == "api-server"]
    images += [each["value"] for each in api["env"] if each["name"].startswith("V2_")]
    assert len(set(images)) == 5
    assert {image.rpartition(":")[2] for image in images} == {MANIFESTS["kubeflow-pipelines"].version}
    # The chart 1.0.18 has Argo 4.0.5, that of github.com/kubeflow/pipelines, tag 2.17.0, third_party/argo/VERSION.
    assert (MANIFESTS["kubeflow-pipelines"].version, CHARTS["argo-workflows"].version) == ("2.17.0", "1.0.18")


def workflow(patch: Mapping[str, Any]) -> dict[str, Any]:
    """A workflow as the API server compiles it (2.17.0, test_data/compiled-workflows), with the patch of its spec."""
    sealed = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    template = {
        "name": "system-container-driver",
        "container": {
            "name": "",
            "image": addon.image("driver"),
            "command": ["driver"],
            "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"}},
            "securityContext": {
                **sealed, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
            },
        },
        "securityContext": sealed,
    }  # fmt: skip
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "retrain-x", "namespace": SPACE},
        "spec": {
            "entrypoint": "system-container-driver",
            "serviceAccountName": "workload",
            "templates": [template],
            **patch,
        },
    }


def broken(manifest: Mapping[str, Any]) -> set[str]:
    platform = platform_of("prod")
    target = target_of(platform, namespace=SPACE)
    return {one.rule.name for one in violations(dict(manifest), target, platform.admission)}


def test_a_run_is_accepted_with_the_patch_of_the_server_alone() -> None:
    config = json.loads(seen().before[f"templates-{SPACE}"]["data"][addon.CONFIG])
    assert broken(workflow(json.loads(config["COMPILED_PIPELINE_SPEC_PATCH"]))) == set()
    assert broken(workflow({})) == {"job-bounds"}


@pytest.fixture(scope="module")
def example() -> tuple[dict[str, Any], dict[str, Any]]:
    text = (ROOT / "examples/kubeflow-pipelines/retrain.yaml").read_text(encoding="utf-8")
    spec, platform = yaml.safe_load_all(text)
    return spec, platform["platforms"]["kubernetes"]["deploymentSpec"]["executors"]


def of_step(label: str, example: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    """The pod of a step: what the driver makes of resources and platform (2.17.0, backend/src/v2/driver, `k8s.go` and
    `driver.go`), with what the compiler and the server's configuration add."""
    spec, platform = example
    container, own = spec["deploymentSpec"]["executors"][label]["container"], platform.get(label, {})
    wanted, gpu = container["resources"], container["resources"].get("accelerator")
    resources = {
        "requests": {"cpu": wanted["resourceCpuRequest"], "memory": wanted["resourceMemoryRequest"]},
        "limits": {
            "memory": wanted["resourceMemoryLimit"],
            **({gpu["resourceType"]: gpu["resourceCount"]} if gpu else {}),
        },
    }
    sealed = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True}
    mounts = [(mount["constant"], mount["mountPath"]) for mount in own.get("pvcMount", [])]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "step", "namespace": SPACE, "labels": own.get("podMetadata", {}).get("labels", {})},
        "spec": {
            "serviceAccountName": "workload",
            "restartPolicy": "Never",
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            "nodeSelector": own.get("nodeSelector", {}).get("labels", {}),
            "tolerations": own.get("tolerations", []),
            "volumes": [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name, _ in mounts],
            "containers": [
                {
                    "name": "main",
                    "image": container["image"],
                    "resources": resources,
                    "securityContext": sealed,
                    "volumeMounts": [{"name": name, "mountPath": path} for name, path in mounts],
                }
            ],
        },
    }


STEPS: Final = ("deploy", "evaluate", "train", "validate")


@pytest.mark.parametrize("step", STEPS)
def test_a_step_of_the_example_is_accepted(step: str, example: tuple[dict[str, Any], dict[str, Any]]) -> None:
    assert broken(of_step(f"exec-{step}", example)) == set()
    if step == "train":
        without = of_step(f"exec-{step}", example)
        del without["metadata"]["labels"]
        assert broken(without) != set()


def test_the_example_is_a_whole_pipeline(example: tuple[dict[str, Any], dict[str, Any]]) -> None:
    spec, platform = example
    executors, components = spec["deploymentSpec"]["executors"], spec["components"]
    assert set(executors) == {f"exec-{step}" for step in STEPS} > set(platform)
    dags = [spec["root"]["dag"], *(each["dag"] for each in components.values() if "dag" in each)]
    tasks = {name: task for dag in dags for name, task in dag["tasks"].items()}
    assert {task["componentRef"]["name"] for task in tasks.values()} == set(components)
    assert {each["executorLabel"] for each in components.values() if "executorLabel" in each} == set(executors)
    assert [name for name, task in tasks.items() if task.get("cachingOptions", {}).get("enableCache")] == []


def test_the_example_deploys_only_above_a_score(example: tuple[dict[str, Any], dict[str, Any]]) -> None:
    root = example[0]["root"]["dag"]["tasks"]
    assert "deploy" not in root
    (gate,) = [task for task in root.values() if "triggerPolicy" in task]
    assert set(example[0]["components"][gate["componentRef"]["name"]]["dag"]["tasks"]) == {"deploy"}
    score, sign, least = re.split(r"\s+(>)\s+", gate["triggerPolicy"]["condition"])
    given = {f"inputs.parameter_values['{name}']": value for name, value in gate["inputs"]["parameters"].items()}
    assert sign == ">"
    assert given[score]["taskOutputParameter"] == {"outputParameterKey": "accuracy", "producerTask": "evaluate"}
    assert given[least] == {"componentInputParameter": "minimum"}
    assert (root["evaluate"]["dependentTasks"], root["train"]["dependentTasks"]) == (["train"], ["validate"])
