"""What `slipway why FILE --fix` writes, judged by the rules that asked for it."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from typing import Any, Final

import pytest
import yaml

from components.admission import rules
from components.workloads.target import Target
from slipway.why import fix
from slipway.why.fix import fixed
from slipway.why.judge import as_served, denied
from spec.errors import SlipwayError
from spec.settings.admission import Action, Admission
from tests.components.admission.cases import ACCEPTED, DENIED
from tests.components.admission.samples import CONTEXT, Object, cron_job, gpus, job, job_set, on, pod, pytorch_job, spec
from tests.slipway.why.objects import DEV

RULES: Final = {rule.name: rule for rule in rules(CONTEXT)}
TARGET: Final = Target(pools=CONTEXT.pools, namespace="it", labels={"platform.slipway/team": "vision"})


def written(text: str, target: Target = DEV, settings: Admission | None = None) -> fix.Fixed:
    text = textwrap.dedent(text)
    documents = [one for one in yaml.safe_load_all(text) if one is not None]
    return fix.file(text, [((number,), one, target) for number, one in enumerate(documents)], settings or Admission())


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in ACCEPTED.items() for case in cases])
def test_what_a_rule_accepts_it_accepts_after_the_fix(rule: str, case: str) -> None:
    manifest, _ = fixed(ACCEPTED[rule][case], TARGET, Admission())
    if manifest["kind"] in {one.kind for one in RULES[rule].kinds}:
        assert denied(RULES[rule], as_served(manifest, TARGET), TARGET) is None


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in DENIED.items() for case in cases])
def test_a_fix_adds_no_violation_and_is_stable(rule: str, case: str) -> None:
    before = DENIED[rule][case][0]
    manifest, changes = fixed(before, TARGET, Admission())
    broken = {name for name in RULES if _denied(name, before)}
    assert {name for name in RULES if _denied(name, manifest)} <= broken
    assert fixed(manifest, TARGET, Admission())[1] == []
    assert all(one.rule in RULES or one.rule == fix.NAMESPACE for one in changes)


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
    found = written(
        """\
        # A trial.
        apiVersion: batch/v1
        kind: Job
        metadata: {name: 'a', labels: {kueue.x-k8s.io/queue-name: mine}}   # of mine
        spec:
            parallelism: 1
            activeDeadlineSeconds: 99999999  # too long
            template:
                spec:
                    containers:
                    - name: "main"    # the only one
                      image: a:1
                      args: [ "x",  y ]
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata:   {name: b}
        """
    )
    lines = found.text.splitlines()
    assert lines[0] == "# A trial."
    assert "metadata: {name: 'a', labels: {kueue.x-k8s.io/queue-name: default}} # of mine" in lines
    assert re.search("^    activeDeadlineSeconds: 1209600 +# too long$", found.text, re.MULTILINE)
    assert '- name: "main"    # the only one' in found.text
    assert "metadata:   {name: b}" in lines
    assert [len(each) for each in found.changes] == [3, 0]


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
