"""A real API server: dry runs with a member's rights, names as kubectl takes them, and what a member can't read."""

import time
from base64 import b64decode

import pytest

from components.admission import rules
from components.admission.admission import binding, policy
from components.admission.variables import parameters
from components.tenancy.priorities import priority_class
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from slipway.why.answer import Layer
from slipway.why.collect import collect, find
from slipway.why.explain import explain
from slipway.why.manifests import DryRun, answer
from spec.errors import SlipwayError
from spec.settings.admission import Action, Admission
from spec.settings.teams import PriorityName
from tests.components.admission.actors import EDIT, PLATFORM, TEAM, headers, permissions, request
from tests.components.admission.samples import CONTEXT, Object, job, on, spec
from tests.sandbox.plane import ControlPlane, crd
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

PLACE = "why"
TOO_LARGE = {"name": "main", "image": "a:1", "resources": {"limits": {"cpu": "50", "memory": "1Gi"}}}


def named(manifest: Object, name: str = "it") -> Object:
    return {**manifest, "metadata": {**manifest["metadata"], "name": name, "namespace": PLACE}}


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> KubeClient:
    every = plane.client
    labels = {"platform.slipway/team": TEAM, "why": "here"}
    every.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE, "labels": labels}}, "test")
    limits = [{"type": "Container", "max": {"cpu": "8"}, "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}]
    place = {"name": "team", "namespace": PLACE}
    for manifest in (
        *permissions(PLACE),
        *(priority_class(name) for name in PriorityName),
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": place, "spec": {"limits": limits}},
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": place, "spec": {"hard": {"pods": "2"}}},
    ):
        every.apply(manifest, "test", force=True)
    every.apply(parameters(rules(CONTEXT)), "test", force=True)
    for rule in rules(CONTEXT):
        own, bind = policy(rule), binding(rule, Action.DENY)
        own["metadata"]["name"] = bind["metadata"]["name"] = bind["spec"]["policyName"] = f"{rule.name}.why"
        chosen = {"key": "why", "operator": "In", "values": ["here"]}
        bind["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"].append(chosen)
        every.apply(own, "test")
        every.apply(bind, "test")
    every.apply(crd("mlops.seldon.io", "Server", {"suspend": {"type": "boolean"}}), "test")
    end = time.monotonic() + SECONDS
    for case in ("no toleration", "no queue", "no deadline", "a wrong priority"):
        while not request(every, EDIT, "POST", named(CASES[case][0])) and time.monotonic() < end:
            time.sleep(0.1)
    return every


@pytest.fixture
def member(client: KubeClient) -> KubeClient:
    """The client of a member of the team."""
    found = KubeClient(client.server, b64decode(client.certificate_authority).decode(), client.token)
    found._http.headers = {**found._http.headers, **headers(EDIT)}
    return found


def asked(client: KubeClient, manifest: Object) -> tuple[Layer, str]:
    dry_run = DryRun(client, PLACE)
    found = answer(manifest, target=None, rules=Admission(), dry_run=dry_run, others=(manifest,))
    return found.part.layer, found.sentence


CASES: dict[str, tuple[Object, Layer, str]] = {
    "right": (job(), Layer.ACCEPTED, "job/it would be accepted."),
    "no toleration": (job(on("a100", taints=[])), Layer.ADMISSION, "rule gpuPool: no pool fits this pod"),
    "no queue": (job(queued=False), Layer.ADMISSION, "rule queueName: jobs of a team are queued; next: add the label"),
    "no deadline": (job(activeDeadlineSeconds=None), Layer.ADMISSION, "rule jobBounds"),
    "a wrong priority": (job(spec(priorityClassName="urgent")), Layer.ADMISSION, "rule priorityClass: the priority"),
    "larger than a node": (job(spec(TOO_LARGE)), Layer.QUOTA, "at most 8 of cpu for each Container, but limit is 50"),
    "a missing account": (job(spec(serviceAccountName="nobody")), Layer.ADMISSION, "account why/nobody does not exist"),
    "a wrong claim": (
        job(spec(volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "checkpionts"}}])),
        Layer.VOLUME,
        "claim checkpionts does not exist",
    ),
    "an unknown field": (job(paralelism=2), Layer.ADMISSION, 'unknown field "spec.paralelism"'),
    "an unknown field of a custom resource": (
        {**Ref("mlops.seldon.io/v1", "Server", "it", PLACE).as_object(), "spec": {"suspend": True, "replicated": []}},
        Layer.ADMISSION,
        'unknown field "spec.replicated"; next: correct the field',
    ),
    "an unknown kind": (
        {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {}},
        Layer.ADMISSION,
        'no matches for kind "Thing"',
    ),
    "what a member may not create": (
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {}, "spec": {}},
        Layer.ADMISSION,
        "may not create",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_dry_run_has_the_rights_of_a_member(client: KubeClient, member: KubeClient, case: str) -> None:
    manifest, layer, text = CASES[case]
    for who in (client, member):
        found, sentence = asked(who, named(manifest))
        assert (found, text in sentence) == (layer, True), sentence


