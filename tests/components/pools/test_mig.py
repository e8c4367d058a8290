"""Partitioning by user data: the script on a machine with a stub driver, and how the node runs it."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from components.pools.user_data import layout, setup_script
from spec.catalog import mig
from tests.components.pools.mig_node import SCRIPT, Node
from tests.components.pools.samples import spec
from tools import scanners

LAYOUT = "3g.20gb:4,1g.5gb:0,1g.5gb:1"
CREATE = f"nvidia-smi mig -cgi {LAYOUT} -C"
DESTROY = ["nvidia-smi mig -dci", "nvidia-smi mig -dgi"]
CDI = "systemctl list-unit-files --quiet nvidia-cdi-refresh.service"
POWEROFF = "systemctl --no-block poweroff"
REBOOT = "systemctl --no-block reboot"
WANTED = Counter({(0, "3g.20gb"): 1, (0, "1g.5gb"): 2, (1, "3g.20gb"): 1, (1, "1g.5gb"): 2})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def instances(node: Node) -> Counter[tuple[int, str]]:
    return Counter((gpu, profile) for gpu, profile in node.instances)


def test_an_ampere_node_is_reset_and_partitioned(home: Path) -> None:
    node = Node(home)
    result = node.boot(LAYOUT)
    assert result.returncode == 0, result.stderr
    assert node.calls == ["nvidia-smi -mig 1", "nvidia-smi --gpu-reset", *DESTROY, CREATE, CDI]
    assert instances(node) == WANTED
    assert "2 GPUs are partitioned" in result.stderr


def test_a_hopper_node_needs_no_reset(home: Path) -> None:
    node = Node(home, live=True, cdi=True)
    assert node.boot(LAYOUT).returncode == 0
    assert node.calls == [
        "nvidia-smi -mig 1",
        *DESTROY,
        CREATE,
        CDI,
        "systemctl --no-block restart nvidia-cdi-refresh.service",
    ]


def test_where_no_reset_is_allowed_the_node_reboots_once_and_then_joins(home: Path) -> None:
    node = Node(home, resets=False)
    assert node.boot(LAYOUT).returncode == 1
    assert node.calls[-1] == REBOOT
    node.reboot()
    assert node.boot(LAYOUT).returncode == 0
    assert node.calls == [*DESTROY, CREATE, CDI]
    assert instances(node) == WANTED
    # A later reboot may be needed again: the first is forgotten.
    assert list((home / "kept").iterdir()) == []


def test_a_mode_that_a_reboot_does_not_change_powers_the_node_off(home: Path) -> None:
    node = Node(home, resets=False)
    node.boot(LAYOUT)
    assert node.boot(LAYOUT).returncode == 1
    assert node.calls[-1] == POWEROFF
    assert REBOOT not in node.calls


def test_instances_are_made_again_after_a_reboot(home: Path) -> None:
    node = Node(home)
    node.boot(LAYOUT)
    node.reboot()
    assert node.boot(LAYOUT).returncode == 0
    assert instances(node) == WANTED


def test_a_partitioned_node_is_left_alone(home: Path) -> None:
    node = Node(home)
    node.boot(LAYOUT)
    assert node.boot(LAYOUT).returncode == 0
    assert node.calls == [CDI]


def test_it_waits_for_the_driver(home: Path) -> None:
    node = Node(home, gpus=1, loads_after=5)
    assert node.boot(LAYOUT).returncode == 0
    assert node.asked > 5


def test_a_node_that_lacks_a_gpu_does_not_join(home: Path) -> None:
    node = Node(home, gpus=7)
    result = node.boot(LAYOUT, gpus=8)
    assert result.returncode == 1
    assert node.calls == [POWEROFF]
    assert "the driver knows 7 GPUs" in result.stderr


def test_the_driver_may_choose_the_places(home: Path) -> None:
    node = Node(home, refuses="places")
    assert node.boot(LAYOUT).returncode == 0
    assert node.calls[-4:-1] == [*DESTROY, "nvidia-smi mig -cgi 3g.20gb,1g.5gb,1g.5gb -C"]
    assert instances(node) == WANTED


@pytest.mark.parametrize("fault", [{"refuses": "all"}, {"loses": 1}], ids=["refused", "lost"])
def test_a_node_with_other_instances_does_not_join(home: Path, fault: dict[str, str | int]) -> None:
    node = Node(home)
    for key, value in fault.items():
        setattr(node, key, value)
    assert node.boot(LAYOUT).returncode == 1
    assert node.calls[-1] == POWEROFF


def test_whole_gpus_have_mig_disabled(home: Path) -> None:
    node = Node(home, live=True, current=["Enabled", "Enabled"], instances=[(0, "3g.20gb")])
    assert node.boot("none").returncode == 0
    assert node.calls == [*DESTROY, "nvidia-smi -mig 0", CDI]
    assert (node.current, node.instances) == (["Disabled", "Disabled"], [])


@pytest.mark.parametrize("gpu", sorted(mig.PROFILES))
def test_the_places_of_every_named_layout_are_free_and_allowed(gpu: str) -> None:
    for name in mig.layout_names(gpu):
        profiles = mig.named_layout(name, gpu)
        taken: list[int] = []
        for profile, start in mig.placements(gpu, profiles) if profiles else ():
            kind = mig.PROFILES[gpu][profile]
            assert start in kind.starts
            taken += range(start, start + kind.memory)
        assert len(taken) == len(set(taken)), name


def test_the_driver_gets_places_where_its_own_choice_could_fail() -> None:
    pool = spec(preset="a100", role="inference", mig={"profiles": {"1g.5gb": 6, "1g.10gb": 1}})
    assert layout(pool) == "1g.10gb:6,1g.5gb:0,1g.5gb:1,1g.5gb:2,1g.5gb:3,1g.5gb:4,1g.5gb:5"


def test_only_pools_with_mig_settings_have_the_script() -> None:
    assert setup_script(spec(preset="a100")) == ""
    assert setup_script(spec(preset="gpu-spot")) == ""
    assert "slipway-mig 8 none\n" in setup_script(spec(preset="a100", mig={"layout": "all-disabled"}))


def test_the_node_runs_the_script_before_nodeadm_starts_the_kubelet(home: Path) -> None:
    Node(home)
    environment = {**Node(home).environment, "SLIPWAY_ROOT": str(home / "root")}
    (home / "state.json").write_text('{"calls": [], "cdi": false}')
    text = setup_script(spec(preset="a100", role="inference", mig={"layout": "all-1g.5gb"}))
    done = subprocess.run(["bash"], input=text, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    command = home / "root/usr/local/sbin/slipway-mig"
    assert command.read_text() == SCRIPT.read_text()
    assert command.stat().st_mode & 0o111
    unit = (home / "root/etc/systemd/system/nodeadm-run.service.d/10-slipway-mig.conf").read_text().splitlines()
    assert "ExecStartPre=/usr/local/sbin/slipway-mig 8 " + ",".join(f"1g.5gb:{start}" for start in range(7)) in unit
    assert unit[0] == "[Unit]"
    assert "nvidia-kmod-load.service" in unit[1]
    assert '"systemctl daemon-reload"' in (home / "state.json").read_text()


def test_a_node_whose_user_data_fails_does_not_join(home: Path) -> None:
    (home / "root").write_text("a file, where a folder is to be")
    environment = {**Node(home).environment, "SLIPWAY_ROOT": str(home / "root")}
    (home / "state.json").write_text('{"calls": [], "cdi": false}')
    text = setup_script(spec(preset="a100", mig={"layout": "all-disabled"}))
    assert subprocess.run(["bash"], input=text, env=environment, capture_output=True, text=True, check=False).returncode
    assert '"systemctl mask --runtime nodeadm-run.service"' in (home / "state.json").read_text()


def test_shellcheck_reports_nothing(home: Path) -> None:
    shellcheck = scanners.find("shellcheck")
    if shellcheck is None:
        pytest.skip("shellcheck is not here: run `make scanners`")
    written = home / "setup.sh"
    written.write_text(setup_script(spec(preset="a100", mig={"layout": "all-disabled"})))
    done = subprocess.run([shellcheck, SCRIPT, written], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_user_data_stays_below_the_limit_of_ec2() -> None:
    # 16 KB before base64 (EC2 User Guide, "Run commands when you launch an EC2 instance with user data input"); EKS and
    # Karpenter add about 3 KB.
    longest = {"profiles": {"1g.5gb": 6, "1g.5gb+me": 1}}
    assert len(setup_script(spec(preset="a100", role="inference", mig=longest))) < 8_000
