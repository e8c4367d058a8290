"""Katib as the platform installs it, beside Kueue: trials are queued jobs, and an Experiment ends with its best."""

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.addons.katib import CERTIFICATE, Katib
from components.addons.kueue import ALWAYS, configuration
from components.tenancy.network_policies import KATIB
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.controllers import table
from sandbox.kubernetes.controllers.webhooks import as_applied
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from spec.settings.addons.batch import Katib as Settings
from spec.settings.addons.batch import Kueue
from spec.teams import labels
from tests.sandbox.controllers.installed import applied, cluster, holds, release, until_running, until_served
from tests.sandbox.plane import ControlPlane
from tests.support.context import seen_parts
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
TEAM: Final = "team"
KUEUE: Final = "kueue.x-k8s.io/v1beta2"
AT_ONCE: Final = 2
"""Trials of a CPU for which the team has quota, of three that an Experiment makes at once; its algorithm takes 0.1."""
EXAMPLE: Final = Path(__file__).parents[3] / "examples/tutorials/experiment.yaml"


def queues() -> Iterator[Object]:
    resources = [{"name": "cpu", "nominalQuota": f"{AT_ONCE}.5"}, {"name": "memory", "nominalQuota": "64Gi"}]
    group = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "any", "resources": resources}]}
    yield {**Ref(KUEUE, "ResourceFlavor", "any").as_object(), "spec": {}}
    queue = {"namespaceSelector": {}, "resourceGroups": [group]}
    yield {**Ref(KUEUE, "ClusterQueue", TEAM).as_object(), "spec": queue}
    yield {**Ref(KUEUE, "LocalQueue", "default", TEAM).as_object(), "spec": {"clusterQueue": TEAM}}


