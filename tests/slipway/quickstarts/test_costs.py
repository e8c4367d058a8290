"""What a quickstart says that it starts and costs, by what its pool is chosen, and the pages with its YAML."""

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.target import target_of
from slipway.quickstarts import QUICKSTARTS, Chosen, QuickstartRequest, choose
from slipway.quickstarts.request import LIFETIME
from slipway.quickstarts.units import lines, units
from spec.catalog import prices
from spec.pricing.pods import deadline, started
from spec.settings import Platform
from tests.components.workloads.test_crds import FILES, wrong
from tests.slipway.quickstarts.pages import FOLDER, PAGES, STACK, Page
from tests.slipway.quickstarts.test_choose import MODELS, STACKS, platform, request
from tests.support import generated

P4D, G6 = "p4d.24xlarge", "g6.2xlarge"


def changed(stack: str, pool: str, **settings: Any) -> Platform:
    """The platform of a stack, with other settings of a pool."""
    found = platform(stack)
    pools = {**found.pools, pool: found.pools[pool].model_copy(update=settings)}
    return found.model_copy(update={"pools": pools})


def chosen(stack: str, team: str, name: str, pool: str | None = None) -> Chosen:
    return choose(name, request(stack, team, name), pool)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("name", QUICKSTARTS)
def test_no_pool_that_would_do_adds_less_to_the_bill(stack: str, name: str) -> None:
    for team in platform(stack).teams:
        attempts = list(QUICKSTARTS[name].attempts(request(stack, team, name)))
        bound = [one for one in attempts if one.node is not None]
        # Two nodes of CPUs come after those of GPUs, whatever they cost.
        groups = [[one for one in bound if (one.pool == "cpu") is cpu] for cpu in (False, True)]
        for group in groups:
            added = [one.node.added(one.nodes) for one in group if one.node is not None]
            assert added == sorted(added)


@pytest.mark.parametrize("name", ["training-job", "sweep", "vllm", "triton", "notebook"])
def test_a_slice_of_a_large_node_is_not_chosen_where_a_small_node_does(name: str) -> None:
    assert chosen("dev", "vision", name).costs[0].startswith(f"Starts 1 node {G6} (spot) of pool gpu-spot, ")
    assert chosen("dev", "vision", name, "a100").costs[0].startswith(f"Starts 1 node {P4D} (on-demand) of pool a100, ")


def test_a_node_that_runs_in_any_case_is_used_first() -> None:
    kept = changed("dev", "a100", min=1)
    target = target_of(kept, namespace="vision")
    there = choose("vllm", QuickstartRequest(name="vllm", platform=kept, target=target, models=MODELS))
    assert there.place == "pool a100"
    (unit,) = (unit for unit in units(target, kept) if unit.pool.name == "a100")
    node = unit.node(unit.resources())
    assert (node.added(1), node.added(2)) == (Decimal(0), node.hourly)
    one = chosen("prod", "vision", "training-job")
    assert one.costs[0].endswith("of pool a100, unless one has room (1 always run, paid for anyway).")


def test_karpenter_starts_the_lowest_priced_type_that_fits() -> None:
    dev = platform("dev")
    spec = request("dev", "vision", "sweep").target.pools["gpu-spot"]
    assert started(spec, dev, 1000, 1024).kind == G6
    assert started(spec, dev, 12_000, 1024).kind == "g6.4xlarge"
    dear = replace(spec, instance_types=spec.instance_types[::-1])
    assert started(dear, dev, 1000, 1024).kind == G6


def test_the_price_is_that_of_the_catalog_and_dated() -> None:
    price = prices.HERE.instance(P4D)
    assert price is not None
    said = chosen("dev", "vision", "vllm", "a100").costs
    month, most = price.usd * prices.HOURS_PER_MONTH, price.usd * (4 + Decimal("0.25"))
    assert said[1] == f"Price: {price.usd:.2f} USD an hour, {month:,.0f} USD a month if left on (730 h)."
    assert said[2].startswith(f"Price of {price.source.day}. ")
    assert said[3] == f"It ends by itself after 4 h at most, and an empty node 15 min later: {most:.2f} USD."


def test_a_spot_price_has_its_range_and_date() -> None:
    said, on_demand, spot = chosen("dev", "vision", "vllm").costs, prices.HERE.instance(G6), prices.HERE.spot
    assert on_demand is not None
    low, high = (on_demand.usd * (1 - part) for part in (spot.high, spot.low))
    assert f"({low:.2f} to {high:.2f})" in said[1]
    assert said[2].startswith(f"Spot discount of {spot.source.day}. ")


