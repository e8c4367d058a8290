"""What command lines give: the rows of `rows.yaml`."""

import json
import shlex
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox.errors import GOES_ON
from slipway.cli import main, offline, operations
from spec.errors import EXIT_REFUSED
from spec.strict_yaml import read
from tests.slipway.engine.fake import FakePulumi, exported, resource
from tests.slipway.engine.test_gate import event, urn
from tests.slipway.replay.examples import TRACE

ROWS: Final = read(Path(__file__).with_name("rows.yaml").read_text(encoding="utf-8"))
WORDS: Final = {"run", "code", "out", "err", "never", "calls", "tells", "answer", "env", "edit"}
BUCKET: Final = "aws:s3/bucket:Bucket"
OUTPUT: Final = " +  aws:s3:Bucket it creating (0s)\n@ previewing....\n +  aws:s3:Bucket it created (0.04s)\n"
DIAGNOSTICS: Final = "Diagnostics:\n  aws:s3:Bucket (it):\n    error: AccessDenied:\n\n    Resources: not allowed\n\n"
TOTALS: Final = "Outputs:\n    a: 1\n\nResources:\n    + 1 to create\n\nDuration: 2s\n"
SAYS: Final = {"rows": OUTPUT, "all": f"{OUTPUT}{DIAGNOSTICS}{TOTALS}",
    "lost": "Diagnostics:\n    error: error reading from server: EOF\n",
    "busy": f"Diagnostics:\n    error: Timeout: {GOES_ON}\n"}  # fmt: skip
VPC: Final = resource("aws:ec2/vpc:Vpc", "network-vpc", protect=True)


def found(op: str, name: str = "it") -> str:
    """What the engine logs once it has read a resource: `refresh` first, then what it found."""
    before, after = {"inputs": {"bucket": "a"}}, {"inputs": {"bucket": "b"}} if op == "update" else None
    step = {"op": op, "urn": urn(BUCKET, name), "type": BUCKET, "old": before, "new": after, "diffs": ["bucket"]}
    return event("refresh", name=name) + json.dumps({"sequence": 2, "resOutputsEvent": {"metadata": step}}) + "\n"


def planned(op: str, name: str = "it") -> str:
    """A step of a plan; a replacement with the property that forces it."""
    if op != "replace":
        return event(op, name=name)
    return event(op, name=name, keys=["bucket"], old={"inputs": {"bucket": "a"}}, new={"inputs": {"bucket": "b"}})


def prescribed(name: str, what: Any) -> str:
    """The text of a file that prescribes what the engine does."""
    match name:
        case "events":
            words = [line.split() for line in what]
            return "".join(found(*rest) if op == "found" else planned(op, *rest) for op, *rest in words)
        case "export":
            return exported(*(VPC if one == "protected" else resource(BUCKET, one) for one in what))
        case "says":
            return SAYS[what]
        case _:
            return str(what)


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def is_call(words: str, arguments: list[str]) -> bool:
    first, *others = words.split()
    unlike = [word[1:] for word in others if word.startswith("!")]
    like = {word for word in others if not word.startswith("!")}
    return arguments[0] == first and like <= set(arguments) and not set(unlike) & set(arguments)


@pytest.mark.usefixtures("user")
@pytest.mark.parametrize("row", [pytest.param(row, id=f"{number}-{row['run']}") for number, row in enumerate(ROWS)])
def test_what_a_command_line_gives(
    row: dict[str, Any], checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert row.keys() <= WORDS
    monkeypatch.delenv("SLIPWAY_CHARTS", raising=False)
    monkeypatch.setattr(offline, "start", lambda *_, **__: pytest.fail("the sandbox was started"))
    monkeypatch.setattr(operations, "tear_down", lambda request, platform, run, ask, **_: run(request))
    for name, value in row.get("env", {}).items():
        monkeypatch.setenv(name, value)
    for name, what in row.get("tells", {}).items():
        fake.tell(name, prescribed(name, what))
    if "answer" in row:
        monkeypatch.setattr(operations, "can_ask", lambda: True)
        monkeypatch.setattr(operations, "ask", lambda _: row["answer"])
    dev = checkout / "stacks/Pulumi.dev.yaml"
    for old, new in row.get("edit", {}).items():
        assert old in dev.read_text(encoding="utf-8")
        dev.write_text(dev.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    (checkout / "jobs.csv").write_text(TRACE, encoding="utf-8")
    (checkout / "other.json").write_text('{"version": 1, "stack": "dev"}', encoding="utf-8")
    before = files(checkout)
    try:
        code: Any = main(shlex.split(row["run"]))
    except SystemExit as end:
        code = end.code
    out, error = capfd.readouterr()
    assert code == row["code"], error
    assert [text for text in row.get("out", ()) if text not in out] == []
    assert [text for text in row.get("err", ()) if text not in error] == []
    assert [text for text in row.get("never", ()) if text in out + error] == []
    assert "Errno" not in error
    assert "Traceback" not in error
    assert files(checkout) == before
    runs = [call["arguments"] for call in fake.calls]
    if "calls" in row:
        *wanted, last = row["calls"]
        shown = runs[: len(wanted)] if last == "..." else runs
        wanted += [last] * (last != "...")
        agreed = [words for words, run in zip(wanted, shown, strict=False) if is_call(words, run)]
        assert (agreed, len(shown)) == (wanted, len(wanted)), runs
    elif code == EXIT_REFUSED:
        assert (out, runs) == ("", [])
    in_sandbox = "--sandbox" in row["run"].split() or "SLIPWAY_SANDBOX_SHELL" in row.get("env", {})
    for call in fake.calls:
        environment = call["environment"]
        assert call["directory"] in (str(checkout), str(sandbox.home / "project"))
        assert environment.get("PULUMI_DEBUG_COMMANDS") == ("true" if "--event-log" in call["arguments"] else None)
        assert ("AWS_PROFILE" in environment) is not in_sandbox
        backend = f"file://{sandbox.home / 'pulumi'}?metadata=skip" if in_sandbox else "s3://real-state"
        assert environment["PULUMI_BACKEND_URL"] == backend
        assert environment.get("AWS_ENDPOINT_URL") == ("http://127.0.0.1:5000" if in_sandbox else None)
