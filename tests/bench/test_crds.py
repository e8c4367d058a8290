from pathlib import Path

import pytest

from sandbox.kubernetes.helm.chart import Charts
from slipway.render.recording import Options, RecordedResource, Recording, Values
from tests.bench.needed.crds import BUILT_IN, CHARTS, DEFINITION, bringing, is_custom
from tests.bench.needed.need import Index
from tests.bench.samples import recorded

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
