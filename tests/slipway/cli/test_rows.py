"""What command lines give: the rows of `rows.yaml`."""

import shlex
from pathlib import Path
from typing import Any, Final

import pytest

from slipway.cli import main, offline
from spec.errors import EXIT_REFUSED
from spec.strict_yaml import read
from tests.slipway.engine.fake import FakePulumi
from tests.support import mocks

assert mocks  # it silences warnings that the SDK prints when it is first imported
ROWS: Final = read(Path(__file__).with_name("rows.yaml").read_text(encoding="utf-8"))


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.usefixtures("user", "sandbox")
@pytest.mark.parametrize("row", [pytest.param(row, id=row["run"]) for row in ROWS])
def test_what_a_command_line_gives(
    row: dict[str, Any], checkout: Path, fake: FakePulumi, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert row.keys() <= {"run", "code", "out", "err"}
    monkeypatch.delenv("SLIPWAY_CHARTS", raising=False)
    monkeypatch.setattr(offline, "start", lambda *_, **__: pytest.fail("the sandbox was started"))
    before = files(checkout)
    try:
        code: Any = main(shlex.split(row["run"]))
    except SystemExit as end:
        code = end.code
    out, error = capsys.readouterr()
    assert code == row["code"], error
    assert [text for text in row.get("out", ()) if text not in out] == []
    assert [text for text in row.get("err", ()) if text not in error] == []
    assert "Errno" not in error
    assert "Traceback" not in error
    if code == EXIT_REFUSED:
        assert (out, fake.calls, files(checkout)) == ("", [], before)
