"""Acts of members, administrators and controllers on a real API server with all rules in effect."""

import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
import yaml

from components.admission import rules
from components.admission.admission import binding, policy
from components.admission.together import GROUPS, together
from components.admission.variables import parameters
from components.tenancy.priorities import priority_class
from components.tenancy.roles import group
from components.workloads.target import Target
from sandbox.cluster.pki import kubeconfig
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.helm import binary
from sandbox.ports import ClusterEndpoint
from slipway.why.fix import fixed
from spec.settings.admission import Action, Admission
from spec.settings.teams import MemberRole, PriorityName
from tests.components.admission import samples as make
from tests.components.admission.actors import ADMIN, EDIT, PLATFORM, TEAM, Act, permissions, request
from tests.components.admission.acts import ACTS, NAMESPACE
from tests.components.admission.cases import DENIED
from tests.components.admission.samples import CONTEXT, CUSTOM, Object, definition
from tests.sandbox.plane import ControlPlane
from tests.support.definitions import define
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

RULES: Final = tuple(together(rules(CONTEXT)))
"""As policies: most rules are in a group."""
NAMES: Final = {rule.name for rule in rules(CONTEXT)}
GROUP_OF: Final = {rule: group for group, names in GROUPS.items() for rule in names}


def space(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def place(act: Act) -> str:
    """A namespace with one policy, if a rule must refuse the act: an error names one of several. Else with all."""
    return f"{NAMESPACE}-{GROUP_OF.get(act.rule, act.rule)}" if act.rule in NAMES else NAMESPACE


def named(act: Act, manifest: Object) -> Object:
    """The object in its namespace; one that exists before the act has a name of its own."""
    name = f"it-{ACTS.index(act)}" if act.before is not None else manifest["metadata"]["name"]
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": place(act), "name": name}}


def outcome(client: KubeClient, act: Act) -> str:
    return request(client, act.actor, act.method, named(act, act.manifest), subresource=act.subresource)


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> KubeClient:
    define(plane.client, [definition(kind) for kind in CUSTOM])
    spaces = {NAMESPACE: "all", **{f"{NAMESPACE}-{rule.name}": rule.name for rule in RULES}}
    for name in spaces:
        for manifest in (space(name), *permissions(name)):
            plane.client.apply(manifest, "test", force=True)
    for name in PriorityName:
        plane.client.apply(priority_class(name), "test", force=True)
    for act in ACTS:
        if act.before is not None:
            error = request(plane.client, PLATFORM, "POST", named(act, act.before), dry_run=False)
            assert not error, (act.what, error)
    for name, label in spaces.items():
        plane.client.apply(space(name, acts=label, **{"platform.slipway/team": TEAM}), "test", force=True)
    plane.client.apply(parameters(rules(CONTEXT)), "test", force=True)
    for rule in RULES:
        own, bind = policy(rule), binding(rule, Action.DENY)
        own["metadata"]["name"] = bind["metadata"]["name"] = bind["spec"]["policyName"] = f"acts.{rule.name}"
        chosen = {"key": "acts", "operator": "In", "values": ["all", rule.name]}
        bind["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"].append(chosen)
        plane.client.apply(own, "test")
        plane.client.apply(bind, "test")
    _in_effect(plane.client)
    return plane.client


def _in_effect(client: KubeClient) -> None:
    """Wait until the API server, which watches policies, evaluates every rule."""
    end = time.monotonic() + SECONDS
    first = {act.rule: act for act in reversed(ACTS) if act.rule in NAMES}
    for act in first.values():
        while not outcome(client, act) and time.monotonic() < end:
            time.sleep(0.1)


@pytest.mark.parametrize("act", ACTS, ids=lambda act: f"{act.actor}: {act.what}")
def test_an_act_is_refused_or_accepted_as_listed(client: KubeClient, act: Act) -> None:
    error = outcome(client, act)
    if act.rule:
        assert act.rule in error
    else:
        assert error == ""


_BODY: Final = {"containers": [{"name": "it", "image": "busybox:1.37", "command": ["date"], "resources": {}}]}
_JOB: Final = {"template": {"metadata": {}, "spec": {**_BODY, "restartPolicy": "Never"}}}
OF_KUBECTL: Final = {
    "Job": _JOB,
    "CronJob": {"schedule": "0 3 * * *", "jobTemplate": {"metadata": {"name": "it"}, "spec": _JOB}},
}
"""What `kubectl create job|cronjob it --image=busybox:1.37 -- date` sends (kubectl v0.36, create_job.go)."""


@pytest.mark.parametrize("kind", OF_KUBECTL)
def test_what_kubectl_creates_is_accepted_once_it_is_fixed(client: KubeClient, kind: str) -> None:
    """On Kubernetes 1.36 the API server fills it in (`test_defaults`)."""
    target = Target(pools=CONTEXT.pools, namespace=NAMESPACE, labels={"platform.slipway/team": TEAM})
    metadata = {"name": "it", "namespace": NAMESPACE}
    made = {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": OF_KUBECTL[kind], "status": {}}
    found, changes = fixed(made, target, Admission())
    assert changes
    assert request(client, EDIT, "POST", found) == ""


def test_a_member_installs_a_chart_whose_releases_are_in_config_maps(client: KubeClient, tmp_path: Path) -> None:
    helm = binary.available()
    if helm is None:
        pytest.skip("no helm here: run `python -m sandbox.toolchain ensure helm`")
    chart = tmp_path / "web"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("{apiVersion: v2, name: web, version: 1.0.0}")
    (chart / "templates/all.yaml").write_text(yaml.safe_dump_all([make.deployment(), make.service()]))
    endpoint = ClusterEndpoint(client.server, client.certificate_authority)
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(kubeconfig({"it": endpoint}, client.token)))
    who = ["-n", NAMESPACE, "--kube-as-user", "someone", "--kube-as-group", group(TEAM, MemberRole.EDIT)]

    def said(*command: str, driver: str = "configmap") -> str:
        env = {"HOME": str(tmp_path), "KUBECONFIG": str(tmp_path / "kubeconfig"), "HELM_DRIVER": driver}
        return subprocess.run([helm, *command, *who], env=env, capture_output=True, text=True, check=False).stderr

    assert "cannot list resource" in said("list", driver="secret")
    assert {said(verb, "web", str(chart)) for verb in ("install", "upgrade")} | {said("uninstall", "web")} == {""}


def test_every_rule_refuses_an_act_of_a_member() -> None:
    """Of the rules about who asks; `cases` has the others."""
    assert {act.rule for act in ACTS if act.actor in (EDIT, ADMIN)} >= NAMES - {*DENIED}


def test_acts_have_names_of_their_own() -> None:
    assert max(Counter((act.actor, act.what) for act in ACTS).values()) == 1
