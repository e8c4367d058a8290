"""Requirements between add-ons are reported with paths and keys of the stack file."""

from typing import Any

import pytest

from spec.settings.admission import Action, Admission
from spec.settings.problems import Problem
from tests.spec.settings.stack import changed, loaded, problems, team_with_gpus


def addon_problems(**addons: Any) -> list[Problem]:
    return [each for each in problems(changed({"addons": addons})) if each.path.startswith("addons")]


REACHABLE: dict[str, Any] = {"certManager": {}, "loadBalancerController": {}}
CERTIFICATE = "arn:aws:acm:us-east-1:111122223333:certificate/12345678-1234-1234-1234-123456789012"
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "images for a pool that isn't there": ({"imagePreload": {"pools": {"b200": ["vllm/vllm-openai:v0.24.0"]}}},
        "addons.imagePreload.pools.b200", "Use "),
    "an image that changes": ({"imagePreload": {"pools": {"system": ["vllm/vllm-openai:latest"]}}},
        "addons.imagePreload.pools.system", "a tag of a version"),
    "an image to load without a tag": ({"imagePreload": {"pools": {"system": ["registry.example.com:5000/train"]}}},
        "addons.imagePreload.pools.system.0", "Write it like vllm/vllm-openai"),
    "a load balancer without its controller": ({"certManager": {}, "kserve": {}}, "addons.kserve.ingress",
        "loadBalancerController: {}"),
    "a gateway without its API": ({"certManager": {}, "kserve": {"ingress": "gateway"}}, "addons.kserve.ingress",
        "gatewayApi: {}"),
    "Knative's mode without Knative": (
        {"certManager": {}, "kserve": {"ingress": "none", "defaultDeploymentMode": "Knative"}},
        "addons.kserve.defaultDeploymentMode", "knative: {}"),
    "https without a certificate": ({**REACHABLE, "kserve": {"https": True, "ingressDomain": "models.example.com"}},
        "addons.kserve.certificateArn", "Request one for *.models.example.com"),
    "https without an ingress": (
        {"certManager": {}, "kserve": {"https": True, "ingress": "none", "certificateArn": [CERTIFICATE]}},
        "addons.kserve.https", "ingress: alb"),
    "https with Knative": ({**REACHABLE, "knative": {},
            "kserve": {"https": True, "defaultDeploymentMode": "Knative", "certificateArn": [CERTIFICATE]}},
        "addons.kserve.https", "Standard"),
    "a certificate without https": ({**REACHABLE, "kserve": {"certificateArn": [CERTIFICATE]}},
        "addons.kserve.certificateArn", "https: true"),
    "a certificate of another Region": (
        {**REACHABLE, "kserve": {"https": True, "certificateArn": [CERTIFICATE.replace("us-east-1", "eu-west-1")]}},
        "addons.kserve.certificateArn", "Request one in us-east-1"),
    "a name instead of a certificate": (
        {**REACHABLE, "kserve": {"https": True, "certificateArn": ["models.example.com"]}},
        "addons.kserve.certificateArn.0", "arn:aws:acm"),
    "canaries that nobody measures": ({"certManager": {}, "kserve": {"ingress": "none", "canaryRollback": {}}},
        "addons.kserve.canaryRollback", "kubePrometheusStack: {}"),
    "a window of one look": ({"certManager": {}, "kubePrometheusStack": {},
            "kserve": {"ingress": "none", "canaryRollback": {"window": "1m"}}},
        "addons.kserve.canaryRollback.window", "Use 5m"),
    "a window of a day": ({"certManager": {}, "kubePrometheusStack": {},
            "kserve": {"ingress": "none", "canaryRollback": {"window": "24h"}}},
        "addons.kserve.canaryRollback.window", "Use 5m"),
    "a canary of no request": ({"certManager": {}, "kubePrometheusStack": {},
            "kserve": {"ingress": "none", "canaryRollback": {"minRequests": 0}}},
        "addons.kserve.canaryRollback.minRequests", "1"),
    "KServe without certificates": ({"kserve": {"ingress": "none"}}, "addons.kserve", "certManager: {}"),
    "Trainer without JobSet": ({"trainer": {}}, "addons.trainer", "jobset: {}"),
    "Volcano beside Kueue": ({"kueue": {}, "volcano": {}}, "addons.kueue", "Keep one of the two"),
    "a kind that the operator does not know": ({"trainingOperator": {"kinds": ["MXJob"]}},
        "addons.trainingOperator.kinds.0", "PyTorchJob"),
    "an operator of no kind": ({"trainingOperator": {"kinds": []}}, "addons.trainingOperator.kinds", "like PyTorchJob"),
    "a timeout without a manager": ({"kueue": {"workerLostTimeoutMinutes": 5}}, "addons.kueue.workerLostTimeoutMinutes",
        "multiKueue: manager"),
    "no replica": ({"kueue": {"replicas": 0}}, "addons.kueue.replicas", "1"),
    "an invalid domain": ({"certManager": {}, "kserve": {"ingress": "none", "ingressDomain": "models"}},
        "addons.kserve.ingressDomain", "models.example.com"),
    "an image without a tag": ({"jobset": {}, "trainer": {"image": "torch"}}, "addons.trainer.image",
        "a tag or a digest"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_missing_requirement_is_reported_with_path_and_fix(name: str) -> None:
    addons, path, fix = CASES[name]
    (problem,) = (each for each in addon_problems(**addons) if "needs Kubernetes" not in each.rule)
    assert problem.path == path
    assert fix in f"{problem.rule} {problem.fix}", problem


def test_compatible_add_ons_have_no_problem() -> None:
    assert (
        addon_problems(
            certManager={},
            loadBalancerController={},
            gatewayApi={},
            knative={},
            kserve={"defaultDeploymentMode": "Knative"},
        )
        == []
    )


def test_storage_of_a_database_that_can_grow_by_exactly_a_tenth_is_enough() -> None:
    sizes = (
        {"allocatedStorage": 20, "maxAllocatedStorage": 22},
        {"allocatedStorage": 59578, "maxAllocatedStorage": 65536},
    )
    assert [addon_problems(mlflow={"database": size}) for size in sizes] == [[], []]


@pytest.mark.parametrize(("artifacts", "workflows", "refused"), [(13, 14, True), (14, 14, False), (None, 365, False)])
def test_artifacts_must_be_kept_as_long_as_finished_workflows(
    artifacts: int | None, workflows: int, refused: bool
) -> None:
    settings = {"storage.buckets": {"artifactDays": artifacts}, "addons.argoWorkflows": {"keepDays": workflows}}
    wrong = problems(changed(settings))
    assert [each.path for each in wrong] == ["storage.buckets.artifactDays"] * refused
    assert all("Use 14 or more" in each.fix and "14 days" in each.rule for each in wrong)


def test_without_workflows_artifacts_may_expire_at_once() -> None:
    assert problems(changed({"storage.buckets": {"artifactDays": 1}})) == ()


TAKEN = "models of team vision could take addresses of models there, because it ends in -vision"


@pytest.mark.parametrize(
    ("ingress", "namespaces", "rules"),
    [("alb", {"training": {}}, []), ("alb", {"vision": {}}, [TAKEN]), ("none", {"vision": {}}, [])],
)
def test_no_team_can_take_the_address_of_another_teams_model(
    ingress: str, namespaces: dict[str, Any], rules: list[str]
) -> None:
    """Model `m-prod` in namespace `vision` would have the address of model `m` in `prod-vision`."""
    team = {"project": "p", "costCenter": "c", "cpus": {"cpu": {"nominalQuota": 8}}}
    changes = {
        "addons.loadBalancerController": {}, "addons.certManager": {}, "addons.kserve": {"ingress": ingress},
        "teams.vision": team, "teams.prod": {**team, "namespaces": namespaces},
    }  # fmt: skip
    assert [(one.path, one.rule) for one in problems(changed(changes))] == [("teams.prod", rule) for rule in rules]


# Shares of a pool whose instance types are wrong: the mistake is reported once, at the pool.


def test_a_share_of_a_pool_that_mixes_types_with_and_without_gpus_is_no_second_mistake() -> None:
    mixed = {"preset": "a100", "instanceTypes": ["p4d.24xlarge", "m7i.xlarge"], "localNvme": "none"}
    found = problems(changed({"addons.kueue": {}, "pools.mixed": mixed, "teams.vision": team_with_gpus(1, "mixed")}))
    assert [problem.path for problem in found if problem.path.startswith("teams.")] == []
    (problem,) = (problem for problem in found if "the same GPU" in problem.rule)
    assert problem.path == "pools.mixed.instanceTypes"


# Settings of admission: the action of each rule, and invalid settings.


def test_every_rule_denies_unless_the_stack_says_otherwise() -> None:
    settings = loaded({"admission": {"imageTag": "warn"}}).platform.admission
    assert settings.of("image-tag") is Action.WARN
    assert settings.of("gpu-pool") is Action.DENY


@pytest.mark.parametrize(("admission", "path", "fix"), [
    ({"imageTag": "refuse"}, "admission.imageTag", "deny"),
    ({"imageTags": "deny"}, "admission.imageTags", "imageTag"),
    ({"maxReplicas": 0}, "admission.maxReplicas", "1"),
    ({"teams": {"vison": {}}}, "admission.teams.vison", "no team"),
])  # fmt: skip
def test_an_invalid_setting_is_refused_with_a_fix(admission: dict[str, object], path: str, fix: str) -> None:
    (problem,) = problems(changed({"admission": admission}))
    assert problem.path == path
    assert fix in problem.fix, problem


def test_every_rule_denies_by_default() -> None:
    actions = {name for name, field in Admission.model_fields.items() if field.annotation is Action}
    assert {getattr(Admission(), name) for name in actions} == {Action.DENY}


def test_an_action_of_a_team_is_for_a_rule() -> None:
    found = problems(changed({"admission": {"teams": {"vision": {"jobBound": "warn"}}}}))
    assert "Write it like jobBounds." in [one.fix for one in found if one.path == "admission.teams.vision.jobBound"]
