"""Reading a stack file: content that could mislead a reader or hang a machine is refused, with its position."""

import os
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from spec.settings import ConfigurationError, load, read_stack, stacks_in
from spec.settings.admission import Action
from spec.settings.problems import Problem
from spec.settings.source import placed
from tests.spec.settings.stack import BASE, DELETE, changed, loaded, problems
from tests.support.day import TODAY
from tests.support.stacks import FOLDER, NAMES

GOOD = yaml.safe_dump({"config": {"slipway:platform": BASE}})
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{this}: &{this} [{', '.join(f'*{before}' for _ in range(9))}]\n"
    for before, this in zip("abcdefgh", "bcdefghi", strict=True)
)


def write(directory: Path, content: str | bytes, stack: str = "test") -> None:
    data = content.encode() if isinstance(content, str) else content
    (directory / f"Pulumi.{stack}.yaml").write_bytes(data)


def refused(directory: Path, stack: str = "test") -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(read_stack(stack, directory), stack=stack, today=TODAY)
    (problem,) = caught.value.problems
    assert problem.fix
    return str(problem)


@pytest.mark.parametrize("content", [
    GOOD.encode(),
    b"\xef\xbb\xbf" + GOOD.encode(),
    GOOD.replace("\n", "\r\n").encode(),
    b"---\n" + GOOD.encode() + b"...\n",
], ids=["plain", "byte order mark", "CRLF", "document marks"])  # fmt: skip
def test_files_of_all_common_editors_are_read(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, content)
    assert load(read_stack("test", tmp_path), stack="test", today=TODAY).platform.cluster_name == "slipway-test"


@pytest.mark.parametrize("line", [
    "environment: [theirs]", "main: elsewhere", "encryptionsalt: v1:x\nsecretsprovider: gcpkms://theirs",
    "secretsprovider: awskms:///arn:aws:kms:us-east-1:999999999999:key/1", "secretsprovider: awskms://alias/x?profile=y",
    *(f"  {key}: x" for key in ("aws:endpoints", "aws:assumeRoles", "kubernetes:kubeconfig", "another:key",
                                 "pulumi:disable-default-providers", "slipway:other")),
])  # fmt: skip
def test_keys_that_choose_credentials_endpoints_or_the_key_of_the_state_are_refused(tmp_path: Path, line: str) -> None:
    write(tmp_path, f"{GOOD}{line}\n")
    assert line.strip().rpartition("\n")[2].partition(": ")[0] in refused(tmp_path)


@pytest.mark.parametrize("line", [
    "encryptionsalt: v1:x", "secretsprovider: awskms://alias/pulumi-dev?region=us-east-1\nencryptedkey: x",
    f"secretsprovider: awskms:///arn:aws:kms:us-east-1:{BASE['account']['id']}:key/1",
])  # fmt: skip
def test_what_pulumi_writes_for_secrets_is_accepted(tmp_path: Path, line: str) -> None:
    write(tmp_path, f"{GOOD}{line}\n")
    assert read_stack("test", tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (GOOD + "config:\n  x: 1\n", "the key 'config' is set twice"),
        (GOOD.replace("  slipway", "  a: {b: 1, b: 2}\n  slipway", 1), "the key 'b' is set twice"),
        (GOOD.replace("  slipway", "  a: {1: x, '1': y}\n  slipway", 1), "the key '1' is set twice"),
        (BOMB, "anchors and aliases are not allowed"),
        ("config: &c {}\n", "anchors and aliases are not allowed"),
        ("config:\n  <<: {a: 1}\n", "merge keys are not supported"),
        ("config:\n  ? [a, b]\n  : 1\n", "a key must be text"),
        ("config:\n  ? {a: b}\n  : 1\n", "a key must be text"),
        ("config: !!python/object/apply:os.system [id]\n", "could not determine a constructor"),
        ("config: [\n", "must be plain YAML"),
        ("\tconfig: {}\n", "indents with spaces, not with tabs"),
        ("config:\n\tslipway:platform: {}\n", "Pulumi.test.yaml:2:1"),
        ("config:\n  a: 1\n \tb: 2\n", "a tab"),
        ("config: {a: 2026-13-45}\n", "does not match its YAML type"),
        ("config: {a: !!bool maybe}\n", "does not match its YAML type"),
        ("config: {a: !!timestamp soon}\n", "does not match its YAML type"),
        ("config: {a: %s}\n" % ("9" * 5000), "does not match its YAML type"),
        ("config: " + "[" * 100 + "]" * 100, "at most 32 levels"),
        ("[" * 120_000 + "]" * 120_000, "must be plain YAML"),
        ("- " * 120_000 + "x", "at most 32 levels"),
        ("? " * 120_000 + "x", "at most 32 levels"),
        ("a: 1\n--- \nb: 2\n", "another document"),
        ("config: \x00\n", "must be plain YAML"),
        (b"config: \xff\xfe\n", "readable UTF-8"),
        (GOOD.encode("utf-16"), "readable UTF-8"),
        ("", "with the key `config`"),
        ("- config\n", "with the key `config`"),
        ("config: 3\n", "with the key `config`"),
        ("config: {}\n", "settings are required"),
        ("config: {slipway:platform: 3}\n", "must be a map"),
        ("config: {slipway:platfrom: {}}\n", "settings are required"),
    ],
)
def test_a_file_that_is_not_plain_is_refused(tmp_path: Path, content: str | bytes, words: str) -> None:
    write(tmp_path, content)
    assert words in refused(tmp_path)


