"""The summary after a run, and the numbers of resources that commands report."""

import json
import math
import re
from pathlib import Path

import pytest

from sandbox.kubernetes.controllers.running import Entry, State
from sandbox.notes import BECAUSE, Note, NoteKind
from sandbox.toolchain.tools import TOOLS
from slipway.cli import coverage, summary
from slipway.cli.offline import Sandbox
from slipway.engine.invocation import Operation, Request
from slipway.engine.project import find
from slipway.engine.state import StackState, parse
from slipway.render.program import record_platform
from slipway.report.gather import Inputs, report
from spec.pricing import estimate
from spec.settings import load, read_stack
from tests.slipway.conftest import Slipway
from tests.slipway.engine.fake import exported, resource
from tests.support.day import TODAY

# The summary after a run in the sandbox.


VPC, QUEUE, ADDON = "aws:ec2/vpc:Vpc", "aws:sqs/queue:Queue", "aws:eks/addon:Addon"


def test_aws_types_are_grouped_into_moto_and_recorded() -> None:
    state = parse(
        exported(resource(VPC, "v"), resource(ADDON, "a"), resource(ADDON, "b"), resource("kubernetes:x:Y", "y"))
    )
    lines = coverage.of_aws(state, {VPC}).splitlines()
    assert lines[1:] == ["  in moto 1: ec2 Vpc 1", "  recorded 2: eks Addon 2"]
    assert coverage.of_aws(StackState(), {VPC}) == ""


def urn(name: str, stack: str = "dev", kind: str = "kubernetes:helm.sh/v3:Release") -> str:
    return f"urn:pulumi:{stack}::slipway::{kind}::{name}"


def stack_of(*urns: str) -> StackState:
    return parse(exported(*({"urn": each, "type": each.split("::")[2], "custom": True} for each in urns)))


def test_releases_are_grouped_by_how_they_were_checked() -> None:
    notes = [
        Note(urn("kueue-release"), NoteKind.CHECKED, "values checked"),
        Note(urn("karpenter-crd"), NoteKind.CHECKED, "values checked"),
        Note(urn("gateway-api-gateway-crds"), NoteKind.RECORDED, "the chart is not at hand"),
        Note(urn("keda-release", "prod"), NoteKind.INSTALLED, "installed"),
    ]
    lines = coverage.of_charts(stack_of(*(note.urn for note in notes[:3])), notes).splitlines()
    assert lines[1:] == ["  installed 0", "  checked 2: kueue, karpenter-crd", "  recorded 1: gateway-api-gateway-crds"]
    assert coverage.of_kubernetes(stack_of(*(note.urn for note in notes[:3])), notes) == ""
    assert coverage.of_charts(StackState(), notes) == ""


def test_add_ons_of_eks_are_a_group_of_their_own() -> None:
    addon = "aws:eks/addon:Addon"
    notes = [
        Note(urn("addons-late-ebs-csi", kind=addon), NoteKind.INSTALLED, "installed"),
        Note(urn("addons-early-kube-proxy", kind=addon), NoteKind.RECORDED, "no chart"),
    ]
    lines = coverage.of_charts(stack_of(*(note.urn for note in notes)), notes).splitlines()
    assert lines[1:] == ["  installed 1: addons-late-ebs-csi", "  recorded 1: addons-early-kube-proxy"]
    assert lines[0].startswith("EKS add-ons (installed: their pods run;")


def test_only_notes_on_this_stack_are_shown() -> None:
    kind = "kubernetes:x.example/v1:Thing"
    own, other = (urn("thing", stack, kind) for stack in ("dev", "prod"))
    notes = [Note(own, NoteKind.STAND_IN, "its CRD is not there"), Note(other, NoteKind.STAND_IN, "nor here")]
    assert coverage.of_kubernetes(stack_of(own), notes).splitlines()[1:] == [
        "  stand-in: 1",
        "    thing: its CRD is not there",
    ]
    assert coverage.of_kubernetes(stack_of(own), notes[1:]) == ""


def test_the_short_form_counts_releases_and_what_was_only_recorded() -> None:
    notes = [
        Note(urn("kueue-release"), NoteKind.INSTALLED, "installed"),
        Note(urn("keda-release"), NoteKind.RECORDED, "no chart"),
        Note(urn("thing", kind="kubernetes:x.example/v1:Thing"), NoteKind.STAND_IN, "no CRD"),
    ]
    addons = [resource(ADDON, name) for name in ("a", "b")]
    releases = [{"urn": note.urn, "type": note.urn.split("::")[2], "custom": True} for note in notes]
    lines = coverage.in_short(parse(exported(resource(VPC, "v"), *addons, *releases)), {VPC}, notes).splitlines()
    assert lines == [
        "Resources: 6, 3 of them in AWS.",
        "Helm releases: 1 installed by Helm, 1 only recorded.",
        "AWS: 2 resources are recorded without being emulated; AWS itself checks more (2 eks Addon).",
        "Kubernetes: 1 objects or releases were accepted unchecked, because no CRD of theirs is here.",
    ]


CHARTS = Path("/charts")
RECORDED = Note(urn("keda-release"), NoteKind.RECORDED, "no chart")
CHECKED = Note(urn("kueue-release"), NoteKind.CHECKED, f"nothing installed{BECAUSE}helm is not installed")
INSTALLED = Note(urn("lws-release"), NoteKind.INSTALLED, "installed")


