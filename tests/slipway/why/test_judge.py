"""The rules of the API server, evaluated without one: the cases of `tests/components/admission`, and CEL's own rules.

`tests/components/admission/test_on_server.py` compares verdicts and messages with those of an API server.
"""

from dataclasses import replace
from typing import Any, Final

import pytest

from components.admission import rules
from components.workloads.target import Target
from infra.target import target_of
from slipway.why import cel
from slipway.why.answer import Layer
from slipway.why.cel import CelError, compiled
from slipway.why.judge import as_served, denied, refusals, violations
from spec.jobs import LONGEST
from spec.pools import keys
from spec.pricing.pods import device_prices
from spec.quantities import seconds
from spec.settings.admission import Action, Admission
from spec.settings.checks.cost import LOOKED_SECONDS
from tests.components.admission import ray_samples as ray
from tests.components.admission import samples as make
from tests.components.admission.actors import EDIT, TEAM, Act
from tests.components.admission.acts import ACTS, NAMESPACE
from tests.components.admission.cases import ACCEPTED, DENIED
from tests.components.admission.samples import CONTEXT, EVERY, JOB_USD, Object, cron_job, deployment, job, on, spec
from tests.slipway.why.objects import DEV, cases
from tests.support.stacks import platform_of

ACTING = Target(pools=CONTEXT.pools, namespace=NAMESPACE, queue=None, labels={"platform.slipway/team": TEAM})
RULES = {rule.name: rule for rule in rules(CONTEXT)}
ALL = {rule.name: rule for rule in rules(EVERY)}
TARGET = Target(pools=CONTEXT.pools, namespace="it", labels={"platform.slipway/team": "vision"}, job_usd=JOB_USD)


@pytest.mark.parametrize("rule", ALL)
def test_every_expression_of_every_rule_is_compiled(rule: str) -> None:
    one = ALL[rule]
    for text in (*one.variables.values(), one.expression, one.says):
        assert callable(compiled(text))


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in DENIED.items() for case in cases])
def test_what_the_api_server_denies_is_denied_in_its_words(rule: str, case: str) -> None:
    target = replace(TARGET, namespace=rule)  # as on the server
    manifest, text = DENIED[rule][case]
    assert text in (denied(ALL[rule], as_served(manifest, target), target) or "")


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in ACCEPTED.items() for case in cases])
def test_what_the_api_server_accepts_is_accepted(rule: str, case: str) -> None:
    target = replace(TARGET, namespace=rule)
    manifest = ACCEPTED[rule][case]
    kinds = {one.kind for one in ALL[rule].kinds}
    found = denied(ALL[rule], as_served(manifest, target), target) if manifest["kind"] in kinds else None
    assert found is None


CREATED = [act for act in ACTS if (act.actor, act.method) == (EDIT, "POST") and not (act.before or act.subresource)]


@pytest.mark.parametrize("act", CREATED, ids=lambda act: act.what)
def test_what_a_member_creates_is_judged_as_on_a_server(act: Act) -> None:
    found = {
        name
        for name, rule in RULES.items()
        if any(kind.kind == act.manifest["kind"] for kind in rule.kinds)
        and denied(rule, as_served(act.manifest, ACTING), ACTING) is not None
    }
    assert act.rule in found if act.rule in RULES else act.rule or not found


def test_a_rule_that_does_not_deny_refuses_nothing() -> None:
    wrong = job(spec(hostNetwork=True))
    assert [part.layer for part in refusals(violations(wrong, DEV, Admission()))] == [Layer.ADMISSION]
    warned = list(violations(wrong, DEV, Admission.model_validate({"hostAccess": Action.WARN})))
    assert [(one.rule.name, one.action) for one in warned] == [("host-access", Action.WARN)]
    assert list(refusals(warned)) == []
    assert list(violations(wrong, DEV, Admission.model_validate({"hostAccess": Action.OFF}))) == []


