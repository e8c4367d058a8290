"""What `slipway why FILE --fix` writes, judged by the rules that asked for it."""

import re
import textwrap
from dataclasses import replace
from typing import Any, Final, cast

import pytest
import yaml

from components.admission import rules
from components.workloads.target import Target
from slipway.why import fix
from slipway.why.answer import Layer
from slipway.why.file import findings
from slipway.why.fix import fixed
from slipway.why.judge import as_served, denied
from slipway.why.podsets import podsets
from spec.errors import SlipwayError
from spec.settings.admission import Action, Admission
from tests.components.admission import ray_samples as ray
from tests.components.admission.cases import ACCEPTED, DENIED
from tests.components.admission.samples import (
    PLACED,
    Object,
    container,
    cron_job,
    gpus,
    job,
    job_set,
    on,
    pod,
    pytorch_job,
    spec,
)
from tests.slipway.why.objects import DEV
from tests.support.cases import beside

CASES: Final = beside(__file__)
RULES: Final = {rule.name: rule for rule in rules(PLACED)}
"""Not the rule of another scheduler than Kueue: its cases are left out."""
TARGET: Final = Target(
    pools=PLACED.pools, namespace="it", labels={"platform.slipway/team": "vision"}, by_topology=PLACED.by_topology
)


def written(text: str, target: Target = DEV, settings: Admission | None = None) -> fix.Fixed:
    text = textwrap.dedent(text)
    documents = [one for one in yaml.safe_load_all(text) if one is not None]
    return fix.file(text, [((number,), one, target) for number, one in enumerate(documents)], settings or Admission())


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule in RULES for case in ACCEPTED.get(rule, ())])
def test_what_a_rule_accepts_it_accepts_after_the_fix(rule: str, case: str) -> None:
    manifest, changes = fixed(ACCEPTED[rule][case], TARGET, Admission())
    assert not [one for one in changes if one.rule == rule and one.was is not None and not one.appended]
    if manifest["kind"] in {one.kind for one in RULES[rule].kinds}:
        assert denied(RULES[rule], as_served(manifest, TARGET), TARGET) is None


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule in RULES for case in DENIED.get(rule, ())])
def test_a_fix_adds_no_violation_and_is_stable(rule: str, case: str) -> None:
    before = DENIED[rule][case][0]
    manifest, changes = fixed(before, TARGET, Admission())
    broken = {name for name in RULES if _denied(name, before)}
    assert {name for name in RULES if _denied(name, manifest)} <= broken
    assert fixed(manifest, TARGET, Admission())[1] == []
    assert all(one.rule in {*RULES, fix.NAMESPACE, fix.EXISTING} for one in changes)
    # A number above its maximum, and a value that is none, mean the same afterwards.
    taken = [one for one in changes if one.was is not None and not one.appended and type(one.value) is not int]
    assert all(fix.lost([one]) for one in taken if "unconstrained-topology" not in one.where)


def _denied(rule: str, manifest: Object) -> bool:
    return manifest["kind"] in {one.kind for one in RULES[rule].kinds} and bool(
        denied(RULES[rule], as_served(manifest, TARGET), TARGET)
    )


def test_nothing_is_written_that_no_rule_asks_for() -> None:
    manifest = job(on("a100", gpus(1, "nvidia.com/mig-1g.5gb")))
    assert fixed(manifest, replace(TARGET, queue=None), Admission()) == (manifest, [])