def test_a_mistake_in_yaml_is_shown_by_line_and_column(tmp_path: Path) -> None:
    write(tmp_path, "config:\n  a: 1\n  a: 2\n")
    assert "Pulumi.test.yaml:3:3: " in refused(tmp_path)


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    write(tmp_path, "x" * 10_000_000)
    assert "at most 262144 bytes (given: 10000000)" in refused(tmp_path)


def test_what_was_refused_unread_is_not_read_for_places(tmp_path: Path) -> None:
    """A pipe has no end; nor has a link to /dev/zero."""
    found = [Problem("environment", "it", None, "Fix it.")]
    os.mkfifo(tmp_path / "Pulumi.pipe.yaml")
    write(tmp_path, f"{GOOD}# {'x' * 300_000}\n", "large")
    assert [placed(found, stack, tmp_path) for stack in ("pipe", "large")] == [found, found]
    write(tmp_path, GOOD)
    assert placed(found, "test", tmp_path) != found


def test_a_stack_without_a_file_is_refused_with_the_available_ones(tmp_path: Path) -> None:
    write(tmp_path, GOOD, "dev")
    write(tmp_path, GOOD, "prod")
    assert refused(tmp_path).endswith("Available stacks: dev, prod.")
    assert stacks_in(tmp_path) == ["dev", "prod"]


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.test.yaml").mkdir()
    assert "must exist" in refused(tmp_path)


@pytest.mark.parametrize("stack", ["../test", "/etc/passwd", "a/b", "", "a\x00b", "x" * 300, "tést", "a b"])
def test_a_stack_name_can_not_be_a_path(tmp_path: Path, stack: str) -> None:
    (tmp_path / "stacks").mkdir()
    write(tmp_path, GOOD)
    assert "a file in the stacks folder" in refused(tmp_path / "stacks", stack)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    write(tmp_path, GOOD, "elsewhere")
    (tmp_path / "stacks" / "Pulumi.test.yaml").symlink_to(tmp_path / "Pulumi.elsewhere.yaml")
    assert "a file in the stacks folder" in refused(tmp_path / "stacks")


def test_a_file_of_another_stack_is_refused(tmp_path: Path) -> None:
    write(tmp_path, GOOD, "prod")
    assert "environment.name: the environment's name must be the stack's name, `prod`" in refused(tmp_path, "prod")


