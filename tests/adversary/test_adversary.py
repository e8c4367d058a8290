"""Every probe is refused, or accepted with a reason that docs/security.md gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.sandbox.kubernetes.client import KubeClient
from tests.adversary import cluster, pipeline, program
from tests.adversary.changes import CHANGES
from tests.adversary.commits import COMMITS
from tests.adversary.probe import ADMINISTRATOR, MEMBER, Change, Commit, Request, held_out
from tests.adversary.requests import LISTED, REQUESTS
from tests.components.admission import samples as make
from tests.rehearsal.repository import Repository
from tests.slipway.sandbox.plane import CLUSTER, start_plane

PAGE = Path(__file__).resolve().parents[2] / "docs" / "security.md"
PROBES = (*REQUESTS, *CHANGES, *COMMITS)
LEGITIMATE = (
    Request(act="a Job", manifest=make.job(suspend=True)),
    Request(act="a pod", manifest=make.pod()),
    Request(act="a Deployment", manifest=make.deployment()),
    Request(act="a Service", manifest=make.service()),
    Request(act="an internal Ingress", actor=ADMINISTRATOR, manifest=make.ingress(scheme="internal")),
)
"""Refusing everything would be no guard."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeClient]:
    """An API server of its own: the rules of a whole stack would refuse what other tests create."""
    plane = start_plane(tmp_path_factory.mktemp("adversary"))
    try:
        plane.pool.create(CLUSTER, "1.36")
        cluster.prepare(plane.client, REQUESTS)
        cluster.in_effect(plane.client, REQUESTS)
        yield plane.client
    finally:
        plane.supervisor.stop_all()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository.make(tmp_path_factory.mktemp("adversary") / "checkout")


@pytest.mark.sandbox
@pytest.mark.parametrize("probe", REQUESTS, ids=lambda probe: f"{probe.actor}: {probe.act}")
def test_a_request_is_refused_or_accepted_as_listed(client: KubeClient, probe: Request) -> None:
    refusal = cluster.ask(client, probe, REQUESTS.index(probe))
    assert bool(refusal) is not bool(probe.accepted), refusal
    assert not any(part in refusal for part in cluster.MALFORMED), refusal


@pytest.mark.sandbox
@pytest.mark.parametrize("probe", LEGITIMATE, ids=lambda probe: probe.act)
def test_work_goes_on(client: KubeClient, probe: Request) -> None:
    assert cluster.ask(client, probe, len(REQUESTS)) == ""


@pytest.mark.parametrize("probe", CHANGES, ids=lambda probe: probe.act)
def test_a_change_of_the_program_is_reported(probe: Change) -> None:
    assert program.ask(probe)


@pytest.mark.parametrize("probe", COMMITS, ids=lambda probe: probe.act)
def test_a_change_of_the_pipeline_is_noticed(repository: Repository, probe: Commit) -> None:
    assert pipeline.ask(repository, probe)


def test_acts_have_names_of_their_own() -> None:
    assert max(Counter((probe.actor, probe.act) for probe in PROBES).values()) == 1


def test_at_least_40_requests_are_of_no_rule() -> None:
    assert len([probe for probe in REQUESTS if probe not in LISTED and probe.actor == MEMBER]) >= 40


def test_half_of_the_probes_are_held_out_by_seed() -> None:
    one, other = held_out(PROBES, 1), held_out(PROBES, 2)
    assert len(one) == len(PROBES) // 2
    assert one == held_out(reversed(PROBES), 1)
    assert one != other


def test_accepted_acts_are_on_the_page_with_their_reason() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    missing = [probe.act for probe in PROBES if probe.accepted and probe.accepted not in page]
    assert missing == [], "docs/security.md, Accepted"
