from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.helm.chart import Charts
from sandbox.notes import Note, NoteKind
from slipway.render.recording import Options, RecordedResource, Recording, Values
from spec.settings import load, read_stack
from tests.bench import charts
from tests.bench.baselines import PLAIN_RECORDS, SAME_IMPORTS, Baseline
from tests.bench.charts import directory
from tests.bench.context import ROOT, Bench
from tests.bench.durations import duration_of
from tests.bench.figure import Figure, Verdict
from tests.bench.machine import BenchError
from tests.bench.needed.crds import BUILT_IN, CHARTS, DEFINITION, bringing, is_custom
from tests.bench.needed.need import Index
from tests.bench.numbers import memory, preview
from tests.bench.numbers.growth import POOLS, STACK, TEAMS, TIMES, figures, settings, team_settings
from tests.bench.numbers.order import BOUND, absent, software, whole
from tests.bench.samples import recorded, with_wait
from tests.bench.sandbox import Memory
from tests.bench.timing import Pairs, Sample, Series


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("named", "samples/charts", "shared/charts", "checkout"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "checkout"


def test_charts_are_where_the_variable_says_then_among_the_samples_then_beside_the_checkout(checkout: Path) -> None:
    place = checkout.parent
    named, samples = {"SLIPWAY_CHARTS": str(place / "named")}, {"SLIPWAY_SHARED": str(place / "samples")}
    assert directory({**named, **samples}, checkout) == place / "named"
    assert directory(samples, checkout) == place / "samples" / "charts"
    assert directory({}, checkout) == place / "shared" / "charts"


def test_whole_charts_come_before_those_of_values_and_crds(checkout: Path) -> None:
    whole = checkout.parent / "shared" / "charts-full"
    whole.mkdir()
    assert directory({}, checkout) == whole


def test_a_folder_that_does_not_exist_is_not_taken(checkout: Path) -> None:
    assert directory({"SLIPWAY_CHARTS": "/no/such/folder"}, checkout) == checkout.parent / "shared" / "charts"
    assert directory({}, checkout / "deeper") is None


NOT_AT_HAND = {"gateway-crds-helm", "knative-operator"}


def resource(type_: str, **inputs: object) -> RecordedResource:
    return RecordedResource(
        urn=f"urn::{type_}", type=type_, name="r", parent=None, custom=True, inputs=Values(inputs), options=Options()
    )


def names(name: str) -> set[str]:
    return {each.name for each in bringing(Index(recorded()), recorded().named(name))}


@pytest.mark.parametrize(
    ("name", "releases"),
    [
        ("pool-cpu-node-pool", {"karpenter-crd"}),
        ("kserve-runtime-triton", {"kserve-crd"}),
        ("queues-cohort", {"kueue-release"}),
        ("trainer-runtime-torch-distributed", {"trainer-kubeflow-trainer"}),
        # The second release of the chart leaves them out.
        ("kube-prometheus-stack-rules-alerts", {"kube-prometheus-stack-crds"}),
    ],
)
def test_a_custom_resource_has_one_release_that_brings_its_crd(name: str, releases: set[str]) -> None:
    assert names(name) == releases


def test_a_crd_that_the_program_declares_itself_is_found_by_group_and_kind() -> None:
    def definition(kind: str) -> RecordedResource:
        return resource(f"{DEFINITION}", spec={"group": "kubeflow.org", "names": {"kind": kind}})

    job, other = definition("MPIJob"), definition("TFJob")
    own = resource("kubernetes:kubeflow.org/v1:MPIJob", apiVersion="kubeflow.org/v1", kind="MPIJob")
    for crd, expected in ((job, [job]), (other, [])):
        recording = Recording(project="p", stack="s", resources={crd.urn: crd, own.urn: own}, exports=Values({}))
        assert bringing(Index(recording), own) == expected


def test_objects_of_groups_that_every_api_server_has_are_no_custom_resources() -> None:
    assert not is_custom(resource("kubernetes:core/v1:Secret", apiVersion="v1"))
    assert not is_custom(resource("kubernetes:policy/v1:PodDisruptionBudget", apiVersion="policy/v1"))
    assert not is_custom(recorded().named("storage-class-block"))
    gateway = resource("kubernetes:gateway.networking.k8s.io/v1:Gateway", apiVersion="gateway.networking.k8s.io/v1")
    assert is_custom(gateway)
    assert not BUILT_IN & CHARTS.keys()


@pytest.mark.parametrize(("group", "name"), sorted(CHARTS.items()))
def test_the_chart_has_a_crd_of_the_group(shared: Path, group: str, name: str) -> None:
    chart = Charts(shared / "charts").find(name)
    if chart is None:
        assert name in NOT_AT_HAND
        return
    texts = (file.read_text(errors="replace") for file in chart.path.rglob("*.y*ml"))
    assert any(f"group: {group}\n" in text for text in texts)


# The numbers of the order: the longest chains of waits.


def test_prod_keeps_the_bounds() -> None:
    figures = [whole(recorded()), software(recorded()), absent(recorded())]
    assert [figure.verdict for figure in figures] == [Verdict.HELD] * 3


def test_an_unneeded_wait_misses_both_bounds_and_is_named_with_its_cost() -> None:
    program = with_wait("cluster-control-plane", "network-route-nat-a")
    for figure in (whole(program), software(program)):
        assert figure.value is not None
        assert figure.value > BOUND
        # 13 s of VPC and subnet, 1 s of routes, 97 s of gateway, in place of 29 s of key and log group.
        unneeded = [note for note in figure.notes if note.startswith("no need")]
        assert unneeded == ["no need: cluster-control-plane waits for network-route-nat-a (without it 95 s less)"]


def test_a_chart_that_waits_for_another_is_seen_although_a_file_system_takes_longer() -> None:
    program = with_wait("cert-manager-release", "kube-prometheus-stack-release")
    assert whole(program).verdict is Verdict.HELD
    found = software(program)
    assert found.verdict is Verdict.MISSED
    assert any("cert-manager-release waits for kube-prometheus-stack-release" in note for note in found.notes)


def test_a_wait_beside_the_longest_chain_costs_nothing() -> None:
    program = with_wait("addons-late-coredns", "addons-late-metrics-server")
    assert (whole(program).verdict, software(program).verdict) == (Verdict.HELD, Verdict.HELD)


def test_the_first_gpu_waits_for_nothing_but_network_control_plane_node_and_plugin() -> None:
    (note,) = [note for note in software(recorded()).notes if "the first GPU" in note]
    alone = ("cluster-key", "cluster-logs", "cluster-control-plane", "addons-early-vpc-cni", "pool-system-node-group")
    seconds = sum(duration_of(recorded().named(name)).seconds for name in (*alone, "gpu-operator-release"))
    assert f"{seconds:.0f} s" in note


def test_the_use_of_the_default_and_its_effect_on_the_result_are_reported() -> None:
    (note,) = [note for note in whole(recorded()).notes if "take the default of 3 s" in note]
    created = sum(each.custom and not each.type.startswith("pulumi:providers:") for each in recorded())
    assert f"of {created} resources" in note
    assert "with 30 s it would be" in note


def test_missing_waits_are_named_and_miss_a_bound_of_zero() -> None:
    found = absent(recorded())
    assert (found.value, found.bound) == (0, 0)
    assert any("no need asks for" in note for note in found.notes)


@pytest.mark.parametrize("pools", [0, POOLS, POOLS * TIMES])
def test_stacks_of_every_size_pass_the_checks(pools: int) -> None:
    raw: Any = read_stack(STACK, ROOT / "stacks")
    assert len(load(settings(raw, pools), stack=STACK).platform.pools) == pools + 1


@pytest.mark.parametrize("teams", [0, TEAMS, TEAMS * TIMES])
def test_stacks_of_any_number_of_teams_pass_the_checks(teams: int) -> None:
    raw: Any = read_stack(STACK, ROOT / "stacks")
    assert len(load(team_settings(raw, teams), stack=STACK).platform.teams) == teams


def test_growth_is_that_of_the_whole_and_has_no_bound_for_the_pools_alone() -> None:
    whole, alone = figures({0: 1.0, 4: 1.5, 40: 6.0}, {0: 100, 4: 150, 40: 600}, "pools", 5)
    assert (whole.value, whole.verdict) == (4.0, Verdict.HELD)
    assert (alone.value, alone.verdict) == (10.0, Verdict.NO_BOUND)


def test_quadratic_growth_misses_the_bound() -> None:
    whole, _ = figures({0: 0.5, 4: 0.7, 40: 20.5}, {0: 100, 4: 150, 40: 600}, "pools", 5)
    assert whole.verdict is Verdict.MISSED


def figure(wall: float, bound: float, baseline: Baseline) -> Figure:
    pairs = Pairs(Series([Sample(wall, wall)]), Series([Sample(1.0, 1.0)]))
    return preview.figure("preview", pairs, bound, baseline)


def test_either_ratio_has_a_bound_of_its_own() -> None:
    assert figure(1.35, preview.SAME_IMPORTS_BOUND, SAME_IMPORTS).result == "missed by 4%"
    assert figure(1.35, preview.PLAIN_RECORDS_BOUND, PLAIN_RECORDS).result == "held"
    assert figure(2.6, preview.PLAIN_RECORDS_BOUND, PLAIN_RECORDS).result == "missed by 30%"


def test_how_names_the_baseline_of_prod() -> None:
    assert "with the same imports" in figure(1.0, 1.3, SAME_IMPORTS).how
    assert "plain records of AWS" in figure(1.0, 2.0, PLAIN_RECORDS).how


MIB = 1 << 20
NOW = Memory(pss=700 * MIB, rss=900 * MIB, parts={"etcd 12": 100 * MIB, "kube-apiserver 13": 600 * MIB})


def note(name: str, kind: NoteKind) -> Note:
    return Note(f"urn:pulumi:dev::slipway::kubernetes:helm.sh/v3:Release::{name}", kind, "text")


def test_the_figure_is_the_maximum_of_coming_up_and_being_up() -> None:
    assert memory.figure("memory", 2048, "dev", 1018 * MIB, NOW).value == 1018
    assert memory.figure("memory", 2048, "dev", 500 * MIB, NOW).value == 700


def test_more_than_the_bound_is_missed() -> None:
    found = memory.figure("memory", memory.BOUND_MIB, "dev", 3840 * MIB, NOW)
    assert found.result == "missed by 50%"
    assert "etcd 100 MiB, kube-apiserver 600 MiB" in found.notes[0]


def test_without_charts_the_bounded_number_is_reported_as_not_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = Bench(tmp_path, print)
    monkeypatch.setattr(bench, "with_prod", lambda: bench.sandbox)
    monkeypatch.setattr(bench.sandbox, "memory", lambda: NOW)
    monkeypatch.setattr(charts, "directory", lambda *_: None)
    without, bounded = memory.measure(bench)
    assert (without.verdict, without.value) == (Verdict.NO_BOUND, 700)
    assert (bounded.verdict, bounded.bound) == (Verdict.NOT_MEASURED, memory.BOUND_MIB)
    assert "set SLIPWAY_CHARTS" in bounded.notes[0]


def test_a_stack_that_does_not_come_up_with_its_charts_leaves_the_other_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: str) -> str:
        msg = "`slipway up dev --sandbox` ended with code 1"
        raise BenchError(msg)

    bench = Bench(tmp_path, print)
    monkeypatch.setattr(bench, "with_prod", lambda: bench.sandbox)
    monkeypatch.setattr(bench.sandbox, "memory", lambda: NOW)
    monkeypatch.setattr(bench, "command", fail)
    monkeypatch.setattr(charts, "directory", lambda *_: tmp_path)
    without, bounded = memory.measure(bench)
    assert (without.value, bounded.verdict) == (700, Verdict.NOT_MEASURED)
    assert "ended with code 1" in bounded.notes[0]


def test_releases_are_grouped_by_what_the_sandbox_did_for_them() -> None:
    other = Note("urn:pulumi:dev::slipway::kubernetes:core/v1:Secret::s", NoteKind.RECORDED, "text")
    notes = [note("kueue", NoteKind.INSTALLED), note("keda", NoteKind.CHECKED), note("lws", NoteKind.RECORDED), other]
    assert memory.releases(notes)[NoteKind.RECORDED] == ["lws"]
    assert memory.extent(notes) == "2 releases: 1 installed, 1 with their CRDs alone"
