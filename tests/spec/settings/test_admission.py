"""Settings of admission: the action of each rule, and invalid settings."""

import pytest

from spec.settings.admission import Action, Admission
from tests.spec.settings.stack import changed, loaded, problems


def test_every_rule_denies_unless_the_stack_says_otherwise() -> None:
    settings = loaded({"admission": {"imageTag": "warn"}}).platform.admission
    assert settings.of("image-tag") is Action.WARN
    assert settings.of("gpu-pool") is Action.DENY


@pytest.mark.parametrize(
    ("admission", "path", "fix"),
    [
        ({"imageTag": "refuse"}, "admission.imageTag", "deny"),
        ({"imageTags": "deny"}, "admission.imageTags", "imageTag"),
        ({"maxReplicas": 0}, "admission.maxReplicas", "1"),
        ({"teams": {"vison": {}}}, "admission.teams.vison", "no team"),
    ],
)
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