@pytest.mark.parametrize("manifest", [job(), cron_job(), job_set(), pytorch_job()], ids=lambda one: one["kind"])
def test_a_job_without_bounds_gets_them(manifest: Object) -> None:
    bare = _without(manifest, {"activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "runPolicy"})
    assert _denied("job-bounds", bare)
    found, changes = fixed(bare, TARGET, Admission())
    assert not _denied("job-bounds", found)
    assert {one.was for one in changes} == {None}


def _without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(each, names) for key, each in value.items() if key not in names}
    return [_without(each, names) for each in value] if isinstance(value, list) else value


def test_a_rule_that_is_off_fixes_nothing() -> None:
    wrong = job(activeDeadlineSeconds=None)
    off = Admission.model_validate({"jobBounds": Action.OFF})
    assert [one.rule for one in fixed(wrong, TARGET, off)[1]] == []
    assert [one.rule for one in fixed(wrong, TARGET, Admission())[1]] == ["job-bounds"]


def test_the_security_context_is_for_namespaces_that_enforce_it() -> None:
    privileged = spec({"name": "a", "image": "a:1", "securityContext": {"allowPrivilegeEscalation": True}})
    strict = replace(TARGET, pod_security="restricted", queue=None)
    assert fixed(job(privileged), TARGET, Admission())[1] == []
    found, _ = fixed(job(privileged), strict, Admission())
    body = found["spec"]["template"]["spec"]
    assert body["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    # What the user set stays.
    assert body["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_a_pool_is_one_of_the_team() -> None:
    manifest = pod(spec(gpus()))
    found, _ = fixed({**manifest, "metadata": {"name": "a", "namespace": "default"}}, TARGET, Admission())
    assert found["metadata"]["namespace"] == "it"
    checkpointless = job(spec(gpus()))
    assert fixed(checkpointless, TARGET, Admission())[0]["spec"]["template"]["spec"]["nodeSelector"] == {
        "platform.slipway/pool": "h100"
    }
    without = replace(TARGET, shares={"spot": 4})
    assert "nodeSelector" not in fixed(checkpointless, without, Admission())[0]["spec"]["template"]["spec"]


def test_a_queue_that_the_namespace_has_stays() -> None:
    named = job(queued=False)
    named["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "user-queue"}
    assert [one.value for one in fixed(named, TARGET, Admission())[1]] == ["default"]
    assert fixed(named, replace(TARGET, aliases=("user-queue",)), Admission())[1] == []


def test_comments_quotes_and_layout_stay() -> None:
    found = written(CASES["comments quotes and layout"])
    lines = found.text.splitlines()
    assert lines[0] == "# A trial."
    assert "metadata: {name: 'a', labels: {kueue.x-k8s.io/queue-name: default}} # of mine" in lines
    assert re.search("^    activeDeadlineSeconds: 1209600 +# too long$", found.text, re.MULTILINE)
    assert '- name: "main"    # the only one' in found.text
    assert "metadata:   {name: b}" in lines
    assert [len(each) for each in found.changes] == [4, 0]  # the last is restartPolicy


def test_a_file_without_changes_is_the_same() -> None:
    text = "---\n# nothing\n---\nkind:   ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"
    assert written(text).text == text


@pytest.mark.parametrize("indent", ["", "  "])
def test_lists_keep_their_indentation(indent: str) -> None:
    text = (
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\nspec:\n  template:\n    spec:\n"
        f"      containers:\n      {indent}- name: a\n      {indent}  image: a:1\n"
    )
    assert f"\n      {indent}- name: a\n" in written(text).text


def test_a_key_that_is_there_twice_is_an_error() -> None:
    with pytest.raises(SlipwayError, match="the file can't be written"):
        written("apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, name: b}\nspec: {template: {spec: {}}}\n")


def test_words_that_only_yaml_1_1_reads_as_a_boolean_stay() -> None:
    text = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {suspend: yes, template: {spec: {}}}\n"
    assert "suspend: yes" in written(text).text


SELECTS: Final = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "cloud.google.com/gke-accelerator", "operator": "Exists"}]}]}}}  # fmt: skip
HOST: Final = container(securityContext={"privileged": True}, ports=[{"containerPort": 80, "hostPort": 80}])
TEMPLATE: Final = "spec.template.spec"


def annotated(manifest: Object, key: str, value: str) -> Object:
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": {key: value}}}


