"""The pack on the real programs of all environments, before anything is made and after."""

from __future__ import annotations

import time
from functools import cache

import pytest

from policies import pack
from policies.levels import ENVIRONMENTS
from policies.rules import RULES
from policies.runner import Finding
from policies.suppressions import load as load_suppressions
from slipway.render.evaluation import check
from tests.policies.support import BY_NAME
from tests.support.day import TODAY
from tests.support.stacks import recorded

IDLE = {
    "asg-launch-template-tags",
    # What teams bring: jobs and models are asked about in manifests (`slipway policies --manifests`).
    "job-bounded",
    "job-queue-and-priority",
    "kserve-hardened",
    "serving-ha",
    "serving-probes",
    "serving-scale-bounds",
    "spot-job-checkpoints",
    # Load balancers are made by their controller; secrets by RDS.
    "lb-public-filtered",
    "lb-tls-internal",
    "secret-stores-encrypted",
}
runs = pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
environments = pytest.mark.parametrize("stack", ENVIRONMENTS)


@cache
def found_in(stack: str, *, preview: bool) -> list[Finding]:
    """All that the pack finds, excused or not: half a second for each."""
    return check(recorded(stack, preview=preview), TODAY)


@runs
@environments
def test_an_environment_passes_at_its_own_levels(stack: str, preview: bool) -> None:
    mandatory = [
        f"{finding.id} {finding.urn}"
        for finding in found_in(stack, preview=preview)
        if finding.counts(TODAY) and BY_NAME[finding.rule].levels.of(stack).value == "mandatory"
    ]
    assert mandatory == []


def test_every_suppression_still_excuses_something() -> None:
    found = [finding for stack in ENVIRONMENTS for finding in found_in(stack, preview=False)]
    used = {finding.suppression for finding in found}
    assert [one for one in load_suppressions(pack.identities()).all if one not in used] == []


@environments
def test_a_preview_tells_all_that_an_update_would(stack: str) -> None:
    def ids(preview: bool) -> set[tuple[str, str]]:
        return {(one.id, one.urn) for one in found_in(stack, preview=preview)}

    assert ids(True) == ids(False)


def test_rules_meet_the_types_that_they_are_about() -> None:
    """A rule about nothing that any stack makes would pass for ever; those few are named here."""
    made = {resource.type for stack in ENVIRONMENTS for resource in recorded(stack)}
    idle = [rule.name for rule in RULES if rule.types != ("*",) and not made.intersection(rule.types)]
    assert set(idle) == IDLE


def test_the_rules_take_a_moment_for_production() -> None:
    """0.06 s on a laptop of 2026; the bound is for a busy machine, and far below the 2 s of a whole preview."""
    found = recorded("prod", preview=True)
    start = time.process_time()
    check(found, TODAY)
    assert time.process_time() - start < 1
