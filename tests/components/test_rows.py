"""What components declare with some settings: the rows of `rows/*.yaml`, by subject."""

import json
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

import pytest

from components.addons.registry import REGISTRY
from components.pools.karpenter import limits, node_overlay, node_pool, requirements, wants_overlay
from components.pools.nodeclass import NodeClassArgs, node_class
from sandbox.aws.schema import schema
from spec.settings.addons import AddonSettings
from tests.components.addons.test_registry import KINDS
from tests.components.cluster.support import record_cluster, record_control_plane
from tests.components.network.test_network import record as record_network
from tests.components.pools.samples import BLOCK, record_fleet, spec
from tests.components.rows import FOLDER, Row, Tagged, differences, rows
from tests.components.storage.support import record as record_storage
from tests.support.context import seen_parts
from tests.support.mocks import Recording

Declared = tuple[Mapping[str, Any], Mapping[str, Mapping[str, Any]]]
"""What is declared by name, and what resources return."""


def resources(recording: Recording, row: Row) -> Declared:
    """Inputs by logical name, and below keys in capitals what is no input.

    Of a resource: its `TYPE`, its `OPTIONS`, `FROM` (by input the resources whose outputs it has) and `AFTER` (all that
    it waits for). Of the whole: names by type below `TYPES`, `PROTECTED` ones, and what the component `RETURNED`.
    """
    assert recording.default_provider_users == (), row.place
    names = {one.urn: one.name for one in recording}
    declared: dict[str, Any] = {"TYPES": {}, "PROTECTED": sorted(recording.protected)}
    declared["RETURNED"] = _named(recording.returned, names)
    for one in (each for each in recording if each.custom):
        declared["TYPES"].setdefault(one.type.rpartition(":")[2], []).append(one.name)
        options = ("protect", "retain_on_delete", "ignore_changes", "delete_before_replace", "timeouts", "deleted_with")
        declared[one.name] = {
            **one.inputs,
            "TYPE": one.type,
            "OPTIONS": {key: _named(getattr(one, key), names) for key in options},
            "FROM": {key: sorted(names[urn] for urn in urns) for key, urns in one.input_sources.items()},
        }
        if "AFTER" in (row.has.get(one.name) or {}):
            declared[one.name]["AFTER"] = sorted(names[urn] for urn in recording.awaited(one))
    return declared, {one.name: one.outputs for one in recording}


