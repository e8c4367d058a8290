"""Manifests against the CRDs of the installed chart versions."""

from functools import cache
from pathlib import Path
from typing import Any

from tests.components.workloads.samples import GOOD, body
from tests.support.structural import complaints, definition, schema

FILES = {
    "CronWorkflow": "argo-workflows/crds/argoproj.io_cronworkflows.yaml",
    "InferenceGraph": "kserve-crd/crds/inferencegraphs.serving.kserve.io.yaml",
    "InferenceService": "kserve-crd/crds/inferenceservices.serving.kserve.io.yaml",
    "JobSet": "jobset/crds/jobset.x-k8s.io_jobsets.yaml",
    "MPIJob": "../manifests-full/mpi-operator/mpi-operator.yaml",
    "PodMonitor": "kube-prometheus-stack/crds/crd-podmonitors.yaml",
    "PyTorchJob": "training-operator-v1/crds/kubeflow.org_pytorchjobs.yaml",
    "RayCluster": "../charts-full/kuberay-operator/crds/ray.io_rayclusters.yaml",
    "RayJob": "../charts-full/kuberay-operator/crds/ray.io_rayjobs.yaml",
    "RayService": "../charts-full/kuberay-operator/crds/ray.io_rayservices.yaml",
    "ScaledObject": "keda/crds/scaledobjects.keda.sh.yaml",
    "ServingRuntime": "kserve-crd/crds/servingruntimes.serving.kserve.io.yaml",
    "TFJob": "training-operator-v1/crds/kubeflow.org_tfjobs.yaml",
    "TrainJob": "kubeflow-trainer/crds/trainjobs.trainer.kubeflow.org.yaml",
    "TrainingRuntime": "kubeflow-trainer/crds/trainingruntimes.trainer.kubeflow.org.yaml",
    "Workflow": "argo-workflows/crds/argoproj.io_workflows.yaml",
    "WorkflowTaskSet": "argo-workflows/crds/argoproj.io_workflowtasksets.yaml",
    "WorkflowTemplate": "argo-workflows/crds/argoproj.io_workflowtemplates.yaml",
}
"""Single files, because reading all CRDs of these charts takes 10 s."""
OWN_GROUPS = ("v1", "apps/v1", "batch/v1", "policy/v1", "autoscaling/v2")
"""Built-in kinds, without CRDs: `test_api_server` validates these."""


@cache
def crd(charts: Path, kind: str) -> dict[str, Any]:
    return definition(charts / FILES[kind], kind)


def wrong(charts: Path, manifest: dict[str, Any]) -> list[str]:
    """Violations of a manifest against its CRD; empty for built-in kinds."""
    if manifest["apiVersion"] in OWN_GROUPS:
        return []
    version = manifest["apiVersion"].partition("/")[2]
    return list(complaints(manifest, schema(crd(charts, manifest["kind"]), version), manifest["kind"]))


def argo_template(charts: Path) -> Any:
    """The schema of a workflow template. The CRDs of workflows don't define it, but that of the agent's tasks of the
    same version does."""
    tasks = schema(crd(charts, "WorkflowTaskSet"), "v1alpha1")
    return tasks["properties"]["spec"]["properties"]["tasks"]["additionalProperties"]


def test_templates_of_a_pipeline_satisfy_argos_schema(shared: Path) -> None:
    expected = argo_template(shared / "charts")
    for template in body(GOOD["pipeline"](), "template")["spec"]["templates"]:
        assert list(complaints(template, expected, template["name"])) == []


def test_violations_are_found(shared: Path) -> None:
    manifest = body(GOOD["train-job"](), "train-job")
    manifest["spec"]["trainer"]["numNodes"] = "two"
    manifest["spec"]["runtimRef"] = manifest["spec"].pop("runtimeRef")
    assert wrong(shared / "charts", manifest) == [
        "TrainJob.spec.runtimeRef is missing",
        "TrainJob.spec.trainer.numNodes: 'two' is no integer",
        "TrainJob.spec.runtimRef is not known",
    ]
