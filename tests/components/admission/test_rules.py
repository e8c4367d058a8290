"""The table of rules: names match settings, messages contain the fix, pools are rendered as CEL."""

import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Final

import pytest
from pulumi._types import input_type_py_to_pulumi_names
from pulumi_kubernetes.core.v1 import PodSpecArgs, SecurityContextArgs

from components.admission import Rule, StackContext, jobs, monitors, pods, queues, rules, traffic, workflows
from components.admission.admission import ACTIONS, binding, policy
from components.admission.kinds import BY_RESOURCE
from components.admission.placement import pools
from components.admission.rule import Message, literal
from spec import strict_yaml
from spec.catalog.software import CHARTS
from spec.settings.admission import Action, Admission
from tests.components.admission import acts_of_keys, acts_of_sources
from tests.components.admission.guide import GUIDE, PART, listing
from tests.components.admission.samples import CONTEXT, EVERY
from tests.support import generated
from tests.support.structural import definition

RULES: Final = rules(EVERY)
LONGEST_MESSAGE: Final = 5000
"""k8s.io/apiserver, validating admission policy, maxMessageLength is 5 KiB; a longer one is not shown."""

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def test_every_rule_has_its_words_which_name_only_its_values() -> None:
    words = strict_yaml.read((Path(jobs.__file__).with_name("rules.yaml")).read_text(encoding="utf-8"))
    assert set(words) == {rule.name for rule in RULES}
    for rule in RULES:
        named = {name for text in words[rule.name].values() for name in re.findall(r"\{([a-z_]+)\}", text)}
        assert named == set(rule.names), rule.name
        assert all((rule.what, rule.why, rule.message.wrong, rule.message.fix)), rule.name


def test_every_rule_has_a_setting_and_every_setting_a_rule() -> None:
    settings = {name for name, field in Admission.model_fields.items() if field.annotation is Action}
    assert {rule.name.replace("-", "_") for rule in RULES} == settings


def test_every_field_of_a_pod_was_read_before_teams_may_have_it() -> None:
    def refused(kind: type, allowed: Sequence[str]) -> set[str]:
        return set(input_type_py_to_pulumi_names(kind).values()) - set(allowed)

    others = {"evictionResponders", "hostAliases", "hostIPC", "hostNetwork", "hostPID"}
    assert refused(PodSpecArgs, pods.POD_FIELDS) == others
    assert refused(SecurityContextArgs, pods.CONTEXT_FIELDS) == {"privileged", "windowsOptions"}


def test_without_kueue_and_another_scheduler_jobs_need_no_queue() -> None:
    context = StackContext(pools=CONTEXT.pools, queues=False, max_replicas=10)
    without = rules(context)
    assert {rule.name for rule in RULES} - {rule.name for rule in without} == {
        "queue-name",
        "gpu-queue",
        "queue-start",
        "queue-metadata",
        "queue-topology",
        "scheduler",
    }
    assert all("kueue.x-k8s.io" not in str(policy(rule)["spec"]["validations"]) for rule in without)


@each_rule
def test_messages_have_one_line_and_fit_the_length_limit(rule: Rule) -> None:
    assert "\n" not in rule.message.text
    assert len(rule.message.text) < LONGEST_MESSAGE / 2
    assert rule.why


@each_rule
def test_existing_objects_are_evaluated_only_when_their_spec_changes(rule: Rule) -> None:
    body = policy(rule)["spec"]
    names = {condition["name"] for condition in body.get("matchConditions", ())}
    operations = {operation for rules in body["matchConstraints"]["resourceRules"] for operation in rules["operations"]}
    assert ("changed" in names) == ("UPDATE" in operations) == rule.updates


@each_rule
def test_pods_are_evaluated_only_at_creation_unless_a_rule_says_more(rule: Rule) -> None:
    operations = ["CREATE", "UPDATE"] if rule.pod_updates else ["CREATE"]
    for resources in policy(rule)["spec"]["matchConstraints"]["resourceRules"]:
        if "pods" in resources["resources"]:
            assert resources["operations"] == operations
            assert rule.pod_updates or resources["apiGroups"] == [""]


@pytest.mark.parametrize("action", ACTIONS)
def test_a_binding_applies_to_team_namespaces(action: Action) -> None:
    spec = binding(RULES[0], action)["spec"]
    selector = spec["matchResources"]["namespaceSelector"]
    assert selector == {"matchExpressions": [{"key": "platform.slipway/team", "operator": "Exists"}]}
    assert spec["validationActions"] == ACTIONS[action]


