"""Manifests against the CRDs of the installed chart versions."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.components.workloads.samples import GOOD, body
from tests.support.cases import beside
from tests.support.structural import complaints, definition, schema

CASES: Final = beside(__file__)

FILES = CASES["files"]
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
