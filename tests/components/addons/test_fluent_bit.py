"""Fluent Bit: permissions, placement, and a configuration whose pieces fit together."""

import re
from typing import Any, Final

import pulumi_aws as aws
import pytest

from components.addons import fluent_bit
from components.addons.fluent_bit import FluentBit
from components.storage.container_logs import PLATFORM
from spec.settings.addons.observability import FluentBit as Settings
from tests.support.context import Seen, seen_parts
from tests.support.mocks import statements

TEAMS: Final = {
    "nlp": {"project": "llm", "costCenter": "research",
        "namespaces": {"training": {"share": 50}, "serving": {"share": 50}}, "cpus": {"cpu": {"nominalQuota": 4}}},
}  # fmt: skip
ID: Final = "0" * 64


def seen(**settings: Any) -> Seen:
    configured = Settings.model_validate(settings)
    return seen_parts(lambda: FluentBit(configured), addons={"fluentBit": settings}, teams=TEAMS)


def values(**settings: Any) -> dict[str, Any]:
    return dict(seen(**settings).values["fluent-bit"])


def allowed(result: Seen) -> list[dict[str, Any]]:
    return list(statements(result.recording.one(aws.iam.RolePolicy).inputs["policy"]).values())


def entries(text: str) -> list[tuple[str, str]]:
    """Key and value of every line of a configuration."""
    pairs = [line.strip().partition(" ") for line in text.splitlines() if line.startswith("    ")]
    return [(key, value) for key, _, value in pairs]


def test_to_s3_it_writes_below_its_prefix_and_may_do_nothing_else() -> None:
    result = seen(destination="s3")
    (statement,) = allowed(result)
    assert statement["Action"] == ["s3:PutObject"]
    assert statement["Resource"] == ["arn:aws:s3:::slipway-logs/containers/*"]
    output = dict(entries(result.values["fluent-bit"]["config"]["outputs"]))
    assert output["bucket"] == "slipway-test-logs-0a1b2c3"
    assert output["s3_key_format"].startswith("/containers/")


def test_it_reads_the_hosts_logs_and_changes_only_its_own_state() -> None:
    chart = values()
    writable = {each["name"] for each in chart["daemonSetVolumeMounts"] if not each.get("readOnly")}
    paths = {each["name"]: each["hostPath"]["path"] for each in chart["daemonSetVolumes"]}
    assert {paths[name] for name in writable} == {fluent_bit.STATE}


@pytest.mark.parametrize(("file", "fields"), [
    ("train-0_nlp-training_main",
        {"pod": "train-0", "namespace": "nlp-training", "container": "main", "group": "nlp-training"}),
    ("m.a-1_nlp-serving_kserve-container", {"pod": "m.a-1", "namespace": "nlp-serving", "group": "nlp-serving"}),
    ("kueue-1_kueue-system_manager", {"pod": "kueue-1", "namespace": "kueue-system", "group": PLATFORM}),
    ("x_nlp-training-2_main", {"namespace": "nlp-training-2", "group": PLATFORM}),
])  # fmt: skip
def test_the_name_of_a_file_gives_namespace_pod_container_and_group(file: str, fields: dict[str, str]) -> None:
    config = values()["config"]
    patterns = [value for key, value in entries(config["customParsers"]) if key == "Regex"]
    name = f"/var/log/containers/{file}-{ID}.log"
    # Python writes named groups with a P; the filter takes the first parser that matches.
    found = next(match for pattern in patterns if (match := re.match(pattern.replace("(?<", "(?P<"), name)))
    added = dict(value.split(" ") for key, value in entries(config["filters"]) if key == "Add")
    record = {**added, **found.groupdict()}
    assert fields.items() <= record.items()


def test_filters_name_parsers_that_exist_and_keep_what_the_output_uses() -> None:
    config = values()["config"]
    named = [value for key, value in entries(config["filters"]) if key == "Parser"]
    assert named == [value for key, value in entries(config["customParsers"]) if key == "Name"]
    output = dict(entries(config["outputs"]))
    used = re.findall(r"\$(\w+)", f"{output['log_group_template']} {output['log_stream_template']}")
    assert set(used) == {"group", "pod", "container"}
    assert set(used) <= {value for key, value in entries(config["filters"]) if key == "Allowlist_key"}
    assert output["log_group_name"] == f"/slipway-test/containers/{PLATFORM}"


def test_without_teams_everything_goes_to_one_group() -> None:
    config = seen_parts(lambda: FluentBit(Settings()), addons={"fluentBit": {}}).values["fluent-bit"]["config"]
    assert "own-group" not in config["customParsers"] + config["filters"]


def test_no_value_is_a_template() -> None:
    """The chart passes its configuration through Helm's `tpl`."""
    for destination in ("cloudwatch", "s3"):
        assert all("{{" not in text for text in values(destination=destination)["config"].values())
