import os

import psutil
import pytest

from sandbox.cluster.apiserver import MEMORY_LIMIT, garbage_collection
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Object, Ref
from tests.sandbox.plane import CLUSTER, ControlPlane

pytestmark = pytest.mark.sandbox


def pod(namespace: str, **container: object) -> Object:
    spec = {"containers": [{"name": "main", "image": "x", **container}]}
    return {**Ref("v1", "Pod", "pod", namespace).as_object(), "spec": spec}


@pytest.mark.parametrize("gpus", [0, 1])
def test_only_a_pod_that_requests_a_gpu_tolerates_its_taint(client: KubeClient, namespace: str, gpus: int) -> None:
    live = client.apply(pod(namespace, resources={"limits": {"nvidia.com/gpu": gpus}} if gpus else {}), "test")
    toleration = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    assert (toleration in live["spec"]["tolerations"]) == gpus


def test_storage_drivers_may_run_privileged(client: KubeClient, namespace: str) -> None:
    assert client.apply(pod(namespace, securityContext={"privileged": True}), "test")


def test_a_pod_in_a_new_namespace_gets_the_default_account_and_its_token(client: KubeClient, namespace: str) -> None:
    live = client.apply(pod(namespace), "test")
    assert live["spec"]["serviceAccountName"] == "default"
    assert any("projected" in volume for volume in live["spec"]["volumes"])


def test_requests_without_valid_credentials_are_refused(plane: ControlPlane) -> None:
    endpoint = plane.pool.get(CLUSTER)
    assert endpoint is not None
    unauthorized = KubeClient(endpoint.server, plane.pki.authority_text, "wrong")
    with pytest.raises(ApiError) as refused:
        unauthorized.get_path("/api/v1/namespaces")
    assert refused.value.status == 401


def test_it_can_be_reached_from_this_machine_alone(plane: ControlPlane) -> None:
    process = psutil.Process(plane.pool.existing()[CLUSTER].process.identity.pid)
    listening = {at.laddr.ip for at in process.net_connections("inet") if at.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}


def test_the_users_garbage_collector_settings_apply(plane: ControlPlane) -> None:
    assert garbage_collection({}) == {"GOGC": "100", "GOMEMLIMIT": MEMORY_LIMIT}
    assert garbage_collection({"GOGC": "50", "GOMEMLIMIT": "1GiB"}) == {"GOGC": "50", "GOMEMLIMIT": "1GiB"}
    assert plane.pool.existing()[CLUSTER].process.spec.environment == garbage_collection(os.environ)
