"""Keys of values as paths."""

from __future__ import annotations

from pathlib import Path

from slipway.charts import keys
from tests.slipway.sandbox.kubernetes.helm.charts import chart_at, write_chart

VALUES = """\
replicas: 1
controller:
  image: {tag: ""}
  extra: {}
  resources: {limits: {cpu: 1}}
  # priorityClassName: high
list: []
"""


def test_a_path_leads_to_every_value_that_is_no_map() -> None:
    values = {"a": {"b": 1, "c": {"d": [1, {"e": 2}]}}, "f": {}, "g": None}
    assert list(keys.leaves(values)) == [("a", "b"), ("a", "c", "d"), ("f",), ("g",)]


def test_a_verified_path_ends_where_the_chart_takes_any_key(tmp_path: Path) -> None:
    chart = chart_at(write_chart(tmp_path, values=VALUES))
    given = {
        "controller": {
            "image": {"tag": "v1"},
            "extra": {"anything": {"below": 1}},
            "resources": {"requests": {"nvidia.com/gpu": 1}},
            "priorityClassName": "low",
        },
        "list": [{"x": 1}],
    }
    assert keys.verified(chart, given) == {
        "controller/image/tag",
        "controller/extra",
        "controller/resources",
        "controller/priorityClassName",
        "list",
    }


def test_what_is_below_a_known_path_is_known_and_what_is_beside_it_is_not() -> None:
    known = {"a/b", "c"}
    assert keys.unverified({"a": {"b": {"x": 1}}, "c": {"y": {"z": 1}}}, known) == ()
    assert keys.unverified({"a": {"bb": 1}, "cc": 1, "d": {}}, known) == ("a/bb", "cc", "d")
