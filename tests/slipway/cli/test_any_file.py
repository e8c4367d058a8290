"""Whatever a user's file says, it is answered or refused in a sentence. Stack files are in tests/spec/settings."""

import copy
import functools
import json
import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipway.replay import readers
from slipway.trial import clock, scenario
from slipway.why import fix, manifests
from slipway.why.shapes import decoded
from spec import strict_yaml
from spec.errors import SlipwayError
from spec.settings.admission import Admission
from tests.slipway.why.objects import DEV
from tests.support.cases import beside
from tests.support.stacks import platform_of

CASES: Final = beside(__file__)
ROOT: Final = Path(__file__).parents[3]


def files(pattern: str) -> list[Any]:
    return [one for path in sorted(ROOT.glob(pattern)) for one in strict_yaml.documents(path)]


VALUES: Final = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.dates(), st.text(max_size=4), st.just("10%")),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=4), inner, max_size=2)),
    max_leaves=3,
)


def answer(path: Path) -> None:
    """What `slipway why FILE --fix` does without a cluster."""
    objects = decoded(manifests.located([yaml.safe_load(path.read_text("utf-8"))]), "file")
    for _, one in decoded(list(manifests.with_trials(objects)), "file"):
        for each in (one, fix.fixed(one, DEV, Admission())[0]):
            manifests.answer(
                each, target=DEV, rules=Admission(), dry_run=None, others=[one], platform=platform_of("dev")
            ).text()


def rehearse(path: Path) -> None:
    (clock.read if clock.drives(path) else scenario.read)(path, "dev")


READERS: Final[dict[str, tuple[Callable[[Path], object], list[Any]]]] = {
    "manifest": (answer, files("tests/e2e/workloads/twins/*.yaml")),
    "scenario": (rehearse, files("scenarios/*.yaml")),
    "trace": (readers.read, CASES["traces"]),
}


def places(value: Any, *at: Any) -> Iterator[tuple[Any, ...]]:
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*at, key)
        yield from places(below, *at, key)


@pytest.mark.parametrize("kind", READERS)
@given(data=st.data())
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_a_file_with_any_value_at_any_place_is_answered_or_refused(kind: str, data: Any, tmp_path: Path) -> None:
    read, right = READERS[kind]
    document = copy.deepcopy(data.draw(st.sampled_from(right)))
    *above, last = data.draw(st.sampled_from(list(places(document))))
    functools.reduce(operator.getitem, above, document)[last] = data.draw(VALUES)
    path = tmp_path / "file"
    path.write_text(json.dumps(document, default=str) if kind == "trace" else yaml.safe_dump(document), "utf-8")
    try:
        read(path)
    except SlipwayError as error:
        str(error).encode("utf-8")


@pytest.mark.parametrize("row", CASES["refused"], ids=operator.itemgetter("says"))
def test_a_value_of_another_type_is_refused_with_its_place(row: dict[str, Any]) -> None:
    with pytest.raises(SlipwayError) as refused:
        decoded([((1,), row["manifest"])], "job.yaml")
    assert f"  - document.1.{row['says']}. Write " in str(refused.value)
