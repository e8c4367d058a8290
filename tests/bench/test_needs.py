"""Waits: prod and its variants have every one that is needed, and a removed one is reported."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from graphlib import CycleError
from pathlib import Path
from typing import Any, Final

import pytest

from components.pools.managed import ManagedPool, ManagedPoolArgs
from sandbox.kubernetes.helm.chart import Charts
from slipway.charts.variants import variants
from slipway.render.program import record_platform
from slipway.render.recording import Options, RecordedResource, Recording, Values
from spec.settings import load, read_stack
from tests.bench.finders import BUILT_IN, CRDS, DEFINITION, Index, bringing, is_custom
from tests.bench.needs import NEEDS, Pair, absent, all_needed, missing, pairs
from tests.bench.waits import closure, waits, waits_of
from tests.support import stacks
from tests.support.cases import beside

CASES: Final = beside(__file__)

Waits = Mapping[str, frozenset[str]]
NOT_AT_HAND = {"dra-driver-nvidia-gpu", "gateway-crds-helm", "knative-operator"}


def recorded() -> Recording:
    return stacks.recorded("prod")


@cache
def without_nat() -> Recording:
    """Stack dev with VPC endpoints as the only way out, those that the checks ask for."""
    raw: Any = read_stack("dev", stacks.FOLDER)
    usage = {key: value for key, value in raw["cost"]["usage"].items() if key != "natGib"}
    endpoints = ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts", "secretsmanager"]
    network = {**raw["network"], "nat": "none", "endpoints": endpoints}
    changed = {**raw, "network": network, "cost": {**raw["cost"], "usage": usage}}
    return record_platform(load(changed, stack="dev").platform, stack="dev")


def with_every_add_on() -> Iterator[Recording]:
    """Stack prod with all add-ons, in as many programs as it takes because some exclude others."""
    seen: set[tuple[str, ...]] = set()
    for platform in variants(stacks.platform_of("prod")):
        names = tuple(name for name, _ in platform.addons.wanted())
        if names not in seen:
            seen.add(names)
            yield record_platform(platform, stack="prod")


def program_of(need: str) -> Recording:
    """A program that has the need."""
    if need == "nodes after the endpoints where there is no NAT":
        return without_nat()
    return stacks.recorded("dev") if need == "a NodePool after its overlay" else recorded()


def lacking(recording: Recording, changed: Waits) -> list[Pair]:
    return missing(pairs(recording), closure(changed))


def one_of_each_type(recording: Recording, need: str, asked: list[Pair]) -> list[Pair]:
    """A pair of the need for each two types of resources that have it."""
    of = recording.resources
    own = (pair for pair in asked if pair.need == need)
    return list({(of[pair.later].type, of[str(pair.earlier)].type): pair for pair in own}.values())


@pytest.mark.parametrize("stack", stacks.NAMES)
def test_no_stack_of_the_project_lacks_a_wait(stack: str) -> None:
    recording = stacks.recorded(stack)
    assert [pair.describe(recording) for pair in lacking(recording, waits(recording))] == []


def test_no_other_settings_lack_a_wait() -> None:
    for recording in (without_nat(), *with_every_add_on()):
        assert [pair.describe(recording) for pair in lacking(recording, waits(recording))] == []


@pytest.mark.parametrize("need", NEEDS)
def test_a_lost_wait_is_reported(need: str) -> None:
    """As if `depends_on` of the later resource had lost what leads to the earlier one; then, as if a component had left
    the earlier one out of its `ready`."""
    recording = program_of(need)
    asked, direct = pairs(recording), waits(recording)
    before = closure(direct)
    examples = one_of_each_type(recording, need, asked)
    assert examples
    for pair in examples:
        kept = {urn for urn in direct[pair.later] if urn != pair.earlier and pair.earlier not in before[urn]}
        assert pair in missing(asked, closure({**direct, pair.later: frozenset(kept)}))
        assert pair in missing(asked, closure({urn: urns - {pair.earlier} for urn, urns in direct.items()}))


def test_a_node_group_that_does_not_wait_for_its_role_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program itself with `*args.node_role.ready` taken out of the node group's `depends_on`: nodes may not join,
    and on the way down the policies go before the nodes."""
    make = ManagedPool._make_node_group

    def without_role(pool: ManagedPool, name: str, args: ManagedPoolArgs, template: Any) -> Any:
        return make(pool, name, replace(args, node_role=replace(args.node_role, ready=())), template)

    monkeypatch.setattr(ManagedPool, "_make_node_group", without_role)
    found = absent(record_platform(stacks.platform_of("dev"), stack="dev"))
    assert found.result == "missed by 3 waits"
    assert {note.partition(": ")[2] for note in found.notes[:-1]} == {"a node group after the policies of its role"}


