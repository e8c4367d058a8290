"""A wrong file is refused in under a second, by a process that never loads the engine's SDK."""

import resource
import subprocess
import sys
from pathlib import Path

import yaml

from tests.spec.settings.stack import changed
from tests.support.patience import slowness

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
from pathlib import Path
from spec.settings import ConfigurationError, load, read_stack
try:
    load(read_stack("test", Path(sys.argv[1])), stack="test")
except ConfigurationError as error:
    print(error)
heavy = sorted({name.partition(".")[0] for name in sys.modules} & {"pulumi", "pulumi_aws", "grpc", "boto3", "moto"})
sys.exit(f"loaded {heavy}" if heavy else 0)
"""


def run(directory: Path) -> tuple[float, subprocess.CompletedProcess[str]]:
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(directory)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    # CPU time, which other processes of a busy machine do not change (`make bench` has the wall time).
    return ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime, done


def test_a_wrong_file_is_refused_within_a_second_and_without_the_engine(tmp_path: Path) -> None:
    many = {f"pools.p{number}": {"preset": "cpu", "max": 0} for number in range(200)}
    document = {"config": {"slipway:platform": changed(many)}}
    (tmp_path / "Pulumi.test.yaml").write_text(yaml.safe_dump(document))
    # The first run of a checkout also writes bytecode.
    run(tmp_path)
    seconds, done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "stack test: 200 problems" in done.stdout
    assert seconds < slowness()


def test_a_hundred_teams_are_checked_within_a_second(tmp_path: Path) -> None:
    team = {"project": "p", "costCenter": "c", "cpus": {"cpu": {"nominalQuota": 1}}, "storageGib": 1}
    many = {f"teams.t{number}": team for number in range(100)}
    document = {"config": {"slipway:platform": changed(many)}}
    (tmp_path / "Pulumi.test.yaml").write_text(yaml.safe_dump(document))
    run(tmp_path)
    seconds, done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "stack test: 100 problems" in done.stdout
    assert seconds < slowness()
