"""The training operator's manifests."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from components.addons.kubeflow_crds import KINDS
from components.addons.kubeflow_crds import definition as crd_of
from components.addons.mpi_operator import MpiOperator
from components.addons.training_operator import LABELS, TrainingOperator
from components.base.addon import AddOn
from spec.catalog.software import MANIFESTS
from spec.settings.addons.batch import MpiOperator as MpiSettings
from spec.settings.addons.batch import TrainingOperator as Settings
from tests.support.context import Seen, seen_parts
from tests.support.structural import definition, schema

PIN = MANIFESTS["training-operator"]


def seen(**settings: Any) -> Seen:
    return seen_parts(lambda: TrainingOperator(Settings(**settings)))


def test_every_kind_of_the_settings_is_known() -> None:
    assert set(get_args(get_args(Settings.model_fields["kinds"].annotation)[0])) == set(KINDS)


def test_the_operator_serves_only_kinds_with_crds() -> None:
    result = seen(kinds=("PyTorchJob", "JAXJob"))
    (container,) = result.objects["operator"]["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["--leader-elect", "--enable-scheme=pytorchjob", "--enable-scheme=jaxjob"]
    assert {key for key in result.before if key.startswith("crd-")} == {"crd-pytorchjobs", "crd-jaxjobs"}
    (own,) = [rule for rule in result.before["role"]["rules"] if rule["apiGroups"] == ["kubeflow.org"]]
    assert {name.partition("/")[0] for name in own["resources"]} == {"pytorchjobs", "jaxjobs"}


def test_the_service_selects_the_operator_and_the_webhook_uses_the_service() -> None:
    result = seen()
    assert result.before["service"]["spec"]["selector"] == LABELS
    assert result.objects["operator"]["spec"]["template"]["metadata"]["labels"] == LABELS
    for hook in result.objects["webhook"]["webhooks"]:
        service = hook["clientConfig"]["service"]
        assert (service["name"], service["namespace"]) == ("training-operator", "kubeflow")
    (port,) = [each for each in result.before["service"]["spec"]["ports"] if each["port"] == 443]
    assert port["targetPort"] == 9443


def test_each_kind_has_a_webhook() -> None:
    paths = [hook["clientConfig"]["service"]["path"] for hook in seen().objects["webhook"]["webhooks"]]
    assert paths == ["/validate-kubeflow-org-v1-pytorchjob", "/validate-kubeflow-org-v1-tfjob"]


def test_a_budget_selects_the_operator() -> None:
    assert seen().objects["budget"]["spec"]["selector"] == {"matchLabels": LABELS}


@pytest.mark.parametrize("addon", [TrainingOperator(Settings()), MpiOperator(MpiSettings())])
def test_jobs_get_pod_groups_only_on_a_stack_with_volcano(addon: AddOn[Any]) -> None:
    def arguments(**addons: Any) -> list[str]:
        operator = seen_parts(lambda: addon, addons=addons, cluster={"version": "1.36"}).objects["operator"]
        (container,) = operator["spec"]["template"]["spec"]["containers"]
        return [each for each in container["args"] if "gang" in each]

    assert arguments() == []
    (flag,) = arguments(volcano={})
    assert flag.partition("=")[::2] in (("--gang-scheduler-name", "volcano"), ("--gang-scheduling", "volcano"))


def test_the_image_is_that_of_the_pinned_release() -> None:
    (container,) = seen().objects["operator"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == PIN.image
    # The commit before the tag, which the release's kustomization names (kubeflow/trainer#3947).
    assert (PIN.version, PIN.image.rpartition("-")[2]) == ("v1.9.4", "93c5489")


def test_its_pod_satisfies_the_pod_security_level() -> None:
    (container,) = seen().objects["operator"]["spec"]["template"]["spec"]["containers"]
    security = container["securityContext"]
    assert (security["runAsNonRoot"], security["seccompProfile"]) == (True, {"type": "RuntimeDefault"})
    assert TrainingOperator.namespace.enforce == "restricted"


def test_the_operator_depends_on_crds_permissions_and_service() -> None:
    recording = seen().recording
    operator = recording.of("kubernetes:apps/v1:Deployment")["training-operator-operator"]
    for name in ("training-operator-crd-pytorchjobs", "training-operator-binding", "training-operator-service"):
        (before,) = [each for each in recording if each.name == name]
        assert recording.waits(operator, before), name


def test_its_crds_and_its_image_are_of_one_release(shared: Path) -> None:
    source = (shared / "charts/training-operator-v1/SOURCE.txt").read_text()
    assert f"ref: {MANIFESTS['training-operator'].version}\n" in source


def fields(properties: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for key, value in properties.items():
        yield f"{path}{key}"
        if not value.get("x-kubernetes-preserve-unknown-fields"):
            yield from fields(value.get("properties") or {}, f"{path}{key}.")


@pytest.mark.parametrize("kind", KINDS)
def test_a_crd_has_upstreams_fields_except_those_of_pods_and_metrics(shared: Path, kind: str) -> None:
    job = KINDS[kind]
    real = definition(shared / f"charts/training-operator-v1/crds/kubeflow.org_{job.plural}.yaml", kind)
    ours = crd_of(job)
    assert ours["spec"]["names"] == {key: real["spec"]["names"][key] for key in ours["spec"]["names"]}
    assert (ours["metadata"]["name"], ours["spec"]["scope"]) == (real["metadata"]["name"], real["spec"]["scope"])
    assert ours["spec"]["versions"][0]["subresources"] == real["spec"]["versions"][0]["subresources"]
    for part in ("spec", "status"):
        wanted, actual = (schema(each, "v1")["properties"][part] for each in (real, ours))
        missing = set(fields(wanted["properties"])) - set(fields(actual["properties"]))
        assert missing == set(), part
        assert wanted.get("required") == actual.get("required")
    replicas = [schema(each, "v1")["properties"]["spec"]["properties"][job.replicas] for each in (real, ours)]
    assert set(replicas[0]["additionalProperties"]["properties"]) == set(
        replicas[1]["additionalProperties"]["properties"]
    )