REMOVED: Final[dict[str, tuple[Object, list[str]]]] = {
    "labels of another provider's nodes": (
        job(spec(nodeSelector={"cloud.google.com/gke-spot": "true", "kubernetes.io/arch": "amd64"})),
        [f"{TEMPLATE}.nodeSelector.cloud.google.com/gke-spot removed, was 'true' (node-selection)"],
    ),
    "a selector with no other": (
        job(spec(nodeSelector={"node-type": "gpu"})),
        [f"{TEMPLATE}.nodeSelector removed, was {{node-type: gpu}} (node-selection)"],
    ),
    "the same as an affinity": (
        job(spec(affinity={**SELECTS, "podAffinity": {}})),
        [f"{TEMPLATE}.affinity.nodeAffinity removed"],
    ),
    "another provider's topology for itself": (
        annotated(job_set(), "alpha.jobset.sigs.k8s.io/exclusive-topology", "cloud.google.com/gke-nodepool"),
        ["metadata.annotations removed, was {alpha.jobset"],
    ),
    "a folder of the node": (
        job(spec(volumes=[{"name": "data", "hostPath": {"path": "/mnt"}}])),
        [f"{TEMPLATE}.volumes[0].emptyDir: {{}}", f"{TEMPLATE}.volumes[0].hostPath removed, was {{path: /mnt}}"],
    ),
    "a volume of a server": (
        job(spec(volumes=[{"name": "data", "nfs": {"server": "a", "path": "/"}}])),
        [f"{TEMPLATE}.volumes[0].emptyDir: {{}}", f"{TEMPLATE}.volumes[0].nfs removed"],
    ),
    "priorities of another platform": (
        {**job(spec(priorityClassName="urgent")), "metadata": {"name": "it", "labels": {
            "kueue.x-k8s.io/queue-name": "default", "kueue.x-k8s.io/priority-class": "urgent"}}},
        [f"{TEMPLATE}.priorityClassName removed, was urgent (priority-class)",
         "metadata.labels.kueue.x-k8s.io/priority-class removed, was urgent (priority-class)"],
    ),
    "access to the node": (
        job(spec(HOST, hostNetwork=True)),
        [f"{TEMPLATE}.hostNetwork removed, was true (host-access)",
         f"{TEMPLATE}.containers[0].securityContext removed, was {{privileged: true}} (host-access)",
         f"{TEMPLATE}.containers[0].ports[0].hostPort removed, was 80 (host-access)"],
    ),
    "what only controllers of Kueue write": (
        annotated(job(), "provreq.kueue.x-k8s.io/maxRunDurationSeconds", "600"),
        ["metadata.annotations removed, was {provreq"],
    ),
    "restarts that nothing counts": (
        job_set(failurePolicy={"rules": [{"name": "a", "action": "RestartJobAndIgnoreMaxRestarts"}]}),
        ["spec.failurePolicy.rules[0].action: RestartJob, was RestartJobAndIgnoreMaxRestarts (job-bounds)"],
    ),
}  # fmt: skip
"""What samples of other projects have, and what `--fix` says of it."""


@pytest.mark.parametrize("case", REMOVED)
def test_what_no_rule_accepts_goes_and_is_said(case: str) -> None:
    before, said = REMOVED[case]
    assert [name for name in RULES if _denied(name, before)]
    found, changes = fixed(before, TARGET, Admission())
    assert [name for name in RULES if _denied(name, found)] == []
    assert fix.lost(changes)
    for expected in said:
        assert any(str(one).startswith(expected) for one in changes), [str(one) for one in changes]


def test_what_a_change_takes_away_is_said_once() -> None:
    gang = {"kueue.x-k8s.io/pod-group-name": "a", "kueue.x-k8s.io/pod-group-total-count": "2"}
    gone = fix.Change(("metadata", "annotations"), None, gang, "queue-metadata")
    assert fix.lost([gone, gone]) == ["starts its pods together: each starts when it has quota"]


# Claims that nobody makes, with the path of their mount, and what each becomes; itself where that isn't clear.
CLAIMS: Final[dict[str, dict[tuple[str, str], str]]] = {
    "data and checkpoints": {("training-data-pvc", "/in"): "datasets", ("ml-checkpoints-pvc", "/out"): "checkpoints"},
    "the last word that names a content": {("model-checkpoints", "/x"): "checkpoints", ("hf-weights", "/y"): "models"},
    "the mount says it": {("pvc-1", "/ckpt"): "checkpoints", ("pvc-2", "/data/raw"): "raw"},
    "a name that says more than its mount": {("checkpoints-rwx", "/data"): "checkpoints"},
    "a name and a mount that differ": {("models-pvc", "/checkpoints"): "models-pvc"},
    "two of the same content": {("train-data", "/a"): "train-data", ("val-data", "/b"): "val-data"},
    "one of a content that is mounted itself": {("train-data", "/a"): "train-data", ("datasets", "/b"): "datasets"},
    "nothing says what it is": {("workspace", "/mnt"): "workspace"},
}


