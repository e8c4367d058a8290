"""Places of a stack: which of them hold a workload, and at what price."""

from decimal import Decimal
from typing import Any

import pytest

from slipway.fit import architectures, choose, fixes
from slipway.fit.places import Answer, FitPlace, counts, of_catalog, of_stack
from slipway.fit.table import data, text
from tests.components.pools.samples import BLOCK, platform
from tests.slipway.fit.published import work

LLAMA = architectures()["llama-3.1-8b"]
A100 = {"preset": "a100"}
SLICED = {**A100, "mig": {"layout": "all-balanced"}}
H100 = {"preset": "h100", "instanceTypes": ["p5.4xlarge"]}


def places(**pools: dict[str, Any]) -> tuple[FitPlace, ...]:
    return of_stack(platform(pools))


def serve(candidates: tuple[FitPlace, ...], **options: Any) -> Answer:
    return choose(work(LLAMA, **{"mode": "serve", "seq": 4096, **options}), candidates)


def test_a_cpu_pool_has_no_place() -> None:
    assert places(cpu={"preset": "cpu"}) == ()


def test_mig_instances_have_their_part_of_memory_and_price() -> None:
    small, middle, large = sorted(places(a100=SLICED), key=lambda place: place.memory_bytes)
    assert [place.resource.partition("-")[2] for place in (small, middle, large)] == ["1g.5gb", "2g.10gb", "3g.20gb"]
    assert [place.memory_bytes // 2**30 for place in (small, middle, large)] == [5, 10, 20]
    assert [place.per_node for place in (small, middle, large)] == [16, 8, 8]
    assert 16 * small.share + 8 * middle.share + 8 * large.share == 1


def test_the_smallest_instance_that_holds_it_is_the_cheapest() -> None:
    served = serve(places(a100=SLICED), precision="int4")
    assert [choice.place.unit for choice in served.choices] == ["2g.10gb of A100-40GB", "3g.20gb of A100-40GB"]
    assert [refusal.place.unit for refusal in served.refusals] == ["1g.5gb of A100-40GB"]


def test_mig_instances_never_share_a_workload() -> None:
    answer = serve(places(a100=SLICED), seq=100_000)
    assert answer.choices == ()
    assert all(refusal.why.startswith("one unit needs") for refusal in answer.refusals)


def test_a_shared_gpu_has_its_part_of_the_memory() -> None:
    pool = {"preset": "gpu-spot", "sharing": {"mode": "time-slicing", "replicas": 2}}
    (shared,), (whole,) = places(work=pool), places(work={"preset": "gpu-spot"})
    assert (shared.unit, shared.memory_bytes, shared.per_node) == ("1/2 of L4", whole.memory_bytes // 2, 2)
    assert shared.share * 2 == whole.share
    assert shared.alone


def test_a_served_model_is_split_over_gpus_only_if_its_heads_divide() -> None:
    assert list(counts(work(LLAMA, mode="serve"), places(a100=A100)[0])) == [1, 2, 4, 8]
    assert list(counts(work(architectures()["gpt2-xl"], mode="serve"), places(a100=A100)[0])) == [1]


def test_training_uses_several_nodes_only_if_it_is_sharded() -> None:
    pool = places(h100={**A100, "max": 3})[0]
    assert list(counts(work(zero=0), pool)) == [1]
    assert list(counts(work(zero=3), pool)) == [1, 2, 4, 8, 16, 24]


def test_part_of_a_node_is_priced_pro_rata_and_more_than_one_node_as_whole_nodes() -> None:
    (place,) = places(a100=A100)
    node = place.price(8)
    assert node is not None
    assert place.price(2) == (node[0] / 4, node[1] / 4)
    assert place.price(9) == (node[0] * 2, node[1] * 2)


def test_spot_has_a_range_of_prices() -> None:
    (place,) = places(work={"preset": "gpu-spot"})
    price = place.price(1)
    assert price is not None
    assert Decimal(0) < price[0] < price[1]


def test_a_place_without_a_price_comes_last() -> None:
    answer = serve(places(block=dict(BLOCK), a100=A100))
    assert [choice.place.pool for choice in answer.choices] == ["a100", "block"]
    assert "no dated price" in text(work(LLAMA, mode="serve"), answer)


def test_a_capacity_block_has_the_price_that_the_stack_declares() -> None:
    declared = {"usage": {"pools": {"block": {"nodes": 4, "usdPerNodeHour": 31.464}}}}
    (place,) = of_stack(platform({"block": BLOCK}, cost=declared))
    assert place.price(8) == (Decimal("31.464"), Decimal("31.464"))
    assert place.price(1) == (Decimal("3.933"), Decimal("3.933"))


def test_a_gpu_that_does_not_support_the_format_is_refused() -> None:
    answer = serve(places(a100=A100), precision="fp8")
    assert answer.refusals[0].why == "A100-40GB (ampere) does not support fp8"


def test_hints_are_options_that_make_it_fit() -> None:
    candidates = places(h100=H100)
    training = work(LLAMA, seq=4096)
    assert choose(training, candidates).choices == ()
    assert fixes(training, candidates) == ("--loss chunked --checkpointing full --zero 3",)
    assert "--lora 16" in fixes(work(LLAMA, seq=1024), candidates)


def test_hints_are_combined_if_none_is_enough_alone() -> None:
    candidates = places(work={**A100, "max": 1})
    (hint,) = fixes(work(architectures()["llama-2-70b"], seq=4096), candidates)
    assert hint.startswith("--loss chunked --checkpointing full --zero 3")


def test_without_a_stack_every_gpu_type_with_a_price_is_a_place() -> None:
    candidates = of_catalog()
    assert {"g6.xlarge", "p5.48xlarge"} <= {place.pool for place in candidates}
    assert all(place.low is not None for place in candidates)


def test_the_text_shows_the_cheapest_place_first_and_why_others_do_not_fit() -> None:
    training = work(LLAMA, zero=3, checkpointing="full")
    shown = text(training, choose(training, places(spot={"preset": "gpu-spot"}, a100=A100, slices=SLICED)))
    assert shown.index("Memory per unit on 8 x A100-40GB of a100:") < shown.index(
        "does not fit on 1g.5gb of A100-40GB of slices"
    )
    assert "GiB used / usable" in shown


def test_several_nodes_without_efa_are_noted() -> None:
    training = work(LLAMA, zero=3, checkpointing="full", loss="chunked")
    answer = choose(training, places(spot={"preset": "gpu-spot", "max": 20}))
    assert answer.choices[0].nodes > 1
    assert "the network limits the training speed" in text(training, answer)


def test_the_bytes_in_json_add_up_to_the_total() -> None:
    served = work(LLAMA, mode="serve")
    first = data(served, choose(served, places(a100=A100)))["choices"][0]
    parts = first["bytes"]
    assert sum(size for name, size in parts.items() if name != "total") == pytest.approx(parts["total"], abs=6)
    assert first["usdPerHour"]["low"] == first["usdPerHour"]["high"]


def test_serving_in_stages_takes_whole_nodes_beyond_one() -> None:
    kimi = work(architectures()["kimi-k2"], mode="serve", precision="checkpoint", pipeline_parallel=2)
    pool = places(h200={"preset": "h100", "max": 3, "instanceTypes": ["p5.48xlarge"]})[0]
    assert list(counts(kimi, pool)) == [2, 4, 8, 16]


def test_tensor_parallel_training_takes_the_units_of_a_copy_and_multiples_with_zero() -> None:
    pool = places(a100={**A100, "max": 2})[0]
    assert list(counts(work(tensor_parallel=2), pool)) == [2]
    assert list(counts(work(tensor_parallel=2, zero=1), pool)) == [2, 4, 8, 16]
    assert list(counts(work(tensor_parallel=16, zero=1), pool)) == []


def test_a_place_without_the_units_of_a_copy_says_so() -> None:
    (one,) = places(work={"preset": "gpu-spot", "max": 1})
    refusal = choose(work(tensor_parallel=4), [one]).refusals[0]
    assert refusal.why == "it doesn't have the 4 units of one copy of the model"


def test_the_text_shows_layers_experts_and_formulas() -> None:
    oss = work(architectures()["gpt-oss-20b"], mode="serve", precision="checkpoint", seq=4096)
    shown = text(oss, choose(oss, places(a100=A100)))
    assert "gpt-oss-20b: 20.9 billion parameters (4.19 billion active per token); 24 layers of width 2880" in shown
    assert "12 with grouped-query attention over 128 tokens (64 heads, 8 key-value heads)" in shown
    assert "4 of 32 experts per token" in shown
    assert "serve as stored in mxfp4; 1 x 4096 tokens" in shown
    assert "= 1 x (12 layers x 8 heads x (64 + 64) x 2 B x 128 tokens + 12 layers" in shown
