"""What a change does to the pack itself is named, and excuses nothing."""

import json
from pathlib import Path
from typing import Any

import yaml

from policies import pack, review
from policies.generate import levels
from policies.review import base, weakened
from policies.suppressions import FILE, Suppressions, load
from slipway.render.evaluation import check
from tests.support.day import TODAY
from tests.support.stacks import recorded

NOW = load(pack.identities())
TEXT = FILE.read_text(encoding="utf-8")
ROOT = Path(__file__).resolve().parents[2]
TYPES = [(ROOT / file).read_text(encoding="utf-8") for file in review.TYPES]


def configuration(**changes: Any) -> str:
    changed = {
        name.replace("_", "-"): {**levels("prod")[name.replace("_", "-")], **one} for name, one in changes.items()
    }
    return json.dumps({**levels("prod"), **changed})


def test_an_unchanged_pack_is_not_weakened() -> None:
    assert weakened(base(TEXT, configuration(), *TYPES), NOW, "prod") == []


def test_an_added_suppression_is_named_and_does_not_excuse() -> None:
    *others, last = yaml.safe_load(TEXT)
    before = base(yaml.safe_dump(others), configuration(), *TYPES)
    (sentence,) = weakened(before, NOW, "prod")
    assert f"adds the suppression of {last['rule']} for {last['urn']}" in sentence
    rule, _, _ = last["rule"].partition("/")
    reported = {one.rule for one in check(recorded("prod"), TODAY, before.suppressions) if one.counts(TODAY)}
    assert rule in reported
    assert rule not in {one.rule for one in check(recorded("prod"), TODAY) if one.counts(TODAY)}


def test_a_changed_suppression_is_an_added_one() -> None:
    first, *others = yaml.safe_load(TEXT)
    before = base(yaml.safe_dump([{**first, "urn": "urn:pulumi:*::other"}, *others]), configuration(), *TYPES)
    assert len(weakened(before, NOW, "prod")) == 1


def test_a_lowered_level_and_a_changed_setting_are_named() -> None:
    before = base(
        TEXT,
        configuration(gpu_pool_idle_zero={"enforcementLevel": "mandatory"}, principals_known={"accounts": ["1"]}),
        *TYPES,
    )
    assert sorted(weakened(before, NOW, "prod")) == [
        'changes accounts of principals-known from ["1"] to []',
        'changes enforcementLevel of gpu-pool-idle-zero from "mandatory" to "disabled"',
    ]


def test_an_added_type_is_named() -> None:
    known = [text.replace('"aws:kms/alias:Alias",', "") for text in TYPES]
    assert known != TYPES
    before = base(TEXT, configuration(), *known)
    assert weakened(before, NOW, "prod") == ["adds the reviewed type aws:kms/alias:Alias"]


def test_changed_code_of_the_pack_and_of_what_it_compares_with_is_named() -> None:
    files = ["policies/runner.py", "components/admission/pods.py", "tools/ci/page.sh"]
    assert weakened(base(TEXT, configuration(), *TYPES, changed=files), NOW, "prod") == [
        "changes components/admission/pods.py, by which changes are judged",
        "changes policies/runner.py, by which changes are judged",
        "changes tools/ci/page.sh, by which changes are judged",
    ]


def test_the_stricter_level_applies() -> None:
    before = base(TEXT, configuration(helm_pinned={"enforcementLevel": "advisory"}))
    assert before.level("helm-pinned", "mandatory") == "mandatory"
    assert base(TEXT, configuration(), *TYPES).level("helm-pinned", "disabled") == "mandatory"
    assert base(TEXT, configuration(), *TYPES).level("new-rule", "advisory") == "advisory"


def test_a_raised_level_is_no_weakening_and_a_removed_rule_is_one() -> None:
    assert weakened(base(TEXT, configuration(helm_pinned={"enforcementLevel": "advisory"}), *TYPES), NOW, "prod") == []
    gone = json.dumps({**levels("prod"), "former-rule": {"enforcementLevel": "mandatory"}})
    assert weakened(base(TEXT, gone, *TYPES), NOW, "prod") == ["removes the rule former-rule"]


def test_a_rule_that_a_change_turns_off_is_still_evaluated() -> None:
    before = base(TEXT, configuration(gpu_pool_idle_zero={"enforcementLevel": "mandatory"}))
    assert "gpu-pool-idle-zero" in before.enabled
    evaluated = {one.rule for one in check(recorded("prod"), TODAY, Suppressions(), before.enabled)}
    assert "gpu-pool-idle-zero" in evaluated
    assert "gpu-pool-idle-zero" not in {one.rule for one in check(recorded("prod"), TODAY, Suppressions())}
