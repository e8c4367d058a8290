"""Settings of admission: what happens for each rule, and what is no such thing."""

import pytest

from spec.settings.admission import Action, Admission
from tests.spec.settings.stack import changed, loaded, problems


def test_every_rule_refuses_unless_the_stack_says_otherwise() -> None:
    settings = loaded({"admission": {"imageTag": "warn"}}).platform.admission
    assert settings.of("image-tag") is Action.WARN
    assert settings.of("gpu-pool") is Action.DENY


@pytest.mark.parametrize(
    ("given", "path", "fix"),
    [
        ({"imageTag": "refuse"}, "admission.imageTag", "deny"),
        ({"imageTags": "deny"}, "admission.imageTags", "imageTag"),
        ({"maxReplicas": 0}, "admission.maxReplicas", "1"),
    ],
)
def test_what_is_no_setting_is_refused_with_the_way_to_mend_it(given: dict[str, object], path: str, fix: str) -> None:
    found = problems(changed({"admission": given}))
    assert [problem.path for problem in found] == [path]
    assert fix in found[0].fix, found[0]


def test_defaults_are_one_action_a_rule() -> None:
    actions = {name for name, field in Admission.model_fields.items() if field.annotation is Action}
    assert {getattr(Admission(), name) for name in actions} == {Action.DENY}
