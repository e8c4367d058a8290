"""`slipway why --audit`: what rules that warn or audit would have refused, by a log and by hostile lines."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from components.admission import rules
from components.admission.admission import binding, policy
from components.admission.variables import parameters
from sandbox.kubernetes.client import KubeClient
from slipway.why.audit import FAILURE, grouped, read
from spec.errors import SlipwayError
from spec.settings.admission import Action
from tests.components.admission.samples import CONTEXT, job
from tests.sandbox.plane import ControlPlane
from tests.slipway.conftest import Slipway
from tests.support.patience import SECONDS

MESSAGE = "a job must be bounded: fix spec.ttlSecondsAfterFinished. For example activeDeadlineSeconds: 86400"


def failure(message: str = MESSAGE, rule: str = "job-bounds.platform.slipway") -> dict[str, Any]:
    """As k8s.io/apiserver 1.36 writes it."""
    return {
        "message": message, "policy": rule, "binding": rule, "expressionIndex": 0, "validationActions": ["Audit"],
    }  # fmt: skip


def event(*failures: Any, **changes: Any) -> dict[str, Any]:
    """An event of the group audit.k8s.io/v1, of a request that was accepted."""
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "1",
        "stage": "ResponseComplete",
        "requestURI": "/apis/batch/v1/namespaces/vision/jobs?fieldManager=kubectl-create",
        "verb": "create",
        "user": {"username": "ada", "groups": ["slipway:vision:edit"]},
        "objectRef": {"resource": "jobs", "namespace": "vision", "name": "train", "apiGroup": "batch"},
        "responseStatus": {"metadata": {}, "code": 201},
        "requestReceivedTimestamp": "2026-11-23T10:00:00.000000Z",
        "annotations": {FAILURE: json.dumps(list(failures))},
        **changes,
    }


def text(*events: Any) -> list[str]:
    return [json.dumps(one) for one in events]


def test_violations_are_counted_by_team_rule_and_message() -> None:
    other = {"resource": "jobs", "namespace": "speech", "name": "b"}
    log = text(
        event(failure()),
        event(failure(), requestReceivedTimestamp="2026-11-23T11:00:00.000000Z", user={"username": "eve"}),
        event(failure("an image must have a tag. Use one", "image-tag.platform.slipway")),
        event(failure(), objectRef=other),
    )
    found = grouped(read("log", log), {"vision": "team research"})
    assert [(one.team, one.rule.partition(".")[0], one.requests) for one in found] == [
        ("namespace speech", "job-bounds", 1), ("team research", "image-tag", 1), ("team research", "job-bounds", 2),
    ]  # fmt: skip
    both = found[-1]
    assert both.cause == "rule jobBounds: a job must be bounded: fix spec.ttlSecondsAfterFinished"
    assert both.fix == "for example activeDeadlineSeconds: 86400"
    assert (both.last, list(both.objects), list(both.users)) == (
        "2026-11-23T11:00:00.000000Z", ["vision/jobs/train"], ["ada", "eve"],
    )  # fmt: skip
    assert "vision/jobs/train (2 requests, the last at 2026-11-23T11:00:00.000000Z, by ada, eve)" in both.text()


def test_an_export_of_cloudwatch_has_the_time_before_each_event() -> None:
    (one,) = read("log", [f"2026-11-23T10:00:00.123Z {json.dumps(event(failure()))}\n", "\n"])
    assert one.subject == "jobs/train"


@pytest.mark.parametrize(
    "changes",
    [
        {"annotations": {"authorization.k8s.io/decision": "allow"}},
        {"annotations": None},
        {"stage": "ResponseStarted"},
        {"responseStatus": {"code": 422}},
        {"requestURI": "/apis/batch/v1/namespaces/vision/jobs?dryRun=All"},
    ],
    ids=["other annotations", "no annotations", "another stage", "refused by another rule", "a dry run"],
)
def test_requests_that_changed_nothing_or_violate_nothing_are_left_out(changes: dict[str, Any]) -> None:
    assert read("log", text(event(failure(), **changes))) == []


def test_an_object_with_a_generated_name_and_one_of_the_cluster_are_named() -> None:
    (one,) = grouped(read("log", text(event(failure(), objectRef={"resource": "pods", "namespace": "vision"}))), {})
    assert list(one.objects) == ["vision/pods/(generated name)"]
    (one,) = grouped(read("log", text(event(failure(), objectRef={"resource": "nodes", "name": "a"}))), {})
    assert (one.team, list(one.objects)) == ("cluster", ["nodes/a"])


HOSTILE = {
    "not JSON: Expecting value at character 1": "certainly not",
    "not JSON: Unterminated string": json.dumps(event(failure()))[:-3],
    "not an object of kind Event": "[]",
    "not an object of kind Event (": json.dumps({"kind": "Pod"}),
    "apiVersion must be audit.k8s.io/v1 (given: 'v1')": json.dumps(event(failure(), apiVersion="v1")),
    "annotations must be an object": json.dumps(event(failure(), annotations=["x"])),
    "must be a text": json.dumps(event(failure(), annotations={FAILURE: 1})),
    "Expecting value": json.dumps(event(failure(), annotations={FAILURE: "x"})),
    "must be a list of objects": json.dumps(event("x")),
    "policy must be a text": json.dumps(event({"message": "x"})),
    "username must be a text": json.dumps(event(failure(), user={"username": ["x"]})),
    "responseStatus.code must be a number": json.dumps(event(failure(), responseStatus={})),
    "objectRef must be an object": json.dumps(event(failure(), objectRef=[1])),
    "more than 4194304": " " * 8 + '"' + "x" * 2**22 + '"',
    "recursion": "[" * 100_000,
}


@pytest.mark.parametrize("error", HOSTILE)
def test_a_line_that_is_no_event_is_refused_by_its_number(error: str) -> None:
    with pytest.raises(SlipwayError, match=rf"(?s)1 line.*no audit events:\nlog:2: .*{re.escape(error)}"):
        read("log", [json.dumps(event(failure())), HOSTILE[error], json.dumps(event(failure()))])


def test_of_many_wrong_lines_the_first_ten_are_named() -> None:
    with pytest.raises(SlipwayError) as refused:
        read("log", ["x"] * 12)
    lines = str(refused.value).splitlines()
    assert lines[0] == "12 line(s) are no audit events:"
    assert lines[10].startswith("log:10: ")
    assert lines[-1] == "and 2 more lines"


def test_what_a_request_chose_does_not_act_on_the_terminal() -> None:
    (one,) = grouped(read("log", text(event(failure("\x1b[2J gone\r"), user={"username": "a\x1b]0;"}))), {})
    assert "\x1b" not in one.text()
    assert "\r" not in one.text()


def test_the_command_prints_text_or_json_and_its_exit_code(tmp_path: Path, slipway: Slipway) -> None:
    (tmp_path / "a").write_text("\n".join(text(event(failure()))), encoding="utf-8")
    (tmp_path / "b").write_text("\n".join(text(event(annotations={}))), encoding="utf-8")
    out = slipway("why --audit", tmp_path / "a", tmp_path / "b", "--stack", "dev", code=1).out
    assert out.startswith("team vision:\n  rule jobBounds: ")
    assert out.endswith("1 request would have been refused\n")
    assert (
        json.loads(slipway("why --audit", tmp_path / "a", "--json", code=1).out)[0]["rule"]
        == "job-bounds.platform.slipway"
    )
    assert slipway("why --audit", tmp_path / "b").out == "nothing would have been refused\n"
    (tmp_path / "b").write_bytes(b"\x1f\x8b\x08")
    assert "not UTF-8" in slipway("why --audit", tmp_path / "b", code=2).err


@pytest.mark.sandbox
@pytest.mark.parametrize("action", [Action.WARN, Action.AUDIT])
def test_the_log_of_an_api_server_has_what_it_let_through(plane: ControlPlane, action: Action) -> None:
    """The first violation of each request alone: the server keeps one value of an annotation."""
    client, space = plane.client, f"soft-{action}"
    label = {"platform.slipway/team": space}
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space, "labels": label}}, "test")
    client.apply(parameters(rules(CONTEXT)), "test", force=True)
    for rule in (one for one in rules(CONTEXT) if one.name in ("job-bounds", "image-tag")):
        client.apply(policy(rule), "test")
        client.apply(binding(rule, action, only=[space]), "test")
    log = plane.pki.tokens.parent.parent / "logs"

    def logged() -> list[str]:
        lines = [line for path in log.glob("audit-*.log") for line in path.read_text().splitlines(keepends=True)]
        found = grouped(read("log", (line for line in lines if line.endswith("\n"))), {})
        return [text for one in found if one.team == f"namespace {space}" for text in (one.rule, *one.objects)]

    end, number = time.monotonic() + SECONDS, 0
    # The server watches policies, so the first objects may come before them.
    while not logged() and time.monotonic() < end:
        number += 1
        create(client, space, f"train-{number}")
    assert logged()[0] in ("image-tag.platform.slipway", "job-bounds.platform.slipway")
    assert f"{space}/jobs/train-{number}" in logged()


def create(client: KubeClient, space: str, name: str) -> None:
    """A job without bounds, with an image without a tag."""
    made = job()
    made["metadata"] |= {"name": name, "namespace": space}
    made["spec"].pop("ttlSecondsAfterFinished", None)
    made["spec"]["template"]["spec"]["containers"][0]["image"] = "train"
    client.create(made, "test")