@pytest.mark.parametrize(
    ("notes", "charts", "expected"),
    [
        ((RECORDED,), None, "none is on this machine (`slipway catalog pull --dir DIR`, then SLIPWAY_CHARTS=DIR)"),
        ((RECORDED,), CHARTS, "/charts has none of its charts (`slipway catalog pull --dir /charts`)"),
        ((RECORDED, CHECKED), CHARTS, "helm is not installed"),
        ((CHECKED,), None, "helm is not installed"),
        ((RECORDED, INSTALLED), CHARTS, ""),
        ((INSTALLED,), None, ""),
    ],
)
def test_why_nothing_is_installed(notes: tuple[Note, ...], charts: Path | None, expected: str) -> None:
    assert coverage.nothing_installed(stack_of(*(note.urn for note in notes)), notes, charts) == expected


@pytest.mark.parametrize(
    ("notes", "charts", "named"),
    [
        ((RECORDED, INSTALLED), CHARTS, ["  Without a chart in /charts: keda."]),
        ((RECORDED,), CHARTS, []),
        ((INSTALLED,), CHARTS, []),
        ((RECORDED, INSTALLED), None, []),
    ],
)
def test_charts_that_the_folder_lacks_are_named(notes: tuple[Note, ...], charts: Path | None, named: list[str]) -> None:
    text = coverage.in_short(stack_of(*(note.urn for note in notes)), (), notes, charts)
    assert [line for line in text.splitlines() if "Without" in line] == named


def test_what_was_left_out_is_listed_with_the_server_that_does_not_run() -> None:
    notes = [Note(urn("kueue-release"), NoteKind.LEFT_OUT, "webhooks of service kueue/hook")]
    assert coverage.left_out(stack_of(notes[0].urn), notes).splitlines() == [
        "Left out of the cluster, because their server does not run here:",
        "  kueue: webhooks of service kueue/hook",
    ]
    assert coverage.left_out(StackState(), notes) == ""


def test_controllers_that_run_and_what_keeps_the_others_are_said() -> None:
    runs = Entry("api-1", "kueue", "0.19.2", State.RUNNING)
    assert summary.controllers([]) == ""
    assert summary.controllers([runs]) == "Controllers: kueue 0.19.2 running."
    fails = Entry("api-1", "kuberay", "1.6.1", State.FAILING, "it ended with exit code 1")
    assert summary.controllers([runs, fails]).splitlines() == [
        "Controllers: kueue 0.19.2 running, others:",
        "  kuberay 1.6.1 fails: it ended with exit code 1",
    ]


def test_what_is_being_built_is_listed_in_its_order_with_the_minutes_of_the_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))
    queue = [Entry(slot, name, "1", State.BUILDING) for slot in "ab" for name in ("jobset", "trainer", "kueue")]
    minutes = math.ceil(sum(go.minutes for name in ("kueue", "jobset", "trainer") if (go := TOOLS[name].go)))
    built = (
        f"kueue, jobset, trainer being built in the background, about {minutes} min on 2 cores (`slipway sandbox wait`)"
    )
    assert summary.controllers(queue) == f"Controllers: {built}."
    runs = Entry("a", "kserve", "0.20.0", State.RUNNING)
    assert summary.controllers([*queue, runs]) == f"Controllers: kserve 0.20.0 running; {built}."


def test_without_charts_the_controllers_say_why_and_so_do_the_releases() -> None:
    runs = Entry("api-1", "training-operator", "1.9.0", State.RUNNING)
    cause = coverage.nothing_installed(stack_of(CHECKED.urn), [CHECKED], CHARTS)
    assert summary.controllers([runs], cause).splitlines() == [
        "Controllers: training-operator 1.9.0 running.",
        "  Those of charts are not there: helm is not installed.",
    ]
    lines = coverage.in_short(stack_of(CHECKED.urn), (), [CHECKED], CHARTS).splitlines()
    assert lines[1] == "Helm releases: 1 with their values checked and their CRDs applied (helm is not installed)."


def test_the_emulated_version_is_said() -> None:
    assert summary.served("1.35", "1.36.3") == "Kubernetes 1.35 is emulated by kube-apiserver 1.36.3."


def test_the_inventory_is_listed_with_verbose_alone(tmp_path: Path) -> None:
    platform = load(read_stack("dev", find(Path(__file__)).stacks), stack="dev").platform
    state = parse(exported(resource(VPC, "v"), resource(ADDON, "a")))
    sandbox = Sandbox(tmp_path, {}, tmp_path / "kubeconfig", {VPC})
    request = Request(operation=Operation.UP, stack="dev")
    short = summary.after(request, platform, lambda: state, sandbox)
    whole = summary.after(request, platform, lambda: state, sandbox, verbose=True)
    for text in (short, whole):
        assert "Resources: 2, 2 of them in AWS." in text
        # The cost is with the changes (slipway.report.terminal), and once.
        assert "USD" not in text
    assert "  in moto 1" not in short
    assert "--verbose" in short
    assert "  in moto 1: ec2 Vpc 1" in whole


# Every command counts the same resources: those that exist in AWS or a cluster, without components and providers.


def test_policies_render_report_and_state_count_the_same_resources(
    checkout: Path, tmp_path: Path, slipway: Slipway
) -> None:
    loaded = load(read_stack("dev", checkout / "stacks"), stack="dev", today=TODAY)
    recording = record_platform(loaded.platform, stack="dev")
    entries = [{"urn": one.urn, "type": one.type, "custom": one.custom} for one in recording]
    existing = len(parse(json.dumps({"version": 3, "deployment": {"resources": entries}})).existing)
    assert 0 < existing < len(entries)
    assert re.findall(r"stack dev: (\d+) resources", slipway("policies dev").err) == [str(existing)]
    assert re.findall(r"stack dev: (\d+) resources", slipway("report dev --files", tmp_path / "out").out) == [
        str(existing)
    ]
    priced = estimate(loaded.platform, TODAY)
    inputs = Inputs(stack="dev", loaded=loaded, recording=recording, estimate=priced, violations=(), today=TODAY)
    assert report(inputs).resources == existing