def test_no_action_both_denies_and_warns_because_the_api_server_refuses_it() -> None:
    assert not any({"Deny", "Warn"} <= set(actions) for actions in ACTIONS.values())


def test_pools_are_rendered_with_their_taints() -> None:
    text = pools({"spot": CONTEXT.pools["spot"], "cpu": CONTEXT.pools["cpu"]}, CONTEXT.prices)
    assert text == (
        "cpu - - -\nspot spot nvidia.com/gpu=1=400 nvidia.com/gpu=true=NoSchedule,platform.slipway/pool=spot=NoSchedule"
    )


def test_string_literals_are_escaped() -> None:
    assert literal('a "b" \\ c') == '"a \\"b\\" \\\\ c"'


def test_the_text_of_a_message_shows_a_placeholder_for_the_value() -> None:
    message = Message(wrong="image ", found="variables.images", shown="images", fix=" is loose")
    assert message.text == "image <images> is loose"


def test_lists_of_allowed_keys_are_of_the_pinned_versions() -> None:
    """Read the source of a new version again: what it adds is refused until somebody has."""
    assert acts_of_sources.NOTES["version"] == CHARTS["aws-load-balancer-controller"].version
    assert acts_of_keys.KEYS["version"] == CHARTS["kueue"].version
    assert set(queues.ALLOWED) - set(acts_of_keys.KEYS["user"]) == {
        f"leaderworkerset.sigs.k8s.io/{name}" for name in ("exclusive-topology", "subgroup-exclusive-topology")
    }
    named = {name for name in acts_of_sources.OWN if not name.startswith((traffic.ACTION, *traffic.OWN_PREFIXES))}
    assert named == {*traffic.OWN, *traffic.NAMED}
    assert set(acts_of_sources.OWN) <= set(acts_of_sources.NOTES["ingress"])
    assert set(acts_of_sources.TARGETS) == set(traffic.SHARED)


def test_every_source_of_credentials_is_allowed_or_tried(shared: Path) -> None:
    manifest = definition(shared / "charts/keda/crds/triggerauthentications.keda.sh.yaml", "TriggerAuthentication")
    (version,) = manifest["spec"]["versions"]
    fields = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert set(fields) == {*workflows.SOURCES, *acts_of_sources.SOURCES}


REFUSED_FIELDS: Final = {
    "scrapeClass", "jobLabel", "noProxy", "oauth2", "proxyConnectHeader", "proxyFromEnvironment", "proxyUrl",
    "caFile", "certFile", "keyFile",
}  # fmt: skip


@pytest.mark.parametrize(("kind", "part"), [("ServiceMonitor", "endpoints"), ("PodMonitor", "podMetricsEndpoints")])
def test_every_field_of_a_monitor_is_allowed_or_refused(shared: Path, kind: str, part: str) -> None:
    """Read the documentation of a new one: whether Prometheus asks an address for it, or takes labels from it."""
    crds = shared / "charts/kube-prometheus-stack/crds"
    (version,) = definition(crds / f"crd-{kind.lower()}s.yaml", kind)["spec"]["versions"]
    fields = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    endpoint = fields[part]["items"]["properties"]
    assert set(fields) - REFUSED_FIELDS <= {*monitors.FIELDS}
    assert set(endpoint) - REFUSED_FIELDS <= {*monitors.ENDPOINT}
    assert set(endpoint["tlsConfig"]["properties"]) - REFUSED_FIELDS == {*monitors.TLS}
    assert not REFUSED_FIELDS & {*monitors.FIELDS, *monitors.ENDPOINT, *monitors.TLS}


def test_actions_of_a_failure_policy_are_counted_or_refused(shared: Path) -> None:
    (version,) = definition(shared / "charts/jobset/crds/jobset.x-k8s.io_jobsets.yaml", "JobSet")["spec"]["versions"]
    fields = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["failurePolicy"]["properties"]
    actions = fields["rules"]["items"]["properties"]["action"]["enum"]
    assert {*actions} == {*jobs.COUNTED, *jobs.UNCOUNTED}


def test_the_guide_lists_every_rule_with_its_message() -> None:
    generated.check_part(GUIDE, PART, listing(), generated.ADMISSION)


@each_rule
def test_groups_and_resources_of_one_entry_make_no_other_kind(rule: Rule) -> None:
    for entry in policy(rule)["spec"]["matchConstraints"]["resourceRules"]:
        crossed = set(product(entry["apiGroups"], entry["resources"])) & {*BY_RESOURCE}
        assert crossed <= {(kind.group, kind.resource) for kind in rule.kinds}
