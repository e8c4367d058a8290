"""Checkov and the pack agree on every identifier of policies/coverage.json, in each spelling that AWS takes.

`tests/scanners/agreement` has the programs: for an identifier and a spelling one that is right and some that are wrong.
Where only one of the two reports a program, the table says which and why.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from policies import coverage
from policies.coverage import NOT_APPLICABLE
from slipway.render.terraform import terraform_type
from tests.policies.build import Fixture
from tests.scanners.agreement import LEFT_OUT, ONE_IS_ENOUGH, TABLE
from tests.scanners.agreement.programs import is_kubernetes, manifests, reported, terraform
from tests.scanners.agreement.spelling import Alone, Spelling
from tests.scanners.checkov import Verdict, scan, types_by_id

pytestmark = pytest.mark.xdist_group("checkov")
Verdicts = Mapping[str, frozenset[Verdict]]
COVERED = [
    external_id
    for external_id, answer in coverage.coverage().items()
    if external_id.startswith("CKV") and not answer.startswith(NOT_APPLICABLE)
]
ROWS = [(spelling, external_id) for spelling in TABLE for external_id in spelling.bad]
IDS = [f"{external_id}-{spelling.name}" for spelling, external_id in ROWS]


def _bad(spelling: Spelling) -> Iterator[tuple[str, Fixture]]:
    """Bad programs of a row, each with the name of its document."""
    place = TABLE.index(spelling)
    for external_id in spelling.bad:
        for number, program in enumerate(spelling.bads(external_id)):
            yield f"{place}-{external_id.lower().replace('_', '-')}-{number}", program


def _document(program: Fixture, name: str) -> Any:
    return manifests(program, name) if is_kubernetes(program) else terraform(program, f"p{name}")


def _scanned(programs: Mapping[str, Fixture], tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    documents = {name: _document(program, name) for name, program in programs.items()}
    return scan(documents, tmp_path_factory.mktemp("checkov"))


@pytest.fixture(scope="module")
def of_good(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    return _scanned({f"{place}-good": one.good for place, one in enumerate(TABLE)}, tmp_path_factory)


@pytest.fixture(scope="module")
def of_bad(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    """In a run of their own: Checkov finds a network policy of another document."""
    return _scanned(dict(program for spelling in TABLE for program in _bad(spelling)), tmp_path_factory)


def _theirs(verdicts: frozenset[Verdict], external_id: str) -> bool:
    return any(one.check == external_id and not one.passed for one in verdicts)


def _expected(differs: Alone | None, *, agreed: bool) -> tuple[bool, bool]:
    """Whether the pack and Checkov report a program."""
    if differs is None:
        return agreed, agreed
    return differs.who == "pack", differs.who == "checkov"


@pytest.mark.parametrize(("spelling", "external_id"), ROWS, ids=IDS)
def test_neither_reports_what_is_right(spelling: Spelling, external_id: str, of_good: Verdicts) -> None:
    verdicts = of_good[f"{TABLE.index(spelling)}-good"]
    found = reported(spelling.good, external_id), _theirs(verdicts, external_id)
    assert found == _expected(spelling.good_differs.get(external_id), agreed=False), "(the pack, Checkov)"


@pytest.mark.parametrize(("spelling", "external_id"), ROWS, ids=IDS)
def test_both_report_what_is_wrong(spelling: Spelling, external_id: str, of_bad: Verdicts) -> None:
    names = dict(_bad(spelling))
    expected = _expected(spelling.bad_differs.get(external_id), agreed=True)
    for number, program in enumerate(spelling.bads(external_id)):
        name = f"{TABLE.index(spelling)}-{external_id.lower().replace('_', '-')}-{number}"
        assert names[name] is program
        found = reported(program, external_id), _theirs(of_bad[name], external_id)
        assert found == expected, f"(the pack, Checkov), program {number}"


def test_every_identifier_is_in_the_table_in_a_spelling_in_which_both_agree() -> None:
    agreed = {external_id for spelling, external_id in ROWS if external_id not in spelling.bad_differs}
    alone = set(COVERED) - agreed
    assert alone == {"CKV_AWS_19", "CKV2_AWS_30", "CKV2_AWS_35"}, (
        "add a program that both report to tests/scanners/agreement/"
    )
    assert {external_id for _, external_id in ROWS} == set(COVERED)


def test_names_are_unique_and_differences_are_of_rows() -> None:
    assert len({spelling.name for spelling in TABLE}) == len(TABLE)
    for spelling in TABLE:
        assert {*spelling.good_differs, *spelling.bad_differs} <= set(spelling.bad), spelling.name


def _types(program: Fixture) -> set[str]:
    """Types of Terraform, or kinds of Kubernetes."""
    kinds = {one.type for one in program.values() if not one.type.startswith("pulumi:")}
    return {terraform_type(kind) if kind.startswith("aws:") else kind.rpartition(":")[2] for kind in kinds}


def test_the_table_has_each_type_that_checkov_reads() -> None:
    known = types_by_id()
    missing = []
    for external_id in COVERED:
        programs = [
            program for spelling, one in ROWS if one == external_id for program in (spelling.good, *spelling.bads(one))
        ]
        there = {kind for program in programs for kind in _types(program)}
        # The provider has no type of its own.
        wanted = set(known[external_id]) - {"aws"}
        assert known[external_id], external_id
        if external_id in ONE_IS_ENOUGH:
            assert there & wanted, external_id
        else:
            missing += [f"{external_id}: {kind}" for kind in sorted(wanted - there - set(LEFT_OUT))]
    assert missing == []
