"""Members of teams get permissions on custom resources that an add-on installs, and on no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from components.addons.mpi_operator.crd import definition as mpi_crd
from components.addons.training_operator.crds import definition as training_crd
from components.addons.training_operator.kinds import KINDS
from components.tenancy.roles import cluster_role_manifest
from slipway.charts.pull import pinned
from slipway.sandbox.kubernetes.helm.chart import Charts
from spec.settings.teams import MemberRole

BUILT_IN = re.compile(r"^[a-z]*$|\.k8s\.io$")
NOT_AT_HAND = {"gateway-crds-helm", "knative-operator"}
_CRD = re.compile(r"^  name: ['\"]?([a-z0-9]+\.[a-z0-9.-]+\.[a-z]+)['\"]?$", re.MULTILINE)


@pytest.fixture(scope="module")
def installed(shared: Path) -> set[str]:
    """Names of the CRDs of all add-ons, from the text of their charts."""
    charts = Charts(shared / "charts-full")
    names = {each["metadata"]["name"] for each in (mpi_crd(), *map(training_crd, KINDS.values()))}
    for pin in pinned():
        chart = charts.find(pin.name, pin.version)
        if chart is None:
            assert pin.name in NOT_AT_HAND
            continue
        texts = (file.read_text(encoding="utf-8") for file in chart.path.rglob("*.yaml"))
        names |= {name for text in texts if "CustomResourceDefinition" in text for name in _CRD.findall(text)}
    return names


@pytest.mark.parametrize("role", MemberRole)
def test_a_role_names_only_kinds_that_an_add_on_installs(role: MemberRole, installed: set[str]) -> None:
    granted = {
        f"{resource.partition('/')[0]}.{group}"
        for rule in cluster_role_manifest(role)["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if group and ("x-k8s.io" in group or not BUILT_IN.search(group))
    }
    assert granted
    assert granted - installed == set()