@pytest.mark.parametrize(
    ("manifest", "refused"),
    [
        (job(backoffLimit=None), False),  # Kubernetes sets 6
        (job(backoffLimit=None, backoffLimitPerIndex=1), True),  # and no limit for those that have one by index
        (cron_job(backoffLimit=None), True),  # but not in the template of a CronJob
        (deployment(spec(volumes=[{"name": "tmp"}])), False),  # an emptyDir
        (job(spec(nodeSelector=None)), False),
        ({**job(), "metadata": {"name": "it", "labels": None}}, False),  # Kueue adds its queue
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "it-"}, "data": {}}, False),  # a name
    ],
)
def test_defaults_come_before_rules(manifest: Object, refused: bool) -> None:
    assert bool(list(violations(manifest, DEV, Admission()))) is refused


@cases("cel")
def test_expressions(row: dict[str, Any]) -> None:
    assert compiled(row["what"])({"a": {"b": "x"}}) == row["value"]


@pytest.mark.parametrize("text", ["a.c", "1 + 'a'", "'a' < 1", "[1][1]", "!1", "a.b.c", "quantity('x')", "int('x')"])
def test_an_expression_without_a_value_is_an_error(text: str) -> None:
    with pytest.raises(CelError):
        compiled(text)({"a": {"b": "x"}})


@pytest.mark.parametrize("text", ["a ? b", "unknown(1)", "1 +", "(1", "a b", "@"])
def test_what_is_not_of_the_language_is_an_error(text: str) -> None:
    with pytest.raises(CelError):
        cel.compiled(text)


@pytest.mark.parametrize(("shares", "refused"), [({"h100": 2}, False), ({"h100": 2, "cpu": 8}, True), ({}, False)])
def test_a_queue_with_topologies_alone_implies_the_annotation(shares: dict[str, int], refused: bool) -> None:
    target = replace(TARGET, by_topology=EVERY.by_topology, shares=shares)
    found = {one.rule.name for one in violations(job(on("h100")), target, Admission())}
    assert ("queue-topology" in found) is refused


PROD: Final = target_of(platform_of("prod"), namespace="language-training")
NODES: Final = on("h100", make.gpus(8))
WEEKEND: Final = 68 * 3600
OF_POOL: Final = {"name": "torch-distributed-h100"}


@pytest.mark.parametrize(
    ("manifest", "usd"),
    [
        (job(NODES, activeDeadlineSeconds=LONGEST, parallelism=3), 39642),
        (job(NODES, activeDeadlineSeconds=WEEKEND, parallelism=4), 10697),
        (make.given(make.train_job(nodes=100, deadline=WEEKEND), runtimeRef=OF_POOL), 267430),
        (ray.job(worker=NODES, replicas=1, numOfHosts=4, activeDeadlineSeconds=WEEKEND, backoffLimit=0), 10697),
        (job(NODES, activeDeadlineSeconds=WEEKEND, parallelism=3), None),
        (job(on("h100"), activeDeadlineSeconds=48 * 3600), None),
    ],
    ids=["24 GPUs for two weeks", "a weekend on the whole block", "a runtime's nodes", "hosts", "own nodes", "one GPU"],
)
def test_a_weekend_on_all_of_prods_h100_is_refused_with_its_price(manifest: Object, usd: int | None) -> None:
    found = [one.message for one in violations(manifest, PROD, Admission()) if one.rule.name == "job-cost"]
    wanted = f"this job may cost {usd} USD or more until its deadline, and one job of this team at most 8500. "
    assert [text[: len(wanted)] for text in found] == ([wanted] if usd else [])


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_all_h100_of_a_team_cost_a_few_hundred_dollars_until_an_idle_job_is_stopped(stack: str) -> None:
    platform = platform_of(stack)
    idle, price = platform.cost.idle_gpus, device_prices(platform)["h100"][keys.GPU] / 1000
    most = max(team.gpus["h100"].maximum for team in platform.teams.values() if "h100" in team.gpus)
    assert idle is not None
    assert most * price * (seconds(idle.after) + seconds(idle.warning) + LOOKED_SECONDS) / 3600 < 500
