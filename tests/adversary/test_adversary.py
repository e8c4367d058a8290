"""Every probe is refused, or accepted with a reason that docs/security.md gives."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.aws.moto import server as moto_server
from sandbox.aws.moto.server import MotoServer
from tests.adversary import cluster, machine, program
from tests.adversary.independent import known
from tests.adversary.probe import INDEPENDENT, MEMBER, Change, Commit, Probe, Request, Visit, held_out
from tests.adversary.probes import CHANGES, COMMITS, PROBES, REQUESTS, VISITS
from tests.adversary.requests import LISTED
from tests.rehearsal.repository import Repository
from tests.sandbox.plane import ControlPlane

PAGE = Path(__file__).resolve().parents[2] / "docs" / "security.md"


def name(probe: Probe) -> str:
    return f"{probe.actor}: {probe.act}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("adversary")


@pytest.fixture(scope="module")
def plane(folder: Path) -> Iterator[ControlPlane]:
    with cluster.api_server(folder, REQUESTS) as plane:
        yield plane


@pytest.fixture(scope="module")
def moto() -> Iterator[MotoServer]:
    running = moto_server.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository.make(tmp_path_factory.mktemp("adversary") / "checkout")


def judge(probe: Probe, refusal: str) -> None:
    if probe.gap and not refusal:
        pytest.xfail(probe.gap)
    assert bool(refusal) is probe.due, refusal


@pytest.mark.sandbox
@pytest.mark.parametrize("probe", REQUESTS, ids=name)
def test_a_request_is_refused_or_accepted_as_listed(plane: ControlPlane, probe: Request) -> None:
    refusal = cluster.ask(plane.client, probe, REQUESTS.index(probe))
    assert not any(part in refusal for part in cluster.MALFORMED), refusal
    judge(probe, refusal)


@pytest.mark.sandbox
@pytest.mark.parametrize("probe", VISITS, ids=name)
def test_a_neighbour_gets_nothing(plane: ControlPlane, moto: MotoServer, folder: Path, probe: Visit) -> None:
    judge(probe, machine.ask(probe, plane, moto, folder))


@pytest.mark.parametrize("probe", CHANGES, ids=name)
def test_a_change_of_the_program_is_reported(probe: Change) -> None:
    judge(probe, program.ask(probe))


@pytest.mark.parametrize("probe", COMMITS, ids=name)
def test_a_change_of_the_pipeline_is_noticed(repository: Repository, probe: Commit) -> None:
    judge(probe, program.ask_pipeline(repository, probe))


def test_acts_have_names_of_their_own() -> None:
    assert max(Counter((probe.actor, probe.act) for probe in PROBES).values()) == 1


def test_at_least_40_requests_are_of_no_rule() -> None:
    assert len([probe for probe in REQUESTS if probe not in LISTED and probe.actor == MEMBER]) >= 40


def test_independent_probes_are_counted_by_themselves() -> None:
    count = Counter((type(probe), probe.due) for probe in PROBES if probe.origin == INDEPENDENT)
    assert count[(Request, True)] >= 60
    assert count[(Request, False)] >= 20
    assert count[(Change, True)] >= 40
    assert count[(Commit, True)] >= 12
    assert count[(Visit, True)] >= 10


def test_what_is_known_of_independent_probes_names_probes() -> None:
    assert {*known.GAPS, *known.ACCEPTED} <= {probe.act for probe in PROBES if probe.origin == INDEPENDENT}
    assert not known.GAPS.keys() & known.ACCEPTED.keys()


def test_half_of_the_probes_are_held_out_by_seed() -> None:
    one, other = held_out(PROBES, 1), held_out(PROBES, 2)
    assert len(one) == len(PROBES) // 2
    assert one == held_out(reversed(PROBES), 1)
    assert one != other


def test_accepted_acts_are_on_the_page_with_their_reason() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    missing = [probe.act for probe in PROBES if probe.accepted and probe.accepted not in page]
    assert missing == [], "docs/security.md, Accepted"