def test_an_administrator_acts_as_a_member_and_a_member_as_itself(client: KubeClient, member: KubeClient) -> None:
    assert DryRun(client, PLACE).member == f"slipway:{TEAM}:edit"
    assert DryRun(member, PLACE).member == ""
    assert DryRun(client, "default").member == ""


def test_a_dry_run_keeps_nothing(client: KubeClient) -> None:
    asked(client, named(job(), "kept"))
    assert client.get(Ref("batch/v1", "Job", "kept", PLACE)) is None


def test_an_object_that_exists_is_noted(client: KubeClient) -> None:
    assert not request(client, PLATFORM, "POST", named(job(suspend=True), "there"), dry_run=False)
    found = answer(named(job(), "there"), target=None, rules=Admission(), dry_run=DryRun(client, PLACE))
    assert any("it exists already" in one.text for one in found.part.evidence)


@pytest.mark.parametrize("text", ["job/named", "jobs/named", "jobs.batch/named", "Job/named", "named"])
def test_names_are_those_of_kubectl(client: KubeClient, member: KubeClient, text: str) -> None:
    client.apply(named(job(suspend=True), "named"), "test", force=True)
    assert find(member, text, PLACE)["metadata"]["name"] == "named"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("job/nobody", "namespace why has no job nobody"),
        ("thing/a", "the cluster serves no kind thing"),
        ("job/", "write kind/name"),
        ("secret/a", "cannot get resource"),
        ("nobody", "no pod, job or workload nobody"),
    ],
)
def test_a_wrong_name_is_an_error(member: KubeClient, text: str, error: str) -> None:
    with pytest.raises(SlipwayError, match=error):
        find(member, text, PLACE)


def test_what_a_member_may_not_read_is_said_and_no_error(client: KubeClient, member: KubeClient) -> None:
    made = client.apply(named(job(suspend=True), "seen"), "test", force=True)
    read = collect(member, made)
    assert any(one.startswith("Node of the cluster") for one in read.unread)
    assert explain(read).part.layer is Layer.QUEUE
    assert not any(one.startswith("Node") for one in collect(client, made).unread)


def test_a_job_whose_pods_are_refused_answers_with_the_refusal(client: KubeClient, member: KubeClient) -> None:
    """The job controller runs beside the tests' API server."""
    assert not request(client, PLATFORM, "POST", named(job(spec(TOO_LARGE)), "large"), dry_run=False)
    end = time.monotonic() + SECONDS
    found = explain(collect(member, find(member, "job/large", PLACE)))
    while found.part.layer is not Layer.QUOTA and time.monotonic() < end:
        time.sleep(0.2)
        found = explain(collect(member, find(member, "job/large", PLACE)))
    assert "its pods are not created: LimitRange of the namespace: at most 8 of cpu" in found.sentence
