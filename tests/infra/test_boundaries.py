"""The boundaries that the policy pack renders are what the program declares, whatever the settings."""

from copy import deepcopy
from functools import cache
from typing import Any

import pytest

from infra.boundaries import Boundaries, boundaries, identity
from policies.resources.tokens import ACCESS_ENTRY, ACCESS_POLICY, CONFIG_MAP
from policies.rule import environment
from policies.rules import BY_NAME
from policies.rules.boundaries import RENDERED
from policies.runner import Finding
from slipway.render.evaluation import check
from slipway.render.program import record_platform
from slipway.render.recording import Recording
from spec.settings import Platform, load, read_stack
from spec.teams.labels import ADMISSION
from tests.support.day import TODAY
from tests.support.stacks import FOLDER, NAMES, platform_of, recorded

NEW_TEAM = {
    "project": "search",
    "costCenter": "ml-search",
    "members": {"engineers": {"principalArn": "arn:aws:iam::444455556666:role/ml-search"}},
    "cpus": {"cpu": {"nominalQuota": 0, "borrowingLimit": 8}},
}
CHANGES: dict[str, dict[str, Any]] = {
    "a team more, one retired": {"teams.search": NEW_TEAM, "teams.vision.retired": True},
    "actions of rules": {
        "admission": {"imageTag": "off", "hostAccess": "warn", "jobBounds": "audit", "maxReplicas": 50}},
    "defaults": {"cluster.version": "1.36", "cluster.amiRelease": "1.36.2-20260714"},
    "an access entry with a group": {"cluster.access.readers": {
            "principalArn": "arn:aws:iam::444455556666:role/readers", "kubernetesGroups": ["readers"]}},
    "a topology": {"queues": {"topology": True}},
    "idle GPUs": {"cost.idleGpus": {"after": "3h"}},
    "canaries that are rolled back": {"addons.kserve.canaryRollback": {}},
    "a MultiKueue worker": {"addons.kueue.multiKueue": "worker"},
    "other software": {"addons.argoWorkflows": None, "addons.leaderWorkerSet": None, "addons.mpiOperator": {},
        "cost.schedules": {"evenings": {"stop": "0 20 * * *", "timezone": "Europe/Berlin", "notebooks": True},
            "nights": {"stop": "0 21 * * *", "start": "0 6 * * *", "pools": ["cpu", "gpu-spot"]}}},
}  # fmt: skip


def with_changes(changes: dict[str, Any]) -> Platform:
    """Stack prod with some settings changed; None removes one."""
    settings: Any = deepcopy(read_stack("prod", FOLDER))
    for path, value in changes.items():
        *above, last = path.split(".")
        node = settings
        for part in above:
            node = node[part]
        if value is None:
            del node[last]
        else:
            node[last] = value
    return load(settings, stack="prod", today=TODAY).platform


@cache
def run_of(name: str) -> Recording:
    return recorded(name) if name in NAMES else record_platform(with_changes(CHANGES[name]), stack="prod")


def given(name: str) -> Boundaries:
    platform = run_of(name).platform
    assert platform is not None
    return boundaries(platform)


def declared(name: str) -> dict[Any, Any]:
    """Objects of the program of the kinds that the rules compare; of ConfigMaps, the parameters of admission."""
    objects = [one.inputs.plain for one in run_of(name) if one.type in (*RENDERED, CONFIG_MAP)]
    others = [one for one in objects if one["kind"] == "ConfigMap" and one["metadata"]["name"] != ADMISSION]
    return {identity(one): one for one in objects if one not in others}


runs = pytest.mark.parametrize("name", [*NAMES, *CHANGES])


@runs
def test_what_is_rendered_is_what_the_program_declares(name: str) -> None:
    """The other way round, too: each object of these kinds is one that the stack file gives."""
    assert given(name).objects == declared(name)


@runs
def test_the_pack_accepts_the_program(name: str) -> None:
    """Add-ons with operators of their own have kinds that need a review of the stack (`resource-type-reviewed`)."""
    stage = environment("prod" if name in CHANGES else name)

    def mandatory(one: Finding) -> bool:
        return one.counts(TODAY) and BY_NAME[one.rule].levels.of(stage).value == "mandatory"

    found = {(one.id, one.value) for one in check(run_of(name), TODAY) if mandatory(one)}
    operators = {
        ("resource-type-reviewed/type", "a kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"),
        ("rbac-roles-allow/grants", "granting list, watch on secrets"),
    }
    expected = {
        "other software": operators,
        "actions of rules": {("admission-security-denies/action", text) for text in ("['Warn', 'Audit']", "['Audit']")},
    }
    assert found <= expected.get(name, set())


@runs
def test_entries_are_those_that_the_program_declares(name: str) -> None:
    entries = [one.inputs.plain for one in run_of(name) if one.type == ACCESS_ENTRY]
    people = {one["principalArn"]: one.get("kubernetesGroups", []) for one in entries if one["type"] == "STANDARD"}
    assert {arn: sorted(one.groups) for arn, one in given(name).entries.items()} == people
    policies = {
        one.inputs.plain["principalArn"]: one.inputs.plain["policyArn"].rpartition("/")[2]
        for one in run_of(name).of_type(ACCESS_POLICY)
    }
    assert {arn: str(one.policy) for arn, one in given(name).entries.items() if one.policy} == policies


def test_groups_belong_to_teams() -> None:
    found = given("an access entry with a group")
    assert (found.groups["readers"], found.groups["slipway:vision:admin"]) == ("", "vision")
    assert found.teams["language-serving"] == "language"


def test_namespaces_of_the_platform_are_known_before_it_installs_something() -> None:
    found = given("prod")
    assert all(found.of_platform(space) for space in ("kueue-system", "knative-serving", "kube-system", "eks-agents"))
    assert not any(found.of_platform(space) for space in ("default", "vision-training", "scanner"))


def test_a_stack_without_teams_has_no_tenancy() -> None:
    kinds = {kind.rpartition(":")[2] for kind, _, _ in boundaries(with_changes({"teams": {}})).objects}
    assert kinds == {
        "ConfigMap", "Namespace", "NetworkPolicy", "PriorityClass", "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    }  # fmt: skip
    assert platform_of("prod").teams
