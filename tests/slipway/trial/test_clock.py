"""Files of scenarios that the clock drives: what they say, and what they may not say."""

import copy
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from slipway.trial import clock
from slipway.trial.clock import OF, ClockExpectation, given
from slipway.trial.scenario import FOLDER
from spec.errors import SlipwayError
from tests.support.cases import beside

CASES: Final = beside(__file__)

SHIPPED = [path for path in sorted((Path(__file__).resolve().parents[3] / FOLDER).glob("*.yaml")) if clock.drives(path)]
FILE: dict[str, Any] = CASES["file"]


def written(path: Path, document: object) -> Path:
    (path / "it.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    return path / "it.yaml"


def test_a_bad_variant_is_the_scenario_with_its_changes(tmp_path: Path) -> None:
    found = clock.read(written(tmp_path, FILE))
    good, bad = found.variants
    assert (found.name, found.stacks, good.name, bad.name) == ("it", ("dev",), "", "later")
    assert (good.seconds, bad.seconds) == (12 * 3600, 12 * 3600)
    assert good.jobs["train"].deadline == "1h"
    assert bad.jobs == {"train": good.jobs["train"].model_copy(update={"deadline": None})}
    assert bad.change == {"pools": {"a100": {"max": 1, "disruption": {"consolidateAfter": "1m"}}}}
    assert good.breaks == good.kueue == {}
    assert list(bad.expect) == ["job/train", "pool/a100", "stack"]


def test_the_content_says_what_drives_a_scenario(tmp_path: Path) -> None:
    assert clock.drives(written(tmp_path, FILE))
    assert not clock.drives(written(tmp_path, {key: FILE[key] for key in FILE if key != "replay"}))
    assert not clock.drives(tmp_path / "none.yaml")


WRONG: list[tuple[list[str], Any, str]] = CASES["wrong"]


@pytest.mark.parametrize(("at", "value", "says"), WRONG, ids=[says for _, _, says in WRONG])
def test_what_is_wrong_is_named_with_its_place(at: list[str], value: Any, says: str, tmp_path: Path) -> None:
    document = copy.deepcopy(FILE)
    below = document
    for key in at[:-1]:
        below = below[key]
    below[at[-1]] = value
    with pytest.raises(SlipwayError) as error:
        clock.read(written(tmp_path, document))
    assert says in str(error.value)
    assert "it.yaml" in str(error.value)


def test_every_expectation_is_of_some_subject() -> None:
    numbers = {"costsAtMost": 1, "usedAtLeast": 1, "preemptedAtMost": 0, "losesAtMost": 0}
    texts = {"waitsAtMost": "1s", "neverStartsBecause": "x", "preemptedBy": "x", "reaches": "x:1"}
    every = ClockExpectation.model_validate({**numbers, **texts})
    assert set(given(every)) == {name for names in OF.values() for name in names} == OF["job"]


def test_each_shipped_scenario_has_a_bad_variant_and_all_expectations_are_used() -> None:
    assert {path.stem for path in SHIPPED} == {
        "bin-packing", "fragmentation", "gpu-memory", "half-started-gang", "idle-night", "inference",
        "mig-beside-whole", "network-policy", "preemption-loop", "rolling-replacement", "sharing", "weekend", "zombies",
    }  # fmt: skip
    used = set()
    for path in SHIPPED:
        good, *bad = clock.read(path).variants
        assert bad, path
        used |= {name for one in good.expect.values() for name in given(one)}
    assert used == OF["job"]


def on_prod(tmp_path: Path, text: str) -> clock.ClockScenario:
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    return clock.read(path, "prod")


DIFFERS = CASES["a stack differs"]


def test_a_stack_has_its_own_changes_jobs_and_expectations(tmp_path: Path) -> None:
    good, bad = on_prod(tmp_path, DIFFERS).variants
    assert (good.change, list(good.jobs), good.jobs["a"].count) == ({}, ["a"], 5)
    assert {name: one.waits_at_most for name, one in good.expect.items()} == {"job/a": "2m"}
    assert (bad.name, bad.jobs["a"].count, bad.jobs["a"].runs, bad.breaks) == (
        "all", 5, "2h", {"job/a": {"waitsAtMost": "x"}},
    )  # fmt: skip
    dev = clock.read(tmp_path / "a.yaml", "dev").variants
    assert (dev[0].change, [one.name for one in dev]) == ({"pools": {"h100": {"max": 1}}}, ["", "all", "of-dev"])


def test_what_differs_is_of_the_scenarios_stacks(tmp_path: Path) -> None:
    with pytest.raises(SlipwayError, match=r"staging: not in stacks \(dev, prod\)"):
        on_prod(tmp_path, DIFFERS.replace("  prod: {change", "  staging: {change"))
