"""`python -m tools.site.pictures` draws the pictures of the documentation into docs/images.

The cluster is drawn from the settings of stack prod, the session from its recording (tools/site/record.py).
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Final

from spec.naming import zone_letter
from spec.pools import PoolSpec, keys, resolve_all
from spec.settings import load, read_stack
from spec.settings.platform import Platform
from tools.lock import ROOT
from tools.site.drawing import Drawing
from tools.site.record import RECORDING
from tools.site.terminal import terminal

FOLDER: Final = ROOT / "docs" / "images"
RUN_MINUTES: Final = 1.5  # `make up` of stack dev with all charts, binaries there: 86 s (2 quiet cores, 2026-11)
DRAWN: Final = 6  # nodes of a pool that are drawn; a larger pool says how many more it may have


def two_worlds() -> str:
    """One program, two places to run it."""
    picture = Drawing(980, 430, "One Pulumi program runs on AWS or in a sandbox on your machine")
    steps = (
        ("stacks/", "settings of one", "environment"),
        ("spec/", "types, cross-checks,", "catalogs, prices"),
        ("components/, infra/", "the Pulumi program:", "one for all stacks"),
        ("Pulumi engine", "plans, orders, keeps state;", "policies/ evaluates the plan"),
    )
    for number, (head, *lines) in enumerate(steps):
        picture.box(24 + number * 240, 24, 212, head, lines)
        if number:
            picture.arrow((236 + (number - 1) * 240, 64), (22 + number * 240, 64))
    picture.arrow((850, 106), (850, 128), (245, 128), (245, 156))
    picture.arrow((850, 106), (850, 128), (735, 128), (735, 156))
    aws = (
        "Pulumi's providers for AWS and Kubernetes",
        "EKS, Karpenter, GPUs with EFA, S3, EFS, Lustre",
        "add-ons run: Kueue, KServe, GPU Operator, ...",
        "",
        "slipway doctor: what the account lacks",
        "slipway up: from a pull request, with approval",
        "1 to 142 USD an hour for each GPU node",
    )
    sandbox = (
        "the program can't tell the difference",
        "AWS: moto, and models that refuse what AWS refuses",
        "Kubernetes: kube-apiserver, scheduler, etcd",
        "real Helm charts; no program runs in the pods",
        "",
        f"make up: the whole platform in {RUN_MINUTES} minutes",
        "no account, no cost; builds and charts come once",
    )
    for x, kind, head, texts in ((24, "aws", "On AWS", aws), (514, "sandbox", "In the sandbox", sandbox)):
        picture.rect(x, 160, 442, 246, kind)
        picture.text(x + 18, 192, head, "title")
        picture.lines(x + 18, 222, texts, "", 26)
    return picture.svg()


def layers() -> str:
    """The packages, and which of them import which."""
    picture = Drawing(900, 560, "Packages of Slipway: imports go downwards only")
    boxes: tuple[tuple[int, int, int, str, str], ...] = (
        (30, 20, 360, "slipway.cli", "up, preview, check, cost, report, ..."),
        (30, 110, 360, "slipway.report", "account, cost, fit, prices, quickstarts, verify, ..."),
        (30, 200, 360, "slipway.render, charts", "the program without an engine"),
        (30, 290, 360, "slipway.engine", "runs Pulumi, gates plans"),
        (30, 380, 360, "sandbox", "AWS and clusters on loopback"),
        (30, 470, 360, "sandbox.toolchain", "finds or builds binaries"),
        (520, 110, 350, "policies/", "the policy pack"),
        (520, 200, 350, "infra/", "the program: composition and dependencies"),
        (520, 290, 350, "components/", "one ComponentResource per file"),
        (520, 380, 350, "spec/", "settings, catalogs, pools, pricing: no Pulumi"),
        (520, 470, 350, "stacks/", "one YAML file for each environment"),
    )
    for x, y, width, head, line in boxes:
        picture.box(x, y, width, head, [line])
    for y in (82, 172, 262, 352, 442):
        picture.arrow((210, y), (210, y + 26))
    for y, target in ((141, 141), (231, 231), (411, 411)):
        picture.arrow((390, y), (516, target))
    picture.arrow((695, 262), (695, 286))
    picture.arrow((695, 352), (695, 376))
    picture.arrow((870, 141), (888, 141), (888, 400), (874, 400))
    picture.arrow((695, 442), (695, 466))
    picture.text(706, 459, "reads", "small")
    return picture.svg()


def cluster(stack: str = "prod") -> str:
    """The nodes of a stack by pool, its storage, and the teams that share it."""
    platform = load(read_stack(stack, ROOT / "stacks"), stack=stack).platform
    pools = sorted(resolve_all(platform).values(), key=lambda one: (one.gpu is not None, one.name))
    picture = Drawing(980, 184 + 112 * len(pools), f"The cluster of stack {stack}: pools, storage and teams")
    picture.text(24, 40, f"{platform.cluster_name}, {platform.account.region}", "title")
    picture.text(24, 62, "a box is a node, solid if it always runs; a square is a GPU or a MIG instance", "small")
    picture.text(956, 40, f"zones {', '.join(platform.network.zones)}", "small", "end")
    for number, pool in enumerate(pools):
        _pool(picture, pool, 80 + 112 * number)
    below = 80 + 112 * len(pools)
    picture.box(24, below, 300, "Storage", _storage(platform))
    for number, (name, team) in enumerate(platform.teams.items()):
        shares = [f"{share.nominal_quota} {pool}" for pool, share in team.gpus.items()]
        lines = [", ".join(shares), f"{team.budget_usd:,} USD a month"]
        picture.box(344 + number * 208, below, 196, f"team {name}", lines)
    return picture.svg()


def _pool(picture: Drawing, pool: PoolSpec, y: int) -> None:
    picture.rect(24, y, 932, 100, "box")
    picture.text(40, y + 28, pool.name, "code")
    picture.text(940, y + 28, ", ".join(zone_letter(zone) for zone in pool.zones), "small", "end")
    low, high = pool.settings.min, pool.settings.max
    types = ", ".join(sorted({kind.name for kind in pool.instance_types})[:2])
    more = f", {len(pool.instance_types) - 2} more types" if len(pool.instance_types) > 2 else ""
    picture.text(40, y + 50, f"{types}{more}", "small")
    how = "managed group" if pool.managed else "Karpenter"
    picture.text(40, y + 68, f"{pool.role}, {pool.market}, {how}", "small")
    picture.text(40, y + 86, f"{low} to {high} nodes", "small")
    shown = min(high, DRAWN)
    for number in range(shown):
        _node(picture, pool, 330 + number * 92, y + 14, always=number < low)
    if high > shown:
        picture.text(330 + shown * 92, y + 54, f"+{high - shown}", "head")


def _node(picture: Drawing, pool: PoolSpec, x: int, y: int, *, always: bool) -> None:
    picture.rect(x, y, 82, 72, "always" if always else "elastic", 5)
    kind = "gpu" if always else "idle"
    if pool.gpu is None:
        picture.text(x + 41, y + 40, "CPU", "small", "middle")
        return
    for gpu in range(pool.gpu_count):
        left, top = x + 9 + gpu % 4 * 17, y + 14 + gpu // 4 * 26
        parts = _parts(pool.resources, pool.gpu_count)
        for number in range(parts):
            height = 20 / parts
            picture.rect(left, top + number * height, 14, height - (1 if parts > 1 else 0), kind, 2)


def _parts(resources: Mapping[str, int], gpus: int) -> int:
    """Parts in which a GPU is drawn: its MIG instances, or itself."""
    instances = sum(count for name, count in resources.items() if name.startswith(keys.MIG))
    return instances // gpus if instances and keys.GPU not in resources else 1


def _storage(platform: Platform) -> list[str]:
    files = ["EFS"] if platform.storage.efs else []
    if platform.storage.lustre:
        files.append(f"Lustre, {platform.storage.lustre.storage_capacity:,} GiB")
    return ["S3: raw, checkpoints, models, state", ", ".join(files) or "no file system"]


def session() -> str:
    """The recorded session in a terminal."""
    return terminal(json.loads(RECORDING.read_text(encoding="utf-8")))


PICTURES: Final[Mapping[str, Callable[[], str]]] = {
    "two-worlds.svg": two_worlds,
    "layers.svg": layers,
    "cluster.svg": cluster,
    "session.svg": session,
}


def main() -> int:
    """Write every picture."""
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
