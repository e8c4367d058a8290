"""Changes of resources are derived from two renderings; unknown effects stay unknown."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.report.plan import Plan, ResourceChange, Verb, kind
from slipway.report.plan.compare import compare

FILES = "aws:efs/fileSystem:FileSystem"
TARGET = "aws:efs/mountTarget:MountTarget"


def one(token: str, name: str, inputs: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"urn": f"urn:pulumi:s::slipway::{token}::{name}", "type": token, "inputs": inputs, "options": options}


def plan(before: list[dict[str, Any]], after: list[dict[str, Any]], **needs: dict[str, list[str]]) -> Plan:
    by_name = {data["urn"].rpartition("::")[2]: data["urn"] for data in after}
    sources = {
        by_name[name]: {key: [by_name[source] for source in names] for key, names in taken.items()}
        for name, taken in needs.items()
    }
    return compare(before, after, sources, against="main")


def change(token: str, old: dict[str, Any], new: dict[str, Any]) -> ResourceChange:
    (found,) = plan([one(token, "x", old)], [one(token, "x", new)]).changes
    return found


@pytest.mark.parametrize(
    ("token", "old", "new", "verb"),
    [
        (FILES, {"performanceMode": "maxIO"}, {"performanceMode": "generalPurpose"}, Verb.REPLACE),
        (FILES, {"throughputMode": "elastic"}, {"throughputMode": "bursting"}, Verb.UPDATE),
        ("aws:eks/addon:Addon", {"addonName": "a"}, {"addonName": "b"}, Verb.REPLACE),
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", {"name": "1"}, {"name": "2"}, Verb.MAYBE),
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", {"tags": {"a": "1"}}, {"tags": {"a": "2"}}, Verb.UPDATE),
        ("kubernetes:helm.sh/v3:Release", {"version": "1"}, {"version": "2"}, Verb.UPDATE),
        ("kubernetes:helm.sh/v3:Release", {"namespace": "a"}, {"namespace": "b"}, Verb.REPLACE),
        (
            "kubernetes:core/v1:PersistentVolumeClaim",
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"storageClassName": "a"}},
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"storageClassName": "b"}},
            Verb.REPLACE,
        ),
    ],
)
def test_whether_a_change_forces_a_replacement_follows_the_providers_tables(
    token: str, old: dict[str, Any], new: dict[str, Any], verb: Verb
) -> None:
    assert change(token, old, new).verb is verb


def test_a_changed_property_has_both_values() -> None:
    found = change(FILES, {"lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}]}, {"lifecyclePolicies": []})
    (changed,) = found.properties
    assert (changed.path, changed.before, changed.after) == (
        "lifecyclePolicies[0]",
        '{"transitionToIa": "AFTER_30_DAYS"}',
        "",
    )


def test_creations_and_deletions_are_found_by_urn() -> None:
    found = plan([one(FILES, "old", {}), one(FILES, "same", {})], [one(FILES, "new", {}), one(FILES, "same", {})])
    assert [(change.verb, change.name) for change in found.changes] == [(Verb.DELETE, "old"), (Verb.CREATE, "new")]
    assert found.unchanged == 1
    assert found.counts[Verb.CREATE] == found.counts[Verb.DELETE] == 1


def test_stateful_resources_come_first_with_their_loss() -> None:
    before = [one("aws:ec2/eip:Eip", "a", {}), one(FILES, "z", {})]
    found = plan(before, [])
    assert [change.name for change in found.changes] == ["z", "a"]
    assert [change.name for change in found.dangerous] == ["z"]
    assert "every file" in found.dangerous[0].loses


def test_a_retained_resource_is_removed_from_the_stack_without_loss() -> None:
    found = plan([one(FILES, "files", {}, retainOnDelete=True)], []).changes[0]
    assert (found.verb, found.retained, found.dangerous) == (Verb.DELETE, True, False)


def test_an_empty_node_group_loses_no_jobs() -> None:
    group = "aws:eks/nodeGroup:NodeGroup"
    idle, busy = ({"scalingConfig": {"desiredSize": size}} for size in (0, 2))
    assert not plan([one(group, "g", idle)], []).dangerous
    assert plan([one(group, "g", busy)], []).dangerous


def test_dependents_of_a_replaced_resource_may_be_replaced() -> None:
    before = [one(FILES, "files", {"encrypted": False}), one(TARGET, "target", {"fileSystemId": "fs-1"})]
    after = [one(FILES, "files", {"encrypted": True}), one(TARGET, "target", {"fileSystemId": "fs-1"})]
    found = plan(before, after, target={"fileSystemId": ["files"]})
    assert [(change.name, change.verb, change.cause) for change in found.changes] == [
        ("files", Verb.REPLACE, ""),
        ("target", Verb.MAYBE, "files"),
    ]
    assert [one.name for one in found.dependents()["files"]] == ["target"]


def test_an_update_affects_no_dependents() -> None:
    before = [one(FILES, "files", {"throughputMode": "a"}), one(TARGET, "target", {"fileSystemId": "fs-1"})]
    after = [one(FILES, "files", {"throughputMode": "b"}), one(TARGET, "target", {"fileSystemId": "fs-1"})]
    found = plan(before, after, target={"fileSystemId": ["files"]})
    assert [change.name for change in found.changes] == ["files"]


def test_a_dependent_with_its_own_change_shows_both() -> None:
    before = [one(FILES, "files", {"encrypted": False}), one(TARGET, "target", {"fileSystemId": "f", "tags": {}})]
    after = [one(FILES, "files", {"encrypted": True}), one(TARGET, "target", {"fileSystemId": "f", "tags": {"a": "b"}})]
    target = plan(before, after, target={"fileSystemId": ["files"]}).changes[1]
    assert (target.verb, [changed.path for changed in target.properties]) == (Verb.MAYBE, ["tags.a", "fileSystemId"])


def test_ignored_properties_components_and_dependencies_are_not_changes() -> None:
    token = "slipway:pools:ManagedPool"
    before = [one(FILES, "f", {"tags": {"a": "1"}}, ignoreChanges=["tags"], dependsOn=["x"]), one(token, "old", {})]
    after = [one(FILES, "f", {"tags": {"a": "2"}}, ignoreChanges=["tags"], dependsOn=[]), one(token, "new", {})]
    assert not plan(before, after).changes


def test_removed_protection_is_a_change() -> None:
    found = plan([one(FILES, "f", {}, protect=True)], [one(FILES, "f", {}, protect=False)]).changes[0]
    assert (found.verb, found.properties[0].path, found.properties[0].after) == (Verb.UPDATE, "option protect", "false")


@pytest.mark.parametrize(
    ("token", "name"),
    [
        ("aws:eks/nodeGroup:NodeGroup", "EKS NodeGroup"),
        ("aws:autoscaling/tag:Tag", "Auto Scaling Tag"),
        ("kubernetes:core/v1:Namespace", "Namespace"),
        ("kubernetes:networking.k8s.io/v1:NetworkPolicy", "NetworkPolicy"),
        ("kubernetes:karpenter.sh/v1:NodePool", "NodePool (karpenter.sh)"),
        ("pulumi:providers:aws", "provider aws"),
    ],
)
def test_types_have_readable_names(token: str, name: str) -> None:
    assert kind(token) == name