def _named(value: Any, names: Mapping[str, str]) -> Any:
    """A value with lists for tuples, and names for URNs."""
    if isinstance(value, Mapping):
        return {key: _named(one, names) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_named(one, names) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


def storage(row: Row) -> Declared:
    """The component; `set` are dotted paths of a stack file."""
    assert not row.more
    return resources(record_storage(dict(row.set)), row)


def cluster(row: Row) -> Declared:
    """Control plane and EKS add-ons; `set` are settings of `cluster`. With `alone` the control plane without them."""
    if "alone" in row.more:
        return resources(record_control_plane(**row.more["alone"], **row.set), row)
    return resources(record_cluster(**row.set), row)


def network(row: Row) -> Declared:
    """The component; `set` are settings of `network`, `letters` its zones."""
    return resources(record_network(row.more.get("letters", "ab"), **row.set), row)


def fleet(row: Row) -> Declared:
    """All node pools, one of which is `work`; `set` are its settings, on top of those of `of`. `pools` are others."""
    parts = row.more.get("with", {})
    return resources(record_fleet({**row.more.get("pools", {}), "work": {**_base(row), **row.set}}, **parts), row)


def _base(row: Row) -> Mapping[str, Any]:
    bases: dict[str, Mapping[str, Any]] = {
        "managed": {"preset": "a100", "provisioner": "managed"},
        "reserved": {"preset": "h100", "capacity": {"market": "reserved", "reservation": RESERVATION}},
        "block": BLOCK,
    }
    return bases[row.more["of"]] if "of" in row.more else {}


RESERVATION: Final = {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}


def elastic(row: Row) -> Declared:
    """Manifests of an elastic pool `work` of the cluster `ml`; `set` are its settings, on top of those of `of`."""
    pool = spec(**_base(row), **row.set)
    args = NodeClassArgs(
        spec=pool, cluster="ml", instance_profile="ml-nodes", placement_group="together", tags={"owner": "ml-platform"}
    )
    made = {
        "class": node_class(args),
        "pool": node_pool(pool),
        "requirements": {each["key"]: each["values"] for each in requirements(pool)},
        "limits": limits(pool),
    }
    return {**made, **({"overlay": node_overlay(pool)} if wants_overlay(pool) else {})}, {}


def addons(row: Row) -> Declared:
    """An add-on: values by release, and manifests; `set` are its settings, `with` other parts of the stack file."""
    kind: type[AddonSettings] = KINDS[row.more["addon"]]
    assert row.more.keys() <= {"addon", "with"}, row.place
    settings = kind.model_validate_json(json.dumps(row.set))
    parts = {"addons": {}, **row.more.get("with", {})}
    seen = seen_parts(lambda: REGISTRY[kind](settings), **parts)
    found, outputs = resources(seen.recording, row)
    return {**found, **seen.before, **seen.objects, **seen.values}, outputs


SUBJECTS: Final[Mapping[str, Callable[[Row], Declared]]] = {
    one.__name__: one for one in (storage, cluster, network, fleet, elastic, addons)
}


@cache
def all_rows() -> tuple[tuple[str, Row], ...]:
    return tuple((subject, row) for subject in SUBJECTS for row in rows(subject))


@pytest.mark.parametrize(("subject", "row"), all_rows(), ids=[row.id for _, row in all_rows()])
def test_what_is_declared(subject: str, row: Row) -> None:
    declared, outputs = SUBJECTS[subject](row)
    near = {name: get_close_matches(name, declared, cutoff=0.4) for name in row.has if name not in declared}
    assert list(differences(row.has, declared, outputs)) == [], f"{row.id}; resources with such names: {near}"
    assert list(unknown(row.has, declared)) == [], row.id


def unknown(has: Mapping[str, Any], declared: Mapping[str, Any]) -> Iterator[str]:
    """Inputs of AWS resources that must be absent, and that their types don't have: a slip of the pen."""
    for name, part in has.items():
        token = declared.get(name, {}).get("TYPE", "") if isinstance(part, Mapping) else ""
        if token.startswith("aws:"):
            known = schema(token)
            assert known is not None, token
            yield from (f"{name}.{key}" for key, value in part.items() if value is None and key not in known.inputs)


def test_an_input_that_a_type_does_not_have_is_a_slip() -> None:
    declared = {"key": {"TYPE": "aws:kms/key:Key"}}
    assert list(unknown({"key": {"multiRegion": None, "multiRegional": None}}, declared)) == ["key.multiRegional"]


def test_every_file_is_read_and_no_requirement_is_written_twice() -> None:
    assert {file.stem for file in FOLDER.glob("*.yaml")} == set(SUBJECTS)
    requirements = [(subject, row.more.get("addon"), row.what) for subject, row in all_rows()]
    assert len(requirements) == len(set(requirements))


def test_a_difference_is_found() -> None:
    def found(expected: Any, actual: Any) -> list[str]:
        return list(_found(expected, actual))

    def _found(expected: Any, actual: Any) -> Iterator[str]:
        return differences(expected, actual, {"key": {"arn": "a"}})

    policy = '{"Statement": [{"Sid": "Read", "Action": ["s3:GetObject"]}], "Version": "1"}'
    for expected, actual in (
        ({"a": 1}, {"a": 2}),
        ({"a": {}}, {"a": {"b": 1}}),
        ({"a": True}, {"a": 1}),
        ({"a": 1}, {}),
        ({"a": None}, {"a": None}),
        ({"a": [1]}, {"a": [1, 2]}),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}),
        (Tagged("only", {"a": 1}), {"a": 1, "b": 2}),
        (Tagged("holds", [3]), [1, 2]),
        (Tagged("lacks", [2]), [1, 2]),
        (Tagged("lacks", [2]), "12"),
        (Tagged("matches", "[0-9]+"), "a1"),
        (Tagged("output", "key.arn"), "b"),
        ({"Read": {"Action": ["s3:PutObject"]}}, policy),
        ({"Write": {"Action": ["s3:GetObject"]}}, policy),
    ):
        assert len(found(expected, actual)) == 1, (expected, actual)
    assert found({"Read": {"Action": Tagged("holds", ["s3:GetObject"])}}, policy) == []
    assert found({"a": None, "b": Tagged("output", "key.arn")}, {"b": "a"}) == []
