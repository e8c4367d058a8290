"""The pack on the real programs of all environments, as a preview and as an update."""

import time
from functools import cache
from typing import Any

import pytest

from policies import pack
from policies.rule import ENVIRONMENTS
from policies.rules import RULES
from policies.runner import Finding
from policies.suppressions import load as load_suppressions
from slipway.render.evaluation import check
from slipway.render.program import record_platform
from spec.settings import ConfigurationError, Platform, load, read_stack
from tests.policies.support import BY_NAME
from tests.support.day import TODAY
from tests.support.stacks import FOLDER, recorded

IDLE = {
    "asg-launch-template-tags",
    # Jobs and models come from teams: `slipway policies --manifests` evaluates their manifests.
    "job-bounded",
    "job-queue-and-priority",
    "kserve-hardened",
    "serving-ha",
    "serving-scale-bounds",
    "spot-job-checkpoints",
    # Controllers create load balancers; RDS creates secrets.
    "lb-public-filtered",
    "lb-tls-internal",
    "secret-stores-encrypted",
}
runs = pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
environments = pytest.mark.parametrize("stack", ENVIRONMENTS)


@cache
def findings_in(stack: str, *, preview: bool) -> list[Finding]:
    """All findings, including suppressed ones: half a second for each stack."""
    return check(recorded(stack, preview=preview), TODAY)


@runs
@environments
def test_an_environment_passes_at_its_own_levels(stack: str, preview: bool) -> None:
    mandatory = [
        f"{finding.id} {finding.urn}"
        for finding in findings_in(stack, preview=preview)
        if finding.counts(TODAY) and BY_NAME[finding.rule].levels.of(stack).value == "mandatory"
    ]
    assert mandatory == []


def test_every_suppression_is_used() -> None:
    findings = [finding for stack in ENVIRONMENTS for finding in findings_in(stack, preview=False)]
    used = {finding.suppression for finding in findings}
    unused = [one for one in load_suppressions(pack.identities()).all if one not in used]
    assert unused == [], "remove these from policies/suppressions.yaml"


def test_every_accepted_value_is_one_that_a_finding_names() -> None:
    findings = [finding for stack in ENVIRONMENTS for finding in findings_in(stack, preview=False)]
    named = {(one.suppression, one.value) for one in findings if one.suppression}
    listed = {(one, value) for one in load_suppressions(pack.identities()).all for value in one.value}
    assert named == listed, "policies/suppressions.yaml: remove the values that no finding names"


@environments
def test_a_preview_reports_the_same_findings_as_an_update(stack: str) -> None:
    def ids(preview: bool) -> set[tuple[str, str]]:
        return {(one.id, one.urn) for one in findings_in(stack, preview=preview)}

    assert ids(True) == ids(False)


def test_rules_apply_to_types_of_the_stacks() -> None:
    """A rule for types that no stack has would always pass; `IDLE` lists the few that are meant."""
    types = {resource.type for stack in ENVIRONMENTS for resource in recorded(stack)}
    idle = [rule.name for rule in RULES if rule.types != ("*",) and not types.intersection(rule.types)]
    assert set(idle) == IDLE


def test_rules_are_evaluated_fast_for_production() -> None:
    """0.06 s on a laptop of 2026; the bound is for a busy machine, and far below the 2 s for a whole preview."""
    recording = recorded("prod", preview=True)
    start = time.process_time()
    check(recording, TODAY)
    assert time.process_time() - start < 1


def changed_staging(pool: dict[str, Any]) -> Platform:
    data: Any = read_stack("staging", FOLDER)
    return load({**data, "pools": {**data["pools"], "h100": pool}}, stack="staging", today=TODAY).platform


ELASTIC: dict[str, Any] = {"preset": "h100", "max": 2, "zones": ["us-east-1b"], "efa": True}
"""The preset's provisioner is Karpenter."""


def test_elastic_efa_on_two_interfaces_a_card_is_refused_with_two_ways_out() -> None:
    with pytest.raises(ConfigurationError) as error:
        changed_staging(ELASTIC)
    (problem,) = error.value.problems
    assert problem.path == "pools.h100.efa"
    assert "Use `provisioner: managed`" in problem.fix


@runs
def test_elastic_efa_passes_at_the_levels_of_production(preview: bool) -> None:
    """Karpenter selects the fabric's security group by its tags: no resource refers to it."""
    platform = changed_staging({**ELASTIC, "instanceTypes": ["p5en.48xlarge"], "zones": ["us-east-1a"]})
    findings = check(record_platform(platform, stack="staging", preview=preview), TODAY)
    mandatory = {
        one.id for one in findings if one.counts(TODAY) and BY_NAME[one.rule].levels.of("prod").value == "mandatory"
    }
    assert mandatory <= {one.id for one in findings_in("staging", preview=preview) if one.counts(TODAY)}
