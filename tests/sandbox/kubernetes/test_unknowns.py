from typing import Any

import pytest

from sandbox.kubernetes.validation import (
    PLACEHOLDER,
    blamed,
    complains_of_unknown,
    with_placeholders,
    without,
)
from sandbox.rpc.wire import UNKNOWN

OBJECT: dict[str, Any] = {
    "metadata": {"name": "x", "annotations": {"a.b/role": f"arn:{UNKNOWN}:role"}},
    "spec": {"replicas": UNKNOWN, "ports": [{"port": 80}, {"port": UNKNOWN}]},
}
PLACES = (("metadata", "annotations", "a.b/role"), ("spec", "replicas"), ("spec", "ports", 1, "port"))


def test_every_unknown_is_replaced_by_a_placeholder() -> None:
    obj, places = with_placeholders(OBJECT)
    assert places == PLACES
    assert obj["metadata"]["annotations"]["a.b/role"] == f"arn:{PLACEHOLDER}:role"
    assert OBJECT["spec"]["replicas"] == UNKNOWN


def test_an_object_without_unknowns_is_unchanged() -> None:
    known = {"a": 1}
    assert with_placeholders(known) == (known, ())


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (".spec.replicas: expected numeric (int or float), got string", (PLACES[1],)),
        ('.spec.ports[name="x"].port: expected numeric', (PLACES[2],)),
        ("spec.ports[1].port: Invalid value", (PLACES[2],)),
        (".spec.replicasMax: expected numeric", ()),
        (".spec.foo: field not declared in schema", ()),
    ],
)
def test_a_message_is_attributed_to_its_unknown(message: str, expected: tuple[Any, ...]) -> None:
    assert blamed(message, PLACES) == expected


def test_a_message_that_quotes_the_placeholder_is_about_an_unknown() -> None:
    assert complains_of_unknown(f'Invalid value: "{PLACEHOLDER}"', ())
    assert not complains_of_unknown("Required value", ())


def test_paths_are_removed_without_moving_the_others() -> None:
    obj = {"list": ["a", "b", "c", "d"], "map": {"x": 1, "y": 2}}
    assert without(obj, [("list", 1), ("list", 3), ("map", "x")]) == {"list": ["a", "c"], "map": {"y": 2}}
    assert obj["list"] == ["a", "b", "c", "d"]
