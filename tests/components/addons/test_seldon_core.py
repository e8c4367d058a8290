"""Seldon Core: what the chart makes of the values, what a namespace for serving gets, and a Server before the rules."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.addons import seldon_core
from components.addons.seldon_core import ENVOY, GROUP, SCHEDULER, WITHOUT_KAFKA, access, role, runtime
from infra.target import target_of
from slipway.charts import uses
from slipway.charts.uses import Use
from slipway.render.program import record_platform
from slipway.render.recording import Recording
from slipway.why.judge import violations
from spec.settings import Platform, load, read_stack
from spec.settings.addons.serving import SeldonCore
from spec.settings.checks.teams import WORKLOAD_ROLE
from spec.settings.teams import PriorityName
from tests.components.addons.charts import granted
from tests.slipway.charts.rendering import Objects, rendered
from tests.support.day import TODAY
from tests.support.mocks import statements
from tests.support.structural import complaints, definition, schema

EXAMPLES: Final = Path(__file__).parents[3] / "examples"
SETTINGS: Final = SeldonCore.model_validate({"acceptLicense": "BUSL-1.1"})
SERVING: Final = "vision-serving"


@cache
def platform() -> Platform:
    return load(read_stack("everything", EXAMPLES / "stacks"), stack="everything", today=TODAY).platform


@cache
def program() -> Recording:
    return record_platform(platform(), stack="everything")


def own(region: str, **team: Any) -> dict[str, dict[str, Any]]:
    vision = platform().teams["vision"].model_copy(update=team)
    return runtime(SERVING, vision, SETTINGS, region)


def example(kind: str) -> dict[str, Any]:
    text = (EXAMPLES / "tutorials/seldon.yaml").read_text(encoding="utf-8")
    (found,) = (each for each in yaml.safe_load_all(text) if each["kind"] == kind)
    return dict(found)


# What the chart makes of the values.


@cache
def use() -> Use:
    (found,) = (one for one in uses.of_platform(platform(), "everything") if one.chart == "seldon-core-v2-setup")
    return found


@pytest.fixture
def chart(shared: Path) -> Objects:
    found = rendered(shared / "charts-full", use())
    assert found is not None
    return found


def one(objects: Objects, kind: str, name: str = "") -> dict[str, Any]:
    (found,) = (each for each in objects if each["kind"] == kind and name in ("", each["metadata"]["name"]))
    return found


def test_the_controller_watches_its_own_namespace_and_those_for_serving(chart: Objects) -> None:
    pod = one(chart, "Deployment", seldon_core.CONTROLLER)["spec"]["template"]["spec"]
    (manager,) = pod["containers"]
    env = {each["name"]: each.get("value") for each in manager["env"]}
    assert (env["CLUSTERWIDE"], env["WATCH_NAMESPACES"]) == ("true", f"seldon,{SERVING}")
    assert pod["serviceAccountName"] == one(chart, "ServiceAccount")["metadata"]["name"] == seldon_core.CONTROLLER


def test_the_charts_own_role_in_the_whole_cluster_does_not_exist(chart: Objects) -> None:
    assert [each for each in chart if each["kind"] == "ClusterRole"] == []
    assert one(chart, "ClusterRoleBinding")["roleRef"]["name"] != seldon_core.ROLE


def test_what_runtimes_and_servers_refer_to_is_in_the_chart(chart: Objects) -> None:
    config = one(chart, "SeldonConfig")["spec"]
    components = {each["name"]: each for each in config["components"]}
    assert set(components) == {SCHEDULER, ENVOY, *WITHOUT_KAFKA}, "a new component would run unasked"
    objects = own("us-east-1")
    for override in objects["runtime"]["spec"]["overrides"]:
        containers = [each["name"] for each in components[override["name"]]["podSpec"]["containers"]]
        assert [each["name"] for each in override.get("podSpec", {}).get("containers", [])] in ([], containers)
    (scheduler,) = components[SCHEDULER]["podSpec"]["containers"]
    assert {"containerPort": seldon_core.SCHEDULER_PORT, "name": "scheduler"} in scheduler["ports"]
    assert components[ENVOY]["labels"] == {"platform.slipway/serving": "true"}
    assert config["config"]["serviceConfig"]["serviceType"] == "ClusterIP"
    assert config["config"]["agentConfig"]["rclone"]["config_secrets"] == [objects["storage"]["metadata"]["name"]]
    servers = [each["spec"] for each in chart if each["kind"] == "ServerConfig"]
    assert {each["podSpec"]["serviceAccountName"] for each in servers} == {seldon_core.SERVER_ACCOUNT}
    ports = [{port["name"] for each in spec["podSpec"]["containers"] for port in each["ports"]} for spec in servers]
    assert all("metrics" in names for names in ports), "Prometheus reads it"
    sizes = [each["spec"]["resources"]["requests"] for spec in servers for each in spec["volumeClaimTemplates"]]
    assert sizes == [{"storage": "20Gi"}] * 2


def test_the_platforms_role_is_the_charts_without_changes_of_secrets(shared: Path) -> None:
    values = dict(use().values)
    values["controller"] = {**values["controller"], "skipClusterRoleCreation": False}
    whole = rendered(shared / "charts-full", use(), values)
    assert whole is not None
    # There is no API group v1.
    theirs = {grant for grant in granted(one(whole, "ClusterRole")) if grant[0] != "v1"}
    secrets = {("", "secrets", verb) for verb in ("create", "delete", "patch", "update")}
    assert theirs - granted(role()) == secrets
    assert granted(role()) <= theirs


# Objects against their CRDs.


def wrong(shared: Path, manifest: Mapping[str, Any]) -> list[str]:
    file = shared / "charts-full/seldon-core-v2-crds/templates/seldon-v2-crds.yaml"
    crd = definition(file, manifest["kind"])
    return list(complaints(dict(manifest), schema(crd, "v1alpha1"), manifest["kind"]))


def test_objects_satisfy_their_crds(shared: Path, chart: Objects) -> None:
    made = [each for each in chart if each["apiVersion"].startswith(GROUP)]
    # An API server takes no value for an absent field.
    found = [text for each in made for text in wrong(shared, each) if not text.endswith(": None is no object")]
    assert (len(made), found) == (3, [])
    runtime_of_team = own("us-east-1")["runtime"]
    assert [wrong(shared, each) for each in (runtime_of_team, example("Server"), example("Model"))] == [[], [], []]
    runtime_of_team["spec"]["overrides"][0]["replica"] = 2
    assert wrong(shared, runtime_of_team) == ["SeldonRuntime.spec.overrides[0].replica is not known"]


# What a namespace for serving gets.


def test_only_namespaces_for_serving_have_a_runtime() -> None:
    runtimes = program().of_type(f"kubernetes:{GROUP}/v1alpha1:SeldonRuntime")
    assert [each.inputs.plain["metadata"]["namespace"] for each in runtimes] == [SERVING]
    assert f"serve-{SERVING}-budget" not in {each.name for each in program()}, "with one Envoy"
    assert own("us-east-1")["budget"]["spec"]["minAvailable"] == 1


def test_no_job_of_the_team_preempts_what_all_models_need() -> None:
    def priorities(**team: Any) -> list[str]:
        overrides = own("us-east-1", **team)["runtime"]["spec"]["overrides"]
        return [each["podSpec"]["priorityClassName"] for each in overrides if each["replicas"]]

    assert priorities() == ["production-inference"] * 2
    assert priorities(priorities=(PriorityName.EXPERIMENT, PriorityName.INTERACTIVE)) == ["interactive"] * 2


def test_servers_read_the_models_of_their_team_and_nothing_else() -> None:
    (association,) = (
        each.inputs.plain
        for each in program().of_type("aws:eks/podIdentityAssociation:PodIdentityAssociation")
        if each.inputs.plain["serviceAccount"] == seldon_core.SERVER_ACCOUNT
    )
    assert association["namespace"] == SERVING
    allowed = statements(program().named(f"serve-{SERVING}-role-policy").inputs.plain["policy"])
    assert {action for each in allowed.values() for action in each["Action"]} == {
        "kms:Decrypt", "s3:GetObject", "s3:GetObjectTagging", "s3:ListBucket",
    }  # fmt: skip
    assert [each.rpartition(":")[2].partition("/")[2] for each in allowed["ReadOwn"]["Resource"]] == ["vision/*"]
    assert allowed["ListOwn"]["Condition"] == {"StringLike": {"s3:prefix": ["vision/", "vision/*"]}}


def test_storage_has_no_key() -> None:
    storage = yaml.safe_load(own("eu-west-1")["storage"]["stringData"]["s3"])
    parameters = {"provider": "AWS", "env_auth": "true", "region": "eu-west-1"}
    assert storage == {"type": "s3", "name": "s3", "parameters": parameters}, "the name is the scheme of addresses"


def test_a_role_of_servers_has_no_longer_name_than_the_checked_one() -> None:
    assert len(f"serve-{SERVING}-role") <= len(WORKLOAD_ROLE.format(namespace=SERVING))


def test_the_controller_reaches_the_scheduler_alone() -> None:
    policy = access(SERVING)["ingress"]["spec"]
    (entry,) = policy["ingress"]
    assert policy["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": SCHEDULER}}
    assert entry["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "seldon"}}}]
    assert entry["ports"] == [{"protocol": "TCP", "port": 9004}]


# A Server before the rules of the platform.


def merged(below: Any, above: Any) -> Any:
    """Maps are merged, lists appended, others replaced (operator/controllers/reconcilers/common/patch_utils.go)."""
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        return {key: merged(below.get(key), above.get(key)) for key in (*below, *above)}
    if isinstance(below, list) and isinstance(above, list):
        return [*below, *above]
    return below if above is None else above


def stateful_set(server: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """What the controller makes of a Server (operator/controllers/reconcilers/server/statefulset_reconciler.go)."""
    changes = dict(server["spec"]["podSpec"])
    by_name = {each["name"]: each for each in changes.pop("containers")}
    pod = merged(config["podSpec"], changes)
    pod["containers"] = [merged(each, by_name.get(each["name"])) for each in pod["containers"]]
    labels = {**server["metadata"]["labels"], "app.kubernetes.io/name": "seldon-server"}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": server["metadata"]["name"], "labels": labels},
        "spec": {
            "replicas": server["spec"]["minReplicas"],
            "selector": {"matchLabels": {"seldon-server-name": server["metadata"]["name"]}},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def refused(manifest: Mapping[str, Any]) -> Iterator[str]:
    target = target_of(platform(), namespace=SERVING)
    yield from (found.rule.name for found in violations(manifest, target, platform().admission))


def test_the_pods_of_the_example_are_accepted_and_others_are_not(chart: Objects) -> None:
    server, config = example("Server"), one(chart, "ServerConfig", "triton")["spec"]
    assert list(refused(stateful_set(server, config))) == []
    unqueued = {**server, "metadata": {"name": "triton-gpu", "labels": {}}}
    assert list(refused(stateful_set(unqueued, config))) == ["gpu-queue"]
    pod = {**server["spec"]["podSpec"], "nodeSelector": {"platform.slipway/pool": "system"}}
    elsewhere = {**server, "spec": {**server["spec"], "podSpec": pod}}
    assert "gpu-pool" in list(refused(stateful_set(elsewhere, config)))


def test_the_pods_of_a_runtime_are_accepted(chart: Objects) -> None:
    components = {each["name"]: each for each in one(chart, "SeldonConfig")["spec"]["components"]}
    for override in own("us-east-1")["runtime"]["spec"]["overrides"][:2]:
        made = {
            "metadata": {"name": override["name"], "labels": {}},
            "spec": {"podSpec": override["podSpec"], "minReplicas": 1},
        }
        assert list(refused(stateful_set(made, components[override["name"]]))) == []
