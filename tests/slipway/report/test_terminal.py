"""The summary of a plan for a terminal: what changes by part, pool and team, removals with causes, cost, findings."""

from dataclasses import replace
from decimal import Decimal
from typing import Final

import pytest

from slipway.engine.invocation import Operation
from slipway.report import terminal
from slipway.report.model import Bar, Bill, Evaluation, FindingView
from slipway.report.plan import Plan, PropertyChange, ResourceChange, Verb
from slipway.report.terminal import TerminalContext, group, text
from spec.pricing import Amounts
from tests.support.cases import beside

CASES: Final = beside(__file__)

CONTEXT = TerminalContext(stack="dev", teams=("vision", "vision-lab"), pools=("a100", "a100-big"))
NODE_POOL, QUEUE, BUCKET = (
    "kubernetes:karpenter.sh/v1:NodePool",
    "kubernetes:kueue.x-k8s.io/v1:ClusterQueue",
    "aws:s3/bucket:Bucket",
)


def change(chain: str, kind: str, name: str, verb: Verb = Verb.UPDATE, **more: object) -> ResourceChange:
    urn = f"urn:pulumi:dev::slipway::{f'slipway:{chain}$' if chain else ''}{kind}::{name}"
    return ResourceChange(urn=urn, type=kind, verb=verb, **more)  # type: ignore[arg-type]


def bill(delta: Amounts | None, *movers: Bar, problem: str = "") -> Bill:
    total = amounts(1, 2, 3)
    return Bill(total=total, by={}, bounds=(), delta=delta, movers=movers, delta_problem=problem, sources=())


def amounts(floor: int, expected: int, ceiling: int) -> Amounts:
    return Amounts(Decimal(floor), Decimal(expected), Decimal(ceiling))


@pytest.mark.parametrize(("chain", "name", "expected"), CASES["a change belongs to a team a pool or a part"])
def test_a_change_belongs_to_a_team_a_pool_or_a_part(chain: str, name: str, expected: str) -> None:
    assert group(change(chain, QUEUE, name), CONTEXT) == expected


def test_each_change_of_a_small_plan_is_one_row_with_its_shortest_property() -> None:
    properties = (
        PropertyChange(path="spec.long", before="x" * 50, after="y" * 50),
        PropertyChange(path='spec.labels["nvidia.com/mig.config"]', before="all-1g.5gb", after="all-2g.10gb"),
    )
    one = change("pools:KarpenterPool", NODE_POOL, "pool-a100-node-pool", properties=properties)
    new = change("queues:TeamQueue", QUEUE, "queue-vision-cluster-queue", Verb.CREATE)
    lines = text(Plan(changes=(one, new), unchanged=7), CONTEXT).splitlines()
    assert lines[0] == "Stack dev: 1 to create, 1 to update; 7 unchanged."
    row = "  pool a100    update   NodePool pool-a100-node-pool: nvidia.com/mig.config: all-1g.5gb -> all-2g.10gb"
    assert lines[2:] == [f"{row} (and 1 other)", "  team vision  create   ClusterQueue queue-vision-cluster-queue"]


def test_a_property_with_a_long_value_is_shown_by_its_name() -> None:
    properties = (PropertyChange(path="spec.userData", before="x" * 50, after="y"),)
    one = change("pools:KarpenterPool", NODE_POOL, "pool-a100-node-pool", properties=properties)
    assert text(Plan(changes=(one,)), CONTEXT).endswith("NodePool pool-a100-node-pool: userData")


def test_a_large_plan_has_a_row_for_each_group() -> None:
    many = tuple(change("queues:TeamQueue", QUEUE, f"queue-vision-{number}", Verb.CREATE) for number in range(500))
    lines = text(Plan(changes=(*many, change("storage:Storage", BUCKET, "b", Verb.CREATE))), CONTEXT).splitlines()
    assert lines == [
        "Stack dev: 501 to create; 0 unchanged.",
        "",
        "  storage      1 to create: 1 S3 Bucket",
        "  team vision  500 to create: 500 ClusterQueue (kueue.x-k8s.io)",
    ]


def test_what_was_done_is_in_the_past() -> None:
    done = TerminalContext(stack="dev", done=True)
    plan = Plan(changes=(change("a:B", BUCKET, "x", Verb.CREATE), change("a:B", BUCKET, "y", Verb.DELETE)))
    assert text(plan, done).startswith("Stack dev: 1 created, 1 deleted; 0 unchanged.")


def test_without_changes_it_is_one_line() -> None:
    assert text(Plan(unchanged=390), CONTEXT) == "Stack dev: no changes; 390 resources unchanged."


@pytest.mark.parametrize(("done", "head"), CASES["a refresh says what drifted and what is gone"])
def test_a_refresh_says_what_drifted_and_what_is_gone(done: bool, head: str) -> None:
    context = TerminalContext(stack="dev", operation=Operation.REFRESH, done=done)
    gone = change("storage:Storage", BUCKET, "storage-raw", Verb.DELETE, loses="its objects", fix="undo it")
    plan = Plan(changes=(change("pools:KarpenterPool", NODE_POOL, "x"), gone), unchanged=3)
    blocks = text(plan, context).split("\n\n")
    assert blocks[0] == f"Stack dev: {head}"
    assert blocks[2:] == ["No longer there, and created again by `up`: storage-raw"]
    assert text(Plan(unchanged=3), context) == "Stack dev: no drift; 3 resources unchanged."


