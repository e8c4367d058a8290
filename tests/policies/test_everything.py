"""The example stack with every add-on: nothing is left out without a reason, and the pack accepts it as it does dev."""

from dataclasses import replace
from typing import Final

import pytest
from pulumi_policy import EnforcementLevel

from slipway.render.evaluation import check
from slipway.render.program import record_platform
from spec.settings import Platform, load, read_stack
from spec.settings.checks.addons import key_of
from tests.policies.support import BY_NAME
from tests.support.day import TODAY
from tests.support.stacks import FOLDER

NAME: Final = "everything"


@pytest.fixture(scope="module")
def platform() -> Platform:
    return load(read_stack(NAME, FOLDER.parent / "examples/stacks"), stack=NAME, today=TODAY).platform


def test_it_lacks_only_what_another_add_on_excludes(platform: Platform) -> None:
    named = {str(field.alias) for field in type(platform.addons).model_fields.values()}
    excluded = {key_of(kind) for _, settings in platform.addons.wanted() for kind in settings.excludes}
    assert named - {key for key, _ in platform.addons.wanted()} == excluded == {"opencost", "volcano", "yunikorn"}


def test_the_pack_accepts_it_as_a_stack_for_development(platform: Platform) -> None:
    recording = replace(record_platform(platform, stack=NAME), stack="dev")
    mandatory = {
        (one.rule, one.urn.rpartition("::")[2])
        for one in check(recording, TODAY)
        if one.counts(TODAY) and BY_NAME[one.rule].levels.of("dev") is EnforcementLevel.MANDATORY
    }
    assert mandatory == set()