def example(name: str, **spec: Any) -> Object:
    """The example, on CPUs, with trials whose accuracy is their learning rate."""
    found: dict[str, Any] = copy.deepcopy(yaml.safe_load(EXAMPLE.read_text(encoding="utf-8")))
    found["metadata"] |= {"name": name, "namespace": TEAM}
    template = found["spec"]["trialTemplate"]["trialSpec"]["spec"]["template"]
    notes = {"sandbox.slipway/duration": "2s", "sandbox.slipway/metrics": "accuracy=${trialParameters.learningRate}"}
    template["metadata"]["annotations"] = notes
    pod = template["spec"]
    for field in ("nodeSelector", "tolerations", "volumes", "serviceAccountName", "priorityClassName"):
        del pod[field]
    del found["spec"]["trialTemplate"]["trialSpec"]["metadata"]["labels"]["kueue.x-k8s.io/priority-class"]
    (container,) = pod["containers"]
    del container["volumeMounts"]
    container["resources"] = {"requests": {"cpu": "1", "memory": "1Gi"}}
    found["spec"] |= spec
    return found


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[ControlPlane]:
    """A cluster with Kueue, a team's queue of two CPUs, and Katib from the platform's manifests."""
    directory = tmp_path_factory.mktemp("katib")
    with cluster(directory, "kueue", "katib") as plane:
        client = plane.client
        config = configuration(Kueue(), cluster="here", integrations=ALWAYS)
        values = {"managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(config)}}
        release(client, shared / "charts-full", "kueue", "kueue-system", **values)
        space = Ref("v1", "Namespace", TEAM).as_object()
        level = {"pod-security.kubernetes.io/enforce": "baseline"}
        space["metadata"]["labels"] = {**labels.TUNED, labels.TEAM: TEAM, **level}
        secret = Ref("v1", "Secret", CERTIFICATE, KATIB).as_object()
        applied(client, Ref("v1", "Namespace", KATIB).as_object(), space, secret, *queues())
        parts = seen_parts(lambda: Katib(Settings(replicas=1)))
        crds = {key: one for key, one in parts.before.items() if key.startswith("crd-")}
        applied(client, *crds.values())
        until_served(client, "kubeflow.org/v1beta1", "Experiment")
        applied(client, *(one for key, one in parts.before.items() if key not in crds))
        del parts.objects["controller"]["spec"]["template"]["spec"]["nodeSelector"]
        for key in ("controller", "webhooks-mutating", "webhooks-validating"):
            applied(client, as_applied(parts.objects[key], table.served()))
        until_running(directory, "katib", "kueue")
        yield plane


def listed(client: KubeClient, version: str, kind: str, selector: str = "") -> Sequence[Object]:
    return list(client.list(client.discovery.find(version, kind), TEAM, selector))


def test_an_experiment_ends_with_its_best_trial_and_its_trials_wait_for_quota(plane: ControlPlane) -> None:
    client = plane.client
    experiment = example("tuned", maxTrialCount=6, parallelTrialCount=3)
    applied(client, experiment)
    most = 0

    def ended() -> Object | None:
        nonlocal most
        jobs = listed(client, "batch/v1", "Job")
        most = max(most, sum(not one["spec"]["suspend"] and not one["status"].get("completionTime") for one in jobs))
        found = client.get(Ref.of(experiment)) or {}
        return found if holds("Succeeded")(found) else None

    found = until(ended, 4 * SECONDS, lambda: f"{(client.get(Ref.of(experiment)) or {}).get('status')}")
    trials = listed(client, "kubeflow.org/v1beta1", "Trial")
    rates = {
        one["metadata"]["name"]: float(each["value"])
        for one in trials
        for each in one["spec"]["parameterAssignments"]
        if each["name"] == "lr"
    }
    assert len(trials) == 6
    assert 1 <= most <= AT_ONCE
    best = found["status"]["currentOptimalTrial"]["bestTrialName"]
    assert rates[best] == max(rates.values())
    # Katib removes the algorithm's pod after it has set the condition.
    until(lambda: not listed(client, "apps/v1", "Deployment") or None, SECONDS, "the algorithm is still there")


def test_a_trials_pod_gets_a_collector_and_an_algorithms_pod_what_restricted_wants(plane: ControlPlane) -> None:
    client = plane.client
    experiment = example("watched", maxTrialCount=1, parallelTrialCount=1, maxFailedTrialCount=1)
    pod = experiment["spec"]["trialTemplate"]["trialSpec"]["spec"]["template"]
    pod["metadata"]["annotations"]["sandbox.slipway/duration"] = "600s"
    applied(client, experiment)

    def found() -> Object | None:
        pods = listed(client, "v1", "Pod", "katib.kubeflow.org/trial,katib.kubeflow.org/experiment=watched")
        return pods[0] if pods else None

    trial = until(found, 2 * SECONDS, "no pod of a trial")
    train, collector = trial["spec"]["containers"]
    assert (train["name"], collector["name"]) == ("train", "metrics-logger-and-collector")
    assert collector["securityContext"] == train["securityContext"]
    assert "katib-db-manager.kubeflow:6789" in collector["args"]
    (algorithm,) = listed(client, "apps/v1", "Deployment")
    containers = algorithm["spec"]["template"]["spec"]["containers"]
    assert [one["name"] for one in containers] == ["suggestion", "early-stopping"]
    assert containers[0]["securityContext"]["runAsNonRoot"]
    client.delete(Ref.of(experiment))


def test_katib_refuses_what_the_platform_leaves_out(plane: ControlPlane) -> None:
    wrong = example("wrong", algorithm={"algorithmName": "enas"})
    with pytest.raises(ApiError, match="unable to get Suggestion config data for algorithm enas"):
        plane.client.apply(wrong, "test")


def test_a_namespace_without_jobs_has_no_experiments(plane: ControlPlane) -> None:
    applied(plane.client, Ref("v1", "Namespace", "serving").as_object())
    wrong = example("elsewhere")
    wrong["metadata"]["namespace"] = "serving"
    with pytest.raises(ApiError, match="lacks label"):
        plane.client.apply(wrong, "test")
