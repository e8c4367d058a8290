"""Generated files are current, and every external check is covered or has a reason."""

import json
from pathlib import Path

import pytest

from policies import coverage as coverage_module
from policies import generate
from policies.coverage import NOT_APPLICABLE, coverage
from policies.documentation import page
from policies.rules import RULES
from tests.support import generated


@pytest.mark.parametrize("path", generate.generators(), ids=lambda path: path.name)
def test_generated_files_are_current(path: Path) -> None:
    generated.check(path, generate.generators()[path](), generated.POLICIES)


def test_the_command_finds_them_current_too() -> None:
    assert generate.main(["--check"]) == 0, f"run `{generated.POLICIES}`"


def test_an_edited_file_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    assert generate.main(["--check"]) == 1
    assert "policies/coverage.json" in capsys.readouterr().err
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    (tmp_path / "docs/policies.md").write_text("edited")
    assert generate.main(["--check"]) == 1


def test_every_external_check_is_covered_by_an_existing_check_or_has_a_reason() -> None:
    checks = {f"{rule.name}/{key}" for rule in RULES for key in rule.checks}
    for external_id, covered_by in coverage().items():
        if covered_by.startswith(NOT_APPLICABLE):
            assert len(covered_by) > 30, external_id
        else:
            assert set(covered_by.split(", ")) <= checks, external_id


@pytest.mark.parametrize(("document", "part"), [
    ({"checkov": {"CKV_AWS_9999": "new"}}, "CKV_AWS_9999: no check lists it"),
    ({"reasons": {"CKV_AWS_38": "why not"}}, "CKV_AWS_38: has a reason"),
    ({"trivy": {}}, "and external_checks.yaml does not"),
])  # fmt: skip
def test_inconsistent_external_checks_are_refused(
    monkeypatch: pytest.MonkeyPatch, document: dict[str, object], part: str
) -> None:
    whole = json.loads(json.dumps(coverage_module._document()))
    changed = {key: {**whole[key], **value} if value else {} for key, value in document.items()}  # type: ignore[dict-item]
    monkeypatch.setattr(coverage_module, "_document", lambda: {**whole, **changed})
    with pytest.raises(ValueError, match=part):
        coverage()


def test_the_page_lists_every_rule_check_and_setting() -> None:
    text = page()
    for rule in RULES:
        assert f"### {rule.name}\n" in text
        assert rule.why in text
        assert all(f"- `{key}`: " in text for key in rule.checks)
        assert all(f"Setting `{key}`, " in text for key in rule.settings)
