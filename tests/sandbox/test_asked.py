"""What a command wants of a running sandbox: charts are obeyed, variables of the start are reported."""

import ast
import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from pulumi.runtime.settings import SETTINGS

import sandbox
from sandbox import CHARTS, IN_SANDBOX_SHELL, asked
from sandbox.kubernetes.controllers.table import VARIABLE as CONTROLLERS
from sandbox.language import program
from sandbox.official import VARIABLE as PROVIDER
from sandbox.toolchain import archive
from sandbox.toolchain.tools import TOOLS
from spec.errors import EXIT_REFUSED, SlipwayError
from tests.support.patience import SECONDS

BY_EACH_COMMAND: Final = {
    IN_SANDBOX_SHELL: "set by the sandbox",
    "SLIPWAY_SANDBOX_HOME": "names another sandbox",
    "XDG_STATE_HOME": "the same",
    "PULUMI_HOME": "read by the command, for the official provider",
    "PULUMI_K8S_CLIENT_TIMEOUT": "the engine's, of each run",
    "GOGC": "speed and memory alone",
}
"""Variables that the sandbox reads and that need no word, with the reason."""


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    return tmp_path / "one", tmp_path / "two"


def test_charts_that_are_named_later_are_used_and_said(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    one, two = folders
    asked.begin(tmp_path, {})
    assert asked.charts(tmp_path) is None
    assert asked.ask(tmp_path, {}) == []
    (line,) = asked.ask(tmp_path, {CHARTS: "one"})
    assert line.startswith(f"charts: those of {one} from now on, none before; `up` installs")
    assert asked.charts(tmp_path) == one
    assert asked.ask(tmp_path, {CHARTS: str(one)}) == []
    (line,) = asked.ask(tmp_path, {CHARTS: "two"})
    assert f"those of {two} from now on, those of {one} before" in line
    assert asked.charts(tmp_path) == two


def test_charts_that_are_no_longer_named_stay_and_that_is_said(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    asked.begin(tmp_path, {CHARTS: "one"})
    for unset in ({}, {CHARTS: ""}):
        (line,) = asked.ask(tmp_path, unset)
        assert f"{CHARTS} is unset: the charts are still those of {folders[0]}" in line
        assert "slipway sandbox stop" in line
    assert asked.charts(tmp_path) == folders[0]
    folders[0].rmdir()
    (line,) = asked.ask(tmp_path, {})
    assert f"{folders[0]} is gone" in line


def test_a_relative_folder_is_that_of_the_command(
    tmp_path: Path, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.begin(tmp_path, {CHARTS: "one"})
    monkeypatch.chdir(folders[0])
    assert asked.ask(tmp_path, {CHARTS: "../one"}) == []
    monkeypatch.chdir(folders[1])
    with pytest.raises(SlipwayError, match=f"{folders[1] / 'one'} is not a folder"):
        asked.ask(tmp_path, {CHARTS: "one"})


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_what_is_no_folder_is_refused_and_changes_nothing(
    tmp_path: Path, folders: tuple[Path, Path], kind: str
) -> None:
    asked.begin(tmp_path, {CHARTS: "one"})
    if kind == "file":
        (tmp_path / kind).touch()
    for use in (asked.ask, asked.begin):
        with pytest.raises(SlipwayError, match=rf"must be a folder of charts \(given: '{kind}'; ") as refused:
            use(tmp_path, {CHARTS: kind})
        assert refused.value.exit_code == EXIT_REFUSED
    assert asked.charts(tmp_path) == folders[0]


@pytest.mark.parametrize("name", [name for name in asked.AT_START if name != PROVIDER])
def test_a_variable_that_only_a_start_reads_is_said_where_it_differs(tmp_path: Path, name: str) -> None:
    asked.begin(tmp_path, {name: "a"})
    assert asked.ask(tmp_path, {name: "a"}) == []
    (line,) = asked.ask(tmp_path, {name: "b"})
    assert line.startswith(f"{name}=b has no effect: the sandbox was started with {name}=a")
    assert line.endswith("which holds until `slipway sandbox stop`")
    (line,) = asked.ask(tmp_path, {})
    assert line.startswith(f"{name} is unset, without effect: the sandbox was started with {name}=a")
    asked.begin(tmp_path, {name: ""})
    (line,) = asked.ask(tmp_path, {name: "b"})
    assert line.startswith(f"{name}=b has no effect: the sandbox was started without it")


def test_another_provider_is_refused_elsewhere_and_its_absence_is_said(tmp_path: Path) -> None:
    asked.begin(tmp_path, {})
    assert asked.ask(tmp_path, {PROVIDER: "official"}) == []
    asked.begin(tmp_path, {PROVIDER: "official"})
    assert len(asked.ask(tmp_path, {})) == 1


def test_a_shell_of_the_sandbox_asks_for_no_region(tmp_path: Path) -> None:
    asked.begin(tmp_path, {})
    assert asked.ask(tmp_path, {"AWS_REGION": "eu-west-1", IN_SANDBOX_SHELL: "1"}) == []
    assert len(asked.ask(tmp_path, {CONTROLLERS: "none", IN_SANDBOX_SHELL: "1"})) == 1


def test_every_variable_that_the_sandbox_reads_is_obeyed_or_said() -> None:
    read = set(_read(Path(sandbox.__file__).parent))
    constants = {
        "VARIABLE": {CONTROLLERS, PROVIDER, archive.VARIABLE},
        "CLIENT_TIMEOUT": {"PULUMI_K8S_CLIENT_TIMEOUT"},
        "IN_SANDBOX_SHELL": {IN_SANDBOX_SHELL},
        "name": set(asked.REGION),
        "tool.variable": {tool.variable for tool in TOOLS.values()},
        "table.VARIABLE": {CONTROLLERS},
    }
    names = {name for text in read for name in constants.get(text, {text.strip("'")})}
    of_command = {TOOLS[name].variable for name in asked.OF_COMMAND}
    assert names == {*asked.AT_START, *BY_EACH_COMMAND, *of_command}


def _read(package: Path) -> Iterator[str]:
    """What is looked up in the process's environment: a literal in quotes, or the text of an expression.

    Not by the language host: the engine of each command starts it, with the variables of that command.
    """
    for file in sorted(set(package.rglob("*.py")) - set(package.glob("language/*.py"))):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.environ.get", "os.getenv"):
                yield ast.unparse(node.args[0])
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
                yield ast.unparse(node.slice)


# What `settled` waits for, and how often it wakes up for that.


async def _outputs(monkeypatch: pytest.MonkeyPatch) -> set[asyncio.Future[Any]]:
    made: set[asyncio.Future[Any]] = set()
    monkeypatch.setattr(SETTINGS, "outputs", made)
    return made


def _follow(outputs: set[asyncio.Future[Any]], work: Awaitable[None]) -> asyncio.Future[None]:
    """As `Output._track` does it: one that is resolved is forgotten, one that failed is kept."""
    task = asyncio.ensure_future(work)
    outputs.add(task)
    task.add_done_callback(lambda it: None if it.cancelled() or it.exception() else outputs.discard(it))
    return task


def _run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(scenario(), SECONDS)

    asyncio.run(limited())


def test_it_waits_for_all_outputs_and_wakes_up_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = 0
    wait = asyncio.wait

    def counted(*arguments: Any, **more: Any) -> Any:
        nonlocal waits
        waits += 1
        return wait(*arguments, **more)

    async def scenario() -> None:
        outputs = await _outputs(monkeypatch)
        resolved = []

        async def output(number: int) -> None:
            await asyncio.sleep(number / 10_000)
            resolved.append(number)
            if number < 100:
                _follow(outputs, output(number + 100))

        for number in range(100):
            _follow(outputs, output(number))
        await program.settled()
        assert sorted(resolved) == list(range(200))

    monkeypatch.setattr(asyncio, "wait", counted)
    _run(scenario)
    assert waits < 10


def test_a_failure_ends_the_waiting_and_is_left_to_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        outputs = await _outputs(monkeypatch)

        async def fail() -> None:
            await asyncio.sleep(0)
            msg = "refused"
            raise ValueError(msg)

        async def never() -> None:
            await asyncio.Event().wait()

        failed, endless = _follow(outputs, fail()), _follow(outputs, never())
        await program.settled()
        assert isinstance(failed.exception(), ValueError)
        assert outputs == {failed, endless}
        endless.cancel()

    _run(scenario)


def test_a_program_that_goes_on_in_pulumi_run_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        outputs = await _outputs(monkeypatch)
        comes_later = asyncio.Event()

        async def output() -> None:
            await comes_later.wait()

        task = _follow(outputs, output())
        root = SimpleNamespace(_async_program=lambda: None)
        monkeypatch.setattr(program, "get_root_resource", lambda: root)
        await program.settled()
        comes_later.set()
        await task

    _run(scenario)