def test_a_custom_resource_that_waits_for_another_release_than_its_own_is_reported() -> None:
    recording = recorded()
    queue, other = recording.named("queues-cohort").urn, recording.named("cert-manager-release").urn
    found = lacking(recording, {**waits(recording), queue: frozenset({other})})
    own = ("a custom resource after its own CRD", recording.named("kueue-release").urn)
    assert own in {(pair.need, pair.earlier) for pair in found}


def test_a_custom_resource_whose_crd_nothing_installs_is_reported() -> None:
    recording = recorded()
    release = recording.named("kueue-release")
    alone = replace(recording, resources={urn: each for urn, each in recording.resources.items() if each != release})
    lost = {urn: before - {release.urn} for urn, before in waits(recording).items() if urn != release.urn}
    pair = Pair("a custom resource after its own CRD", recording.named("queues-cohort").urn, None)
    assert pair in lacking(alone, lost)
    assert "finds nothing to wait for" in pair.describe(recording)


@pytest.mark.parametrize(("later", "earlier", "needed"), CASES["a need follows by way of any number of others"])
def test_a_need_follows_by_way_of_any_number_of_others(later: str, earlier: str, needed: bool) -> None:
    recording = recorded()
    assert (recording.named(earlier).urn in all_needed(recording)[recording.named(later).urn]) is needed


# Which releases bring a CRD.


def resource(type_: str, *, custom: bool = True, **inputs: Any) -> RecordedResource:
    return RecordedResource(
        urn=f"urn::{type_}", type=type_, name="r", parent=None, custom=custom, inputs=Values(inputs), options=Options()
    )


@pytest.mark.parametrize(("name", "release"), CASES["a custom resource has one release that brings its crd"])
def test_a_custom_resource_has_one_release_that_brings_its_crd(name: str, release: str) -> None:
    assert [each.name for each in bringing(Index(recorded()), recorded().named(name))] == [release]


def test_a_crd_that_the_program_declares_itself_is_found_by_group_and_kind() -> None:
    def definition(kind: str) -> RecordedResource:
        return resource(DEFINITION, spec={"group": "kubeflow.org", "names": {"kind": kind}})

    job, other = definition("MPIJob"), definition("TFJob")
    own = resource("kubernetes:kubeflow.org/v1:MPIJob", apiVersion="kubeflow.org/v1", kind="MPIJob")
    for crd, expected in ((job, [job]), (other, [])):
        recording = Recording(project="p", stack="s", resources={crd.urn: crd, own.urn: own}, exports=Values({}))
        assert bringing(Index(recording), own) == expected


def test_objects_of_groups_that_every_api_server_has_are_no_custom_resources() -> None:
    assert not is_custom(resource("kubernetes:core/v1:Secret", apiVersion="v1"))
    assert not is_custom(recorded().named("storage-class-block"))
    gateway = resource("kubernetes:gateway.networking.k8s.io/v1:Gateway", apiVersion="gateway.networking.k8s.io/v1")
    assert is_custom(gateway)
    assert not BUILT_IN & CRDS.keys()


@pytest.mark.parametrize(("group", "name"), sorted(CRDS.items()))
def test_the_chart_has_a_crd_of_the_group(shared: Path, group: str, name: str) -> None:
    chart = Charts(shared / "charts").find(name) or Charts(shared / "charts-full").find(name)
    if chart is None:
        assert name in NOT_AT_HAND
        return
    texts = (file.read_text(errors="replace") for file in chart.path.rglob("*.y*ml"))
    assert any(f"group: {group}\n" in text for text in texts)


def test_a_cycle_is_refused() -> None:
    with pytest.raises(CycleError):
        closure({"a": frozenset("b"), "b": frozenset("a")})


def test_a_resource_waits_for_all_that_the_sdk_resolves_before_it_registers() -> None:
    options = Options(dependencies=("needed",), provider="provider", deleted_with="cluster")
    later = replace(resource("aws:sqs/queue:Queue"), parent="parent", options=options)
    assert waits_of(later) == {"needed", "provider", "cluster", "parent"}
