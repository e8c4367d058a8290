"""The language host with a real `pulumi`: programs that succeed, fail, hang, and are killed."""

import json
import os
import signal
import subprocess
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from sandbox import environment, toolchain
from sandbox.language.host import install_shims
from sandbox.language.program import local_stack
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

STARTED = "the program has started"
SLEEPER = f"""
    import time
    print("{STARTED}", flush=True)
    time.sleep(600)
"""


class Project:
    """A Pulumi project in a temporary directory, with its own file backend and home."""

    def __init__(self, root: Path) -> None:
        self.root = root
        install_shims(root / "bin")
        cli = toolchain.find("pulumi")
        assert cli is not None
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PULUMI_")}
        self.environment = inherited | {
            "PATH": os.pathsep.join([str(root / "bin"), str(cli.parent), os.environ["PATH"]]),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }
        environment.prepare_engine_home(root / "home")
        for name in ("infra", "stacks", "state"):
            (root / name).mkdir()
        (root / "Pulumi.yaml").write_text("name: tiny\nruntime: python\nmain: infra\nstackConfigDir: stacks\n")

    def program(self, source: str) -> "Project":
        """Makes this the program."""
        return self.program_here(source, "infra")

    def program_here(self, source: str, folder: str = ".") -> "Project":
        """Makes this the program of a folder."""
        (self.root / folder / "__main__.py").write_text(textwrap.dedent(source))
        return self

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Starts the CLI in a process group of its own."""
        command = ["pulumi", *arguments, "--non-interactive", "--color", "never", "--stack", "dev"]
        return subprocess.Popen(
            command, cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, process_group=0,
        )  # fmt: skip

    def run(self, *arguments: str) -> tuple[int, str]:
        """Exit code and output of the CLI."""
        with self.start(*arguments) as process:
            output, _ = process.communicate(timeout=SECONDS)
        return process.returncode, output


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("language"))
    (project.root / "stacks" / "Pulumi.dev.yaml").write_text("config:\n  tiny:size: 3\n  tiny:tree: {leaves: [1, 2]}\n")
    code, output = project.run("stack", "init")
    assert code == 0, output
    return project


def test_a_program_reads_configuration_and_secrets_and_exports_outputs(project: Project) -> None:
    project.program("""
        import os, sys
        import components  # a package at the top of the installed project
        import pulumi
        config = pulumi.Config()
        pulumi.export("size", config.require_int("size"))
        pulumi.export("tree", config.require_object("tree"))
        pulumi.export("password", config.require_secret("password"))
        pulumi.export("where", [os.getcwd(), pulumi.get_project(), pulumi.get_stack(), pulumi.runtime.is_dry_run()])
        print("words of the program")
    """)
    assert project.run("config", "set", "--secret", "password", "hunter2")[0] == 0
    code, output = project.run("up", "--yes")
    assert code == 0, output
    assert "words of the program" in output
    assert "hunter2" not in output
    assert "warning" not in output, "the CLI complains about where it found the host"
    code, output = project.run("stack", "output", "--json", "--show-secrets")
    assert json.loads(output) == {
        "size": 3,
        "tree": {"leaves": [1, 2]},
        "password": "hunter2",
        "where": [str(project.root / "infra"), "tiny", "dev", False],
    }


def test_a_reference_to_a_stack_of_an_organization_finds_the_stack_here(project: Project) -> None:
    project.program("""
        import pulumi
        pulumi.export("size", 3)
    """)
    assert project.run("up", "--yes")[0] == 0
    project.program("""
        import pulumi
        named = pulumi.StackReference("acme/tiny/dev")
        by_output = pulumi.StackReference("by-output", stack_name=pulumi.Output.from_input("acme/tiny/dev"))
        pulumi.export("sizes", [named.get_output("size"), by_output.require_output("size")])
    """)
    # An update would write the file that the references read: the stack's own.
    code, output = project.run("preview")
    assert code == 0, output
    assert all(f"[{number}]: 3" in output for number in range(2)), output


@pytest.mark.parametrize(
    ("name", "here"), [("dev", "dev"), ("acme/dev", "dev"), ("acme/network/dev", "organization/network/dev")]
)
def test_stacks_are_found_without_their_organization(name: str, here: str) -> None:
    assert local_stack(name) == here


def test_a_dynamic_provider_runs(project: Project) -> None:
    project.program("""
        import pulumi
        from pulumi.dynamic import CreateResult, Resource, ResourceProvider

        class Adds(ResourceProvider):
            def create(self, props):
                return CreateResult("1", {"value": props["value"] + 1})

        class Sum(Resource):
            value: pulumi.Output[int]

        pulumi.export("value", Sum(Adds(), "sum", {"value": 2}).value)
    """)
    code, output = project.run("up", "--yes")
    assert code == 0, output
    assert json.loads(project.run("stack", "output", "--json")[1]) == {"value": 3}
    assert project.run("destroy", "--yes")[0] == 0


def test_an_exception_shows_the_frames_of_the_program_and_fails_the_run(project: Project) -> None:
    project.program("""
        import pulumi
        def build():
            pulumi.log.debug("whispered")
            raise LookupError("broken on purpose")
        build()
    """)
    code, output = project.run("preview", "--debug")
    assert code != 0
    assert "whispered" in output
    assert output.count("LookupError: broken on purpose") == 1, output
    assert "in build" in output
    assert "runpy" not in output, "frames of the host are shown"


def test_a_run_error_shows_only_its_text(project: Project) -> None:
    project.program("""
        import pulumi
        pulumi.log.debug("whispered")
        pulumi.log.info("said")
        raise pulumi.RunError("network.cidr: too small")
    """)
    code, output = project.run("preview")
    assert code != 0
    assert "said" in output
    assert "whispered" not in output
    assert "error: network.cidr: too small" in output
    assert "Traceback" not in output
    assert "exit code" not in output


def test_a_program_that_ends_its_process_fails_the_run_with_the_code(project: Project) -> None:
    project.program("""
        import os
        os._exit(7)
    """)
    code, output = project.run("preview")
    assert code != 0
    assert "non-zero exit code: 7" in output


def test_a_missing_program_is_reported_by_path(project: Project) -> None:
    (project.root / "infra" / "__main__.py").unlink(missing_ok=True)
    code, output = project.run("preview")
    assert code != 0
    assert f"there is no Python program at {project.root}/infra/__main__.py" in output
    assert "Traceback" not in output


def test_policy_packs_see_the_resources_and_can_refuse_them(project: Project) -> None:
    """Two at once: the host has prepared only one process."""
    packs = [write_pack(project.root / "first"), write_pack(project.root / "second")]
    project.program("import pulumi")
    code, output = project.run("preview", *(word for pack in packs for word in ("--policy-pack", str(pack))))
    assert code != 0
    for pack in packs:
        assert f"{pack.name}: a stack of pulumi:pulumi:Stack" in output


def write_pack(directory: Path) -> Path:
    directory.mkdir()
    (directory / "PulumiPolicy.yaml").write_text("runtime: python\nversion: 0.0.1\n")
    program = f"""
        from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

        def refuse(args, report):
            report("{directory.name}: a stack of " + args.resources[0].resource_type)

        policy = StackValidationPolicy("no", "nothing is allowed", refuse)
        PolicyPack("{directory.name}", policies=[policy], enforcement_level=EnforcementLevel.MANDATORY)
    """
    (directory / "__main__.py").write_text(textwrap.dedent(program))
    return directory


@pytest.mark.parametrize("raising", [True, False])
def test_a_policy_pack_that_fails_or_is_missing_fails_the_run(project: Project, raising: bool) -> None:
    pack = project.root / "pack"
    if raising:
        main = write_pack(pack) / "__main__.py"
        main.write_text(main.read_text().replace("    report(", "    raise RuntimeError("))
    project.program("import pulumi")
    code, output = project.run("up", "--yes", "--policy-pack", str(pack))
    assert code != 0
    assert ("xception calling application: pack" if raising else str(pack)) in output
    assert "created" not in output


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_the_cli(project: Project, how: signal.Signals) -> None:
    project.program(SLEEPER)
    with project.start("preview") as cli:
        assert cli.stdout is not None
        while STARTED not in (line := cli.stdout.readline()):
            assert line, "the program did not start"
        started = psutil.Process(cli.pid).children(recursive=True)
        assert len(started) >= 2, "host and program are processes of their own"
        cli.send_signal(how)
        # The first interrupt lets the engine finish running steps, and this program never ends; the next one ends it.
        end, alive = time.monotonic() + SECONDS, started
        while alive and time.monotonic() < end:
            if how is signal.SIGINT and cli.poll() is None:
                cli.send_signal(how)
            _, alive = psutil.wait_procs(started, timeout=1)
        for process in alive:
            process.kill()
        assert not alive
