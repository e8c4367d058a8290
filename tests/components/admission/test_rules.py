"""The table of rules: names that settings know, messages that say how to mend, what a stack's pools become."""

from typing import Final

import pytest

from components.admission import Rule, StackContext, rules
from components.admission.manifests import ACTIONS, binding, policy
from components.admission.placement import pools
from components.admission.rule import Message, literal
from spec.settings.admission import Action, Admission
from tests.components.admission.guide import GUIDE, PART, listing
from tests.components.admission.samples import STAND
from tests.support import generated

RULES: Final = rules(STAND)
LONGEST_MESSAGE: Final = 5000
"""k8s.io/apiserver, validating admission policy, maxMessageLength is 5 KiB; a longer one is not shown."""

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def test_every_rule_has_a_setting_and_every_action_one_a_rule() -> None:
    settings = {name for name, field in Admission.model_fields.items() if field.annotation is Action}
    assert {rule.name.replace("-", "_") for rule in RULES} == settings


def test_without_queues_no_job_has_to_name_one() -> None:
    without = rules(StackContext(pools=STAND.pools, queues=False, max_replicas=10))
    assert {rule.name for rule in RULES} - {rule.name for rule in without} == {"queue-name"}
    assert all("kueue" not in str(policy(rule)) for rule in without)


@each_rule
def test_messages_fit_on_a_line_and_in_what_is_shown(rule: Rule) -> None:
    assert "\n" not in rule.message.text
    assert len(rule.message.text) < LONGEST_MESSAGE / 2
    assert rule.why


@each_rule
def test_what_was_there_before_is_judged_only_when_its_spec_changes(rule: Rule) -> None:
    made = policy(rule)["spec"]
    names = {condition["name"] for condition in made["matchConditions"]}
    operations = {operation for found in made["matchConstraints"]["resourceRules"] for operation in found["operations"]}
    assert ("spec-changed" in names) == ("UPDATE" in operations) == rule.updates


@each_rule
def test_pods_are_judged_when_they_are_made_and_never_again(rule: Rule) -> None:
    for found in policy(rule)["spec"]["matchConstraints"]["resourceRules"]:
        if "pods" in found["resources"]:
            assert (found["apiGroups"], found["operations"]) == ([""], ["CREATE"])


@pytest.mark.parametrize("action", ACTIONS)
def test_a_binding_holds_in_namespaces_of_teams(action: Action) -> None:
    spec = binding(RULES[0], action)["spec"]
    selector = spec["matchResources"]["namespaceSelector"]
    assert selector == {"matchExpressions": [{"key": "platform.slipway/team", "operator": "Exists"}]}
    assert spec["validationActions"] == ACTIONS[action]


def test_the_api_server_takes_no_action_that_both_refuses_and_warns() -> None:
    assert not any({"Deny", "Warn"} <= set(actions) for actions in ACTIONS.values())


def test_pools_are_rendered_with_what_keeps_pods_away() -> None:
    text = pools({"spot": STAND.pools["spot"]})
    assert text.startswith('[{"name": dyn("spot"), "resources": dyn({"nvidia.com/gpu": 1}), "taints": dyn([')
    assert '{"key": "platform.slipway/pool", "value": "spot", "effect": "NoSchedule"}' in text
    assert text.endswith('"shared": dyn(false), "spot": dyn(true)}]')


def test_literals_escape_what_would_end_them() -> None:
    assert literal('a "b" \\ c') == '"a \\"b\\" \\\\ c"'


def test_a_message_shows_a_placeholder_for_what_is_found() -> None:
    message = Message(wrong="image ", found="variables.images", shown="images", fix=" is loose")
    assert message.expression == '"image " + variables.images + " is loose"'
    assert message.text == "image <images> is loose"


def test_the_guide_lists_every_rule_with_its_message() -> None:
    generated.check_part(GUIDE, PART, listing(), generated.ADMISSION)