@pytest.mark.parametrize("case", CLAIMS)
def test_a_claim_that_nobody_makes_becomes_the_one_that_it_means_or_is_left(case: str) -> None:
    names = list(CLAIMS[case])
    mounts = [{"name": f"v{at}", "mountPath": path} for at, (_, path) in enumerate(names)]
    volumes = [
        {"name": f"v{at}", "persistentVolumeClaim": {"claimName": name, "readOnly": True}}
        for at, (name, _) in enumerate(names)
    ]
    found = written(yaml.safe_dump(job(spec(container(volumeMounts=mounts), volumes=volumes))), TARGET)
    mounted = [one["persistentVolumeClaim"] for one in found.objects[0]["spec"]["template"]["spec"]["volumes"]]
    assert mounted == [{"claimName": claim, "readOnly": True} for claim in CLAIMS[case].values()]
    kept = [f"claim {name}: " for name in sorted(set(CLAIMS[case].values()).difference(TARGET.claims))]
    assert [one.partition(": ")[0] + ": " for one in found.left[0]] == kept
    assert all("write which of checkpoints, datasets, models, raw it is" in one for one in found.left[0])


def test_a_claim_of_the_file_stays_and_none_becomes_an_empty_directory() -> None:
    given = job(spec(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "theirs"}}]))
    own = {"kind": "PersistentVolumeClaim", "metadata": {"name": "theirs"}}
    assert fixed(given, TARGET, Admission(), [own])[0] == given
    assert fixed(given, replace(TARGET, claims={}), Admission())[0] == given
    assert "the namespace has no claim" in written(yaml.safe_dump(given), replace(TARGET, claims={})).left[0][0]


def test_a_class_that_the_platform_lacks_goes() -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"}}
    classes = replace(TARGET, classes={"gp3": "ebs.csi.aws.com"})
    theirs = {**claim, "spec": {"storageClassName": "fast-disks", "accessModes": ["ReadWriteOnce"]}}
    assert fixed(theirs, classes, Admission())[0]["spec"] == {"accessModes": ["ReadWriteOnce"]}
    ours = {**claim, "spec": {"storageClassName": "gp3"}}
    assert fixed(ours, classes, Admission())[0] == ours


def test_an_account_that_the_namespace_lacks_goes_where_a_cluster_was_asked() -> None:
    given = job(spec(serviceAccountName="theirs"))
    accounts = [{"kind": "ServiceAccount", "metadata": {"name": name}} for name in ("default", "ours")]
    assert fixed(given, TARGET, Admission())[0] == given
    assert "serviceAccountName" not in fixed(given, TARGET, Admission(), accounts)[0]["spec"]["template"]["spec"]
    own = job(spec(serviceAccountName="ours"))
    assert fixed(own, TARGET, Admission(), accounts)[0] == own


def test_features_that_are_off() -> None:
    policy = {"rules": [{"name": "a", "action": "RestartJob"}], "restartStrategy": "InPlaceRestart"}
    given = job_set(failurePolicy=policy)
    assert len([one for one in findings(given, TARGET) if one.layer is Layer.ADMISSION]) == 2
    found, changes = fixed(given, TARGET, Admission())
    assert [one.partition(":")[0] for one in fix.lost(changes)] == [
        "restarts only the job that failed", "restarts its pods in place",
    ]  # fmt: skip
    assert found["spec"]["failurePolicy"] == {"rules": [{"name": "a", "action": "RestartJobSet"}]}
    scaling = ray.cluster()
    scaling["spec"]["enableInTreeAutoscaling"] = True
    bare, changes = fixed(scaling, TARGET, Admission())
    assert "enableInTreeAutoscaling" not in bare["spec"]
    assert fix.lost(changes) == ["adds and removes workers by load: `replicas` of each group run all the time"]
    elastic = annotated(scaling, "kueue.x-k8s.io/elastic-job", "true")
    assert fixed(elastic, TARGET, Admission())[0]["spec"]["enableInTreeAutoscaling"] is True
    paths = [one.problem.path for one in findings(scaling, TARGET) if one.layer is Layer.ADMISSION]
    assert paths == ["spec.enableInTreeAutoscaling"]


@pytest.mark.parametrize("given", [None, "Always", "Never"])
@pytest.mark.parametrize("make", [job, cron_job, job_set])
def test_pods_of_jobs_get_a_restart_policy_that_they_may_have(make: Any, given: str | None) -> None:
    manifest = make()
    for template in (cast("dict[str, Any]", one.spec) for one in podsets(manifest)):
        template.pop("restartPolicy", None)
        template.update({"restartPolicy": given} if given else {})
    done, changes = fixed(manifest, TARGET, Admission())
    wrong = given == "Always" or (given is None and make is not job_set)  # JobSet's webhook has a default
    assert [one.was for one in changes if one.path[-1] == "restartPolicy"] == ([given] if wrong else [])
    assert {one.spec.get("restartPolicy") for one in podsets(done)} == {"Never" if wrong else given}
