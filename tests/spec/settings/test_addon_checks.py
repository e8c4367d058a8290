"""Requirements between add-ons are reported with paths and keys of the stack file."""

from typing import Any

import pytest

from spec.settings.admission import Action, Admission
from spec.settings.problems import Problem
from tests.spec.settings.bad import WITH
from tests.spec.settings.stack import changed, loaded, problems, team_with_gpus

MADE_VALID: dict[str, dict[str, Any]] = {"certificate": {"addons.kserve.https": True}}


def addon_problems(**addons: Any) -> list[Problem]:
    return [each for each in problems(changed({"addons": addons})) if each.path.startswith("addons")]


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


def test_every_rule_denies_by_default() -> None:
    actions = {name for name, field in Admission.model_fields.items() if field.annotation is Action}
    assert {getattr(Admission(), name) for name in actions} == {Action.DENY}


def test_an_action_of_a_team_is_for_a_rule() -> None:
    found = problems(changed({"admission": {"teams": {"vision": {"jobBound": "warn"}}}}))
    assert "Write it like jobBounds." in [one.fix for one in found if one.path == "admission.teams.vision.jobBound"]


# Schedulers in place of kube-scheduler; what they can't keep of a stack file are rows of bad/addons.yaml.


@pytest.mark.parametrize("name", WITH)
def test_what_rows_of_mistakes_begin_with_is_valid(name: str) -> None:
    assert problems(changed({**WITH["kserve"], **WITH[name], **MADE_VALID.get(name, {})})) == ()


def test_the_two_schedulers_exclude_each_other_and_kueue() -> None:
    found = problems(changed({**WITH["yunikorn"], "addons.volcano": {}, "addons.kueue": {}}))
    excluded = [each.path for each in found if "exclude each other" in each.rule]
    assert excluded == ["addons.kueue", "addons.kueue", "addons.volcano"]