@pytest.mark.parametrize(("name", "nodes", "hours"), [("training-job", 1, 1), ("sweep", 2, 2), ("two-nodes", 2, 1)])
def test_a_job_costs_at_most_its_deadline_times_its_nodes(name: str, nodes: int, hours: int) -> None:
    one, price = chosen("dev", "language", name, "h100"), prices.HERE.instance("p5.4xlarge")
    assert price is not None
    assert deadline(*(each.manifest for each in one.manifests.values())) == hours * 3600
    assert one.costs[0].startswith(f"Starts {nodes} node{'s' * (nodes > 1)} p5.4xlarge ")
    assert f"{price.usd * nodes:.2f} USD an hour" in one.costs[1]
    most = price.usd * nodes * (hours + Decimal("0.25"))
    assert one.costs[3] == f"It ends by itself after {hours} h at most, and an empty node 15 min later: {most:.2f} USD."


def test_shares_of_one_gpu_need_one_node() -> None:
    assert chosen("dev", "vision", "sweep").costs[0].startswith("Starts 1 node ")
    assert chosen("staging", "vision", "sweep").costs[0].startswith("Starts 2 nodes ")


def test_an_unknown_price_is_said_and_ranks_last() -> None:
    (first, *_) = QUICKSTARTS["vllm"].attempts(request("dev", "vision", "vllm"))
    assert first.node is not None
    unknown = replace(first, node=replace(first.node, price=None))
    assert unknown.node is not None
    assert unknown.node.added() == Decimal("Infinity")
    assert list(lines(unknown, {}))[1] == "Price: unknown, the catalog has none for it."


def test_every_quickstart_of_every_team_says_what_it_costs() -> None:
    for stack in STACKS:
        for team in platform(stack).teams:
            for name in QUICKSTARTS:
                text = "\n".join(chosen(stack, team, name).costs)
                assert re.search(r"Starts [12] nodes? \S+ \((spot|on-demand|reserved)\) of pool ", text), text
                assert re.search(r"[\d,.]+ USD an hour.* a month if left on \(730 h\)", text), text
                assert re.search(r"ends by itself after [\d.]+ h at most.*: [\d,.]+ USD\.$", text), text


@pytest.mark.parametrize("name", ["vllm", "triton"])
@pytest.mark.parametrize("stack", STACKS)
def test_a_server_ends_by_itself_unless_it_is_kept(stack: str, name: str) -> None:
    for team in platform(stack).teams:
        one = request(stack, team, name)
        (job,) = (each.manifest for each in choose(name, one).manifests.values() if each.manifest["kind"] == "Job")
        assert job["spec"]["activeDeadlineSeconds"] == LIFETIME
        short = choose(name, replace(one, seconds=5400))
        assert deadline(*(each.manifest for each in short.manifests.values())) == 5400
        assert "after 1.5 h at most" in short.costs[3]
        kept = choose(name, replace(one, seconds=None))
        assert [each.manifest["kind"] for each in kept.manifests.values()] == ["InferenceService"]
        assert kept.costs[-1] == "It runs until you delete it."


def test_a_server_that_ends_needs_neither_kserve_nor_an_address_of_models() -> None:
    one = replace(request("dev", "vision", "vllm"), models="")
    bare = replace(one, target=replace(one.target, runtimes={}))
    (_, job) = (each.manifest for each in choose("vllm", bare).manifests.values())
    (server,) = job["spec"]["template"]["spec"]["containers"]
    assert "--model=/mnt/models/qwen2.5-0.5b-instruct" in server["args"]
    assert "--served-model-name=vllm" in server["args"]
    assert {"name": "models", "mountPath": "/mnt/models", "readOnly": True} in server["volumeMounts"]


def test_a_server_on_a_shared_gpu_fills_its_share() -> None:
    def args(pool: str) -> list[str]:
        job = chosen("dev", "vision", "vllm", pool).manifests["job"].manifest
        return list(job["spec"]["template"]["spec"]["containers"][0]["args"])

    assert args("gpu-spot") == [*args("a100"), "--gpu-memory-utilization=0.22"]


# The pages have the YAML that the command prints, and the command that prints it.


@pytest.fixture(params=list(PAGES))
def page(request: pytest.FixtureRequest) -> Page:
    return PAGES[request.param]


def test_the_yaml_of_a_page_is_current(page: Page) -> None:
    generated.check_part(page.path, "yaml", page.part(), generated.QUICKSTARTS)


def test_a_page_names_the_command_and_the_file_of_its_yaml(page: Page) -> None:
    content = page.path.read_text(encoding="utf-8")
    file = f"{page.name}.yaml"
    commands = [
        f"slipway quickstart {page.name} --stack {STACK} --team {page.team} > {file}",
        f"kubectl apply --server-side -f {file}",
    ]
    run = content.partition("## Run it\n")[2].partition("\n## ")[0]
    assert run.partition("```bash\n")[2].splitlines()[:2] == commands


def test_the_yaml_of_a_page_satisfies_the_crds(page: Page, shared: Path) -> None:
    documents = list(yaml.safe_load_all(page.yaml()))
    assert documents
    for manifest in documents:
        if manifest["kind"] in FILES:
            assert wrong(shared / "charts", manifest) == []


def test_the_folder_has_a_page_for_each_quickstart_and_an_index() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == {*PAGES, "README"}
    listed = re.findall(r"^\| [^|]+ \| \[([a-z-]+)\]", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)
    assert listed == list(PAGES)
