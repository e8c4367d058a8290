"""Two renderings compared: also with the stack at another commit."""

import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from slipway.engine.project import Project
from slipway.report.plan import Plan, ResourceChange, Verb, kind
from slipway.report.plan.compare import Baseline, baseline, compare
from tests.support.cases import beside

CASES: Final = beside(__file__)

# Changes of resources are derived from two renderings; unknown effects stay unknown.


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
        ("aws:athena/workgroup:Workgroup", {"name": "1"}, {"name": "2"}, Verb.MAYBE),
        ("aws:athena/workgroup:Workgroup", {"tags": {"a": "1"}}, {"tags": {"a": "2"}}, Verb.UPDATE),
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


def test_a_deleted_database_names_the_snapshot_that_remains_unless_it_is_retained() -> None:
    database = "aws:rds/instance:Instance"
    inputs = {"skipFinalSnapshot": False, "finalSnapshotIdentifier": "rows-final-1"}
    deleted = plan([one(database, "rows", inputs)], []).changes[0]
    assert (deleted.verb, deleted.remains) == (Verb.DELETE, "final snapshot rows-final-1")
    assert plan([one(database, "rows", inputs, retainOnDelete=True)], []).changes[0].remains == ""


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


@pytest.mark.parametrize(("token", "name"), CASES["types have readable names"])
def test_types_have_readable_names(token: str, name: str) -> None:
    assert kind(token) == name


# Another commit is rendered by its own program; failures are reported.


OWN = """\
import json, pathlib, sys
command, stack, *_, out = sys.argv[1:]
if command == "policies":
    sys.exit(print(json.dumps([{"rule": "r/c", "urn": "a::b"}, {"rule": "s/d", "urn": ""}])))
root = pathlib.Path(__file__).resolve().parents[1]
assert (command, stack) == ("render", "dev") and pathlib.Path.cwd().resolve() == root
target = pathlib.Path(out)
target.mkdir(parents=True)
(target / "resources.json").write_text(json.dumps([{"urn": (root / "marker").read_text()}]))
(target / "exports.json").write_text("{}")
"""
BROKEN = "import sys\nsys.exit('this program does not know the stack')\n"


def git(root: Path, *arguments: str) -> None:
    identity = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(
        ["git", "-C", str(root), *arguments], check=True, capture_output=True, env={**os.environ, **identity}
    )


def commit(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "a change")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {"README.md": "empty"})
    git(tmp_path, "tag", "empty")
    settings = "config: {slipway:platform: {}}\n"
    files = {"Pulumi.yaml": "name: slipway\n", "stacks/Pulumi.dev.yaml": settings, "marker": "first"}
    commit(tmp_path, {**files, "slipway/__init__.py": "", "slipway/__main__.py": OWN})
    git(tmp_path, "tag", "first")
    commit(tmp_path, {"marker": "second", "slipway/__main__.py": BROKEN})
    return tmp_path


def base(root: Path, ref: str, stack: str = "dev") -> Baseline:
    return baseline(Project(root), stack, ref)


def test_the_program_of_the_commit_renders_its_own_tree(root: Path) -> None:
    found = base(root, "first")
    assert found.problem == ""
    assert [one["urn"] for one in found.resources] == ["first"]
    assert found.name.startswith("first (")
    assert (found.findings, found.settings) == (None, {})
    judged = baseline(Project(root), "dev", "first", judged=True)
    assert judged.findings == frozenset({("r/c", "b"), ("s/d", "the stack")})


def test_settings_that_this_program_cannot_read_have_no_cost_estimate(root: Path) -> None:
    assert base(root, "first").estimate is None


def test_the_checkout_is_unchanged(root: Path) -> None:
    (root / "marker").write_text("changed by hand")
    base(root, "first")
    listed = subprocess.run(["git", "-C", str(root), "worktree", "list"], check=True, capture_output=True, text=True)
    assert (root / "marker").read_text() == "changed by hand"
    assert len(listed.stdout.splitlines()) == 1


@pytest.mark.parametrize(("ref", "why"), CASES["a failed comparison is reported"])
def test_a_failed_comparison_is_reported(root: Path, ref: str, why: str) -> None:
    found = base(root, ref)
    assert not found.resources
    assert why in found.problem


def test_a_stack_that_did_not_exist_is_new(root: Path) -> None:
    found = base(root, "first", "prod")
    assert (found.new, found.problem, found.resources) == (True, "", ())


def test_a_directory_without_git_is_reported(tmp_path: Path) -> None:
    assert "not a git repository" in base(tmp_path, "main").problem