def test_an_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD)

    def deny(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", deny)
    assert "Permission denied" in refused(tmp_path)


# One report: all mistakes at once, each on its own line, and no secret.


def report(changes: dict[str, object]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        loaded(changes)
    return str(caught.value)


def test_mistakes_of_all_parts_are_in_one_report() -> None:
    text = report(
        {
            "account.id": 111122223333,
            "network.zones": ["us-east-1a"],
            "cluster.verison": "1.35",
            "pools.cpu.max": "many",
            "pools.a100.mig.layout": "all-9g",
            "pools.system.min": 1,
            "environment": DELETE,
        }
    )
    lines = text.splitlines()
    assert lines[0] == "stack test: 7 problems, nothing was changed"
    assert [line.split(":")[0].strip(" -") for line in lines[1:]] == ["account.id", "cluster.verison", "environment",
        "network.zones", "pools.a100.mig.layout", "pools.cpu.max", "pools.system.min"]  # fmt: skip


def test_a_line_has_path_rule_value_and_fix() -> None:
    assert report({"pools.system.min": 4}).splitlines()[1] == (
        "  - pools.system.min: min must be at most max (3) (given: 4). Use 3 or less, or raise max."
    )


def test_an_invalid_pool_hides_no_problem_of_another() -> None:
    found = problems(changed({"pools.cpu.max": 0, "pools.l4.instanceTypes": ["g6.xlarge"], "pools.h100.min": 9}))
    assert [problem.path for problem in found] == ["pools.cpu.max", "pools.h100.min", "pools.l4.instanceTypes"]


def test_an_invalid_part_causes_no_problems_elsewhere() -> None:
    found = problems(changed({"network.cidr": "not a range", "account.region": 3}))
    assert [problem.path for problem in found] == ["account.region", "network.cidr"]


@pytest.mark.parametrize("stack", NAMES)
def test_an_invalid_entry_causes_no_problems_where_it_is_referred_to(stack: str) -> None:
    settings: Any = read_stack(stack, FOLDER)
    for collection in ("pools", "teams"):
        for name, entry in settings[collection].items():
            wrong = {**settings, collection: {**settings[collection], name: {**entry, "nonsense": 1}}}
            found = problems(wrong, stack=stack)
            assert [problem.path for problem in found] == [f"{collection}.{name}.nonsense"]


def test_an_invalid_system_pool_is_not_reported_as_missing() -> None:
    found = problems(changed({"pools.system.max": "3"}))
    assert [problem.path for problem in found] == ["pools.system.max"]


@pytest.mark.parametrize(("path", "secret"), [
    ("environment.owner", "-----BEGIN RSA PRIVATE KEY-----\nMIIE"),
    ("environment.tokne", "hf_abcdefghijklmnopqrstuvwxyz"),
    ("pools.cpu.max", "AKIAABCDEFGHIJKLMNOP"),
    ("pools.cpu.labels", ["sk-abcdefghijklmnopqrstuvwx"]),
])  # fmt: skip
def test_a_secret_is_not_repeated_whatever_else_is_wrong_with_it(path: str, secret: object) -> None:
    text = report({path: secret})
    assert "Revoke it" in text
    assert (secret[0] if isinstance(secret, list) else str(secret)[:20]) not in text


def test_a_long_value_is_shortened() -> None:
    assert max(len(line) for line in report({"environment.owner": "é" * 5000}).splitlines()) < 300


def test_a_value_of_several_shapes_is_one_problem_that_names_them() -> None:
    (problem,) = problems(changed({"pools.cpu.disruption.expireAfter": "sometimes"}))
    assert problem.path == "pools.cpu.disruption.expireAfter"
    assert "hours, minutes or seconds" in problem.rule
    assert "Never" in problem.rule


def test_settings_that_would_have_no_effect_are_refused() -> None:
    found = problems(
        changed({"pools.system.disruption": {"consolidateAfter": "1h"}, "pools.cpu.update": {"force": True}})
    )
    assert [problem.path for problem in found] == ["pools.cpu.update", "pools.system.disruption"]


def of_version(warnings: Iterable[Problem]) -> list[Problem]:
    """Those about the version: add-ons have no known version for each of Kubernetes."""
    return [problem for problem in warnings if problem.path == "cluster.version"]


def test_versions_near_the_end_of_support_are_a_warning() -> None:
    data = changed({"cluster.version": "1.34"})
    (warning,) = of_version(load(data, stack="test", today=date(2026, 11, 21)).warnings)
    assert "ends on 2026-12-02, in 11 days" in warning.rule
    assert warning.fix == "Plan the upgrade to 1.35."


@pytest.mark.parametrize(
    ("support", "said"), [("extended", "EKS bills extended support"), ("standard", "EKS upgrades the cluster itself")]
)
def test_after_standard_support_the_warning_says_what_eks_does(support: str, said: str) -> None:
    data = changed({"cluster.version": "1.33", "cluster.supportType": support})
    (warning,) = of_version(load(data, stack="test", today=date(2026, 11, 21)).warnings)
    assert warning.rule == f"standard support ended on 2026-07-29, and {said}"


def test_a_catalog_whose_versions_have_all_ended_says_where_newer_ones_go() -> None:
    with pytest.raises(ConfigurationError) as refused:
        load(changed({}), stack="test", today=date(2100, 1, 1))
    (problem,) = refused.value.problems
    assert problem.path == "cluster.version"
    assert problem.fix == "Add the versions that EKS supports to spec/catalog/data/kubernetes.yaml."


def test_loading_does_not_change_its_input() -> None:
    data = changed({})
    load(data, stack="test", today=TODAY)
    assert data == BASE


EVERY = [
    (folder, name)
    for folder in ("stacks", "examples/stacks", "templates/platform/stacks")
    for name in stacks_in(FOLDER.parent / folder)
]
UNGUARDED = {
    "existing": "a stack of parts, without a Prometheus to ask",
    "thousand": "nobody submits jobs to it but a replay",
}
"""Stack files without idleGpus, and why."""


@pytest.mark.parametrize(("folder", "stack"), EVERY)
def test_every_stack_file_of_the_project_has_guards_of_cost(folder: str, stack: str) -> None:
    platform = load(read_stack(stack, FOLDER.parent / folder), stack=stack, today=TODAY).platform
    assert (platform.cost.idle_gpus is None) == (stack in UNGUARDED)
    assert [name for name, team in platform.teams.items() if team.job_usd is None and team.budget_usd is None] == []
    assert platform.admission.of("job-cost") is Action.DENY