def test_a_destroy_says_what_is_lost_and_what_stays() -> None:
    lost = change("storage:Storage", BUCKET, "storage-raw", Verb.DELETE, loses="its objects", fix="undo it")
    kept = change("storage:Storage", BUCKET, "kept", Verb.DELETE, loses="its objects", retained=True)
    queue = change("queues:Queues", QUEUE, "cohort", Verb.DELETE)
    database = change("storage:Storage", "aws:rds/instance:Instance", "rows", Verb.DELETE, remains="final snapshot x")
    plan = Plan(changes=(lost, kept, queue, database))
    shown = text(plan, TerminalContext(stack="dev", operation=Operation.DESTROY)).split("\n\n")
    assert shown[0] == "Stack dev: 4 to delete; 0 unchanged."
    assert shown[2].splitlines() == [
        "Permanently lost:", "  S3 Bucket storage-raw: its objects", "Retained in AWS: kept",
        "Left in AWS, and billed until you delete it:", "  final snapshot x (of rows)",
    ]  # fmt: skip
    assert "fix" not in "".join(shown)


def test_a_replacement_has_its_cause_and_its_loss_and_what_follows_from_it_is_folded() -> None:
    forced = (PropertyChange(path="encrypted", before="false", after="true", forces=True),)
    files = change(
        "storage:Storage", "aws:efs/fileSystem:FileSystem", "files", Verb.REPLACE,
        properties=forced, loses="its files", fix="undo it",
    )  # fmt: skip
    mounts = [
        change("storage:Storage", "aws:efs/mountTarget:MountTarget", f"mount-{zone}", Verb.REPLACE, cause="files")
        for zone in "ab"
    ]
    gone = change("addons:Software", QUEUE, "old", Verb.DELETE)
    kept = change("storage:Storage", BUCKET, "kept", Verb.DELETE, retained=True)
    removed = text(Plan(changes=(files, *mounts, gone, kept)), CONTEXT).split("\n\n")[2].splitlines()
    assert removed == [
        "Replaced or deleted:",
        "  replace EFS FileSystem files; encrypted: false -> true",
        "    loses its files; fix: undo it",
        "  delete S3 Bucket kept: the program no longer declares it; it is retained in AWS",
        "  delete 1 that the program no longer declares: old",
        "  and 2 resources because of files",
    ]


def test_the_cost_is_a_difference_with_its_largest_lines() -> None:
    one = (change("a:B", BUCKET, "x"),)
    mover = Bar(name="pool a100: EC2, nodes", amounts=amounts(0, 5, 9))
    shown = text(Plan(changes=one), TerminalContext(stack="dev", bill=bill(amounts(0, 5, 9), mover))).split("\n\n")[-1]
    assert shown.splitlines() == [
        "Cost a month: floor $0.00, expected +$5.00, ceiling +$9.00; then floor $1.00, expected $2.00, ceiling $3.00",
        "  floor $0.00, expected +$5.00, ceiling +$9.00  pool a100: EC2, nodes",
    ]
    unchanged = text(Plan(changes=one), TerminalContext(stack="dev", bill=bill(Amounts())))
    assert unchanged.endswith("Cost a month, unchanged: floor $1.00, expected $2.00, ceiling $3.00")
    priceless = replace(bill(Amounts()), unpriced=19)
    whole = text(Plan(), TerminalContext(stack="dev", bill=priceless))
    assert whole.endswith("\n  without 19 items that no price is known of: `slipway cost dev` lists all")
    unknown = text(Plan(changes=one), TerminalContext(stack="dev", bill=bill(None, problem="no history")))
    assert unknown.endswith("ceiling $3.00\n  no difference: no history")


def test_findings_are_one_row_for_each_rule() -> None:
    view = FindingView(
        level="advisory", severity="low", rule="pod/root", title="", cases=(("a", "Set it."), ("b", "Set it.")),
        external_ids=(),
    )  # fmt: skip
    result = Evaluation(rules=1, findings=(view,), suppressions=(), suppressed=0)
    shown = text(Plan(changes=(change("a:B", BUCKET, "x"),)), TerminalContext(stack="dev", evaluation=result))
    assert shown.split("\n\n")[-1].splitlines() == [
        "Policies, on the changed resources: 0 mandatory and 2 advisory findings",
        "  advisory pod/root on a and 1 other: Set it.",
    ]


def test_no_row_is_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    properties = (PropertyChange(path="x" * 300, before="a", after="b"),)
    plan = Plan(changes=(change("a:B", BUCKET, "y", properties=properties),))
    monkeypatch.delenv("COLUMNS", raising=False)
    assert max(map(len, text(plan, CONTEXT).splitlines())) == terminal.WIDTH
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert max(map(len, text(plan, CONTEXT).splitlines())) == 80
