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


def test_every_value_that_is_not_a_map_has_a_path() -> None:
    values = {"a": {"b": 1, "c": {"d": [1, {"e": 2}]}}, "f": {}, "g": None}
    assert list(keys.leaves(values)) == [("a", "b"), ("a", "c", "d"), ("f",), ("g",)]


def test_a_verified_path_ends_where_the_chart_accepts_any_key(tmp_path: Path) -> None:
    chart = chart_at(write_chart(tmp_path, values=VALUES))
    values = {
        "controller": {
            "image": {"tag": "v1"},
            "extra": {"anything": {"below": 1}},
            "resources": {"requests": {"nvidia.com/gpu": 1}},
            "priorityClassName": "low",
        },
        "list": [{"x": 1}],
    }
    assert keys.verified(chart, values) == {
        "controller/image/tag",
        "controller/extra",
        "controller/resources",
        "controller/priorityClassName",
        "list",
    }


def test_a_key_is_verified_by_its_own_path_or_a_parent_path() -> None:
    known = {"a/b", "c"}
    assert keys.unverified({"a": {"b": {"x": 1}}, "c": {"y": {"z": 1}}}, known) == ()
    assert keys.unverified({"a": {"bb": 1}, "cc": 1, "d": {}}, known) == ("a/bb", "cc", "d")
