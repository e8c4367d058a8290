"""Katib's manifests, compared with upstream's."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.addons import katib
from components.addons.katib import ALGORITHMS, COLUMNS, TRIALS, Katib, definition
from components.base.addon import Parts
from spec.catalog.software import MANIFESTS
from spec.settings.addons.batch import Katib as Settings
from tests.components.addons.charts import beyond, granted
from tests.support.context import Seen, seen_parts

PIN: Final = MANIFESTS["katib"]
ALL: Final[dict[str, dict[str, Any]]] = {
    "certManager": {},
    "jobset": {},
    "trainer": {},
    "mpiOperator": {},
    "trainingOperator": {},
}
Objects = Mapping[tuple[str, str], dict[str, Any]]


def seen(**addons: Any) -> Seen:
    return seen_parts(lambda: Katib(Settings()), addons=addons)


def of(found: Seen | Parts) -> Objects:
    return {(one["kind"], one["metadata"]["name"]): one for one in (*found.before.values(), *found.objects.values())}


@pytest.fixture(scope="module")
def upstream(shared: Path) -> Objects:
    """Its manifests by kind and name."""
    folder = shared / "manifests-full/katib"
    files = [*folder.glob("components/*/*.yaml"), *folder.glob("installs/katib-cert-manager/certificate.yaml")]
    files.append(folder / "installs/katib-leader-election/leader-election-rbac.yaml")
    read = [one for file in sorted(files) for one in yaml.load_all(file.read_text(), yaml.CSafeLoader) if one]
    return {(one["kind"], one["metadata"]["name"]): one for one in read if one.get("metadata")}


@pytest.fixture(scope="module")
def configuration(shared: Path) -> dict[str, Any]:
    text = (shared / "manifests-full/katib/installs/katib-cert-manager/katib-config.yaml").read_text()
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_the_manifests_are_of_the_pinned_release(shared: Path) -> None:
    source = (shared / "manifests-full/katib/SOURCE.txt").read_text()
    assert f"ref: {PIN.version}\n" in source
    assert f"commit_date: {PIN.released}\n" in source
    assert PIN.image.endswith(f":{PIN.version}")


@pytest.mark.parametrize("kind", COLUMNS)
def test_the_crds_are_upstreams(upstream: Objects, kind: str) -> None:
    real = upstream["CustomResourceDefinition", f"{kind.lower()}s.kubeflow.org"]
    assert definition(kind) == real


def test_its_role_is_upstreams_without_secrets_webhooks_and_volumes(upstream: Objects) -> None:
    real = granted(upstream["ClusterRole", "katib-controller"])
    real |= granted(upstream["Role", "leader-election"])
    ours = granted(of(seen())["ClusterRole", "katib-controller"])
    assert beyond(ours, real) == set()
    left = {resource for _, resource, _ in real} - {resource for _, resource, _ in ours}
    assert left == {
        "cronjobs", "mutatingwebhookconfigurations", "persistentvolumes", "pods/status", "secrets",
        "validatingwebhookconfigurations",
    }  # fmt: skip
    assert ("", "persistentvolumeclaims", "create") in real - ours


def test_the_webhooks_are_upstreams_and_see_no_pods_but_those_of_jobs(upstream: Objects) -> None:
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        ours, real = of(seen())[kind, "katib.kubeflow.org"], upstream[kind, "katib.kubeflow.org"]
        assert [one["name"] for one in ours["webhooks"]] == [one["name"] for one in real["webhooks"]]
        for one, other in zip(ours["webhooks"], real["webhooks"], strict=True):
            assert one["failurePolicy"] == "Fail"
            for part in ("clientConfig", "rules", "namespaceSelector", "sideEffects", "admissionReviewVersions"):
                assert one.get(part) == other.get(part), part
        assert ours["metadata"]["annotations"] == {"cert-manager.io/inject-ca-from": "kubeflow/katib-webhook-cert"}
    (condition,) = ours["webhooks"][1]["matchConditions"]
    assert "['Job', 'MPIJob', 'PyTorchJob', 'TFJob', 'XGBoostJob']" in condition["expression"]


def test_cert_manager_issues_upstreams_certificate(upstream: Objects) -> None:
    ours, real = of(seen()), upstream["Certificate", "katib-webhook-cert"]
    assert set(ours["Certificate", "katib-webhook-cert"]["spec"]) == set(real["spec"])
    names = [
        each.replace("KATIB_SERVICE_NAME_PLACEHOLDER", "katib-controller").replace(
            "KATIB_NAMESPACE_PLACEHOLDER", "kubeflow"
        )
        for each in real["spec"]["dnsNames"]
    ]
    assert ours["Certificate", "katib-webhook-cert"]["spec"]["dnsNames"] == names
    issuer = ours["Issuer", real["spec"]["issuerRef"]["name"]]
    assert issuer["spec"] == upstream["Issuer", "katib-selfsigned-issuer"]["spec"]


def test_the_controller_is_upstreams_with_two_replicas(upstream: Objects) -> None:
    ours, real = of(seen()), upstream["Deployment", "katib-controller"]
    (container,) = ours["Deployment", "katib-controller"]["spec"]["template"]["spec"]["containers"]
    (other,) = real["spec"]["template"]["spec"]["containers"]
    assert container["image"] == PIN.image == f"{other['image']}:{PIN.version}"
    for part in ("command", "args", "env", "volumeMounts", "readinessProbe", "livenessProbe"):
        assert container[part] == other[part], part
    assert {(one["name"], one["containerPort"]) for one in container["ports"]} == {
        (one["name"], one["containerPort"]) for one in other["ports"]
    }
    assert (
        ours["Deployment", "katib-controller"]["spec"]["template"]["spec"]["volumes"]
        == (real["spec"]["template"]["spec"]["volumes"])
    )
    for name in ("katib-controller", "katib-db-manager"):
        service, its = ours["Service", name]["spec"], upstream["Service", name]["spec"]
        assert service["selector"] == its["selector"]
        assert {(one["name"], one["port"], one["targetPort"]) for one in service["ports"]} == {
            (one["name"], one["port"], one.get("targetPort", one["port"])) for one in its["ports"]
        }


def test_the_configuration_has_upstreams_images_and_kinds(configuration: dict[str, Any]) -> None:
    ours = yaml.safe_load(of(seen(**ALL))["ConfigMap", "katib-config"]["data"]["katib-config.yaml"])
    assert {key: ours[key] for key in ("apiVersion", "kind")} == {
        key: configuration[key] for key in ("apiVersion", "kind")
    }
    runtime, real = ours["runtime"], configuration["runtime"]
    assert runtime["metricsCollectors"] == real["metricsCollectors"]
    assert runtime["earlyStoppings"] == real["earlyStoppings"]
    images = {one["algorithmName"]: one["image"] for one in real["suggestions"]}
    assert {one["algorithmName"]: one["image"] for one in runtime["suggestions"]} == {
        name: images[name] for name in ALGORITHMS
    }
    assert set(images) - set(ALGORITHMS) == {"darts", "enas", "pbt"}
    kinds, its = ours["init"]["controller"]["trialResources"], configuration["init"]["controller"]["trialResources"]
    # The version of the MPI Operator that the platform has; the training operator serves two kinds by default.
    assert {each.replace("MPIJob.v2beta1.", "MPIJob.v1.") for each in kinds} == set(its) - {
        "XGBoostJob.v1.kubeflow.org"
    }
    assert {each.replace("MPIJob.v2beta1.", "MPIJob.v1.") for each in TRIALS} == set(its)


def test_it_watches_the_kinds_that_the_stack_serves() -> None:
    def kinds(**addons: Any) -> list[str]:
        text = of(seen(**addons))["ConfigMap", "katib-config"]["data"]["katib-config.yaml"]
        found: list[str] = yaml.safe_load(text)["init"]["controller"]["trialResources"]
        return found

    assert kinds() == ["Job.v1.batch"]
    assert kinds(trainingOperator={"kinds": ["TFJob"]}) == ["Job.v1.batch", "TFJob.v1.kubeflow.org"]
    assert kinds(jobset={}, trainer={}) == ["Job.v1.batch", "TrainJob.v1alpha1.trainer.kubeflow.org"]


def containers(found: Objects) -> Iterator[dict[str, Any]]:
    for kind in ("Deployment", "StatefulSet"):
        for (own, _), one in found.items():
            if own == kind:
                pod = one["spec"]["template"]["spec"]
                yield from (*pod["containers"], *pod.get("initContainers", ()))


def test_its_pods_and_those_of_algorithms_satisfy_the_level_restricted() -> None:
    assert Katib.namespace.enforce == "restricted"
    found = of(seen())
    config = yaml.safe_load(found["ConfigMap", "katib-config"]["data"]["katib-config.yaml"])
    ours = list(containers(found))
    assert {one["name"] for one in ours} == {"katib-controller", "katib-db-manager", "postgres"}
    for one in (*ours, *config["runtime"]["suggestions"]):
        security = one["securityContext"]
        assert (security["runAsNonRoot"], security["allowPrivilegeEscalation"]) == (True, False), one
        assert (security["capabilities"], security["seccompProfile"]) == ({"drop": ["ALL"]}, {"type": "RuntimeDefault"})


def test_only_the_manager_reaches_the_database() -> None:
    found = of(seen())
    pod = found["StatefulSet", "katib-db-manager"]["spec"]["template"]["spec"]
    (postgres,) = pod["initContainers"]
    assert (postgres["restartPolicy"], "listen_addresses=127.0.0.1" in postgres["args"]) == ("Always", True)
    assert not any(kind == "Secret" for kind, _ in found)
    ports = [port["port"] for one in found.values() if one["kind"] == "Service" for port in one["spec"]["ports"]]
    assert 5432 not in ports
    (entry,) = found["NetworkPolicy", "katib-db-manager"]["spec"]["ingress"]
    assert entry["ports"] == [{"protocol": "TCP", "port": 6789}]
    assert {"podSelector": {"matchLabels": {"katib.kubeflow.org/component": "controller"}}} in entry["from"]


def test_another_configuration_restarts_the_controller() -> None:
    def notes(**addons: Any) -> dict[str, str]:
        template = of(seen(**addons))["Deployment", "katib-controller"]["spec"]["template"]
        found: dict[str, str] = template["metadata"]["annotations"]
        return found

    assert notes() == notes()
    assert notes() != notes(mpiOperator={})


def test_images_of_teams_pods_come_through_the_caches() -> None:
    through = {"ghcr.io": "123.dkr.ecr.us-east-1.amazonaws.com/dev/github"}
    text = katib.configuration(["Job.v1.batch"], through)
    assert "ghcr.io" not in text
    assert "image: 123.dkr.ecr.us-east-1.amazonaws.com/dev/github/kubeflow/katib/suggestion-hyperopt:v0.19.0" in text


def test_the_database_waits_for_its_volume_class_and_the_controller_for_its_permissions() -> None:
    found = seen()
    assert found.parts.volumes
    controller = found.recording.of("kubernetes:apps/v1:Deployment")["katib-controller"]
    for name in ("katib-crd-experiments", "katib-binding", "katib-config"):
        (before,) = [each for each in found.recording if each.name == name]
        assert found.recording.waits(controller, before), name
