"""Places of a stack, which of them hold a workload, and at what price."""

from decimal import Decimal
from typing import Any

import pytest

from slipway.fit import architectures, choose, fixes
from slipway.fit.choose import Answer, counts
from slipway.fit.places import Place, of_catalog, of_stack
from slipway.fit.table import data, text
from spec.pools import resolve_all
from tests.components.pools.samples import platform
from tests.slipway.fit.samples import work

LLAMA = architectures()["llama-3.1-8b"]
A100 = {"preset": "a100"}
SLICED = {**A100, "mig": {"layout": "all-balanced"}}
H100 = {"preset": "h100", "instanceTypes": ["p5.4xlarge"]}


def places(**pools: dict[str, Any]) -> tuple[Place, ...]:
    return of_stack(resolve_all(platform(pools)))


def asked(found: tuple[Place, ...], **options: Any) -> Answer:
    return choose(work(LLAMA, **{"mode": "serve", "seq": 4096, **options}), found)


def test_a_cpu_pool_is_no_place() -> None:
    assert places(cpu={"preset": "cpu"}) == ()


def test_instances_of_mig_have_their_part_of_memory_and_price() -> None:
    small, middle, large = sorted(places(a100=SLICED), key=lambda place: place.memory_bytes)
    assert [place.resource.partition("-")[2] for place in (small, middle, large)] == ["1g.5gb", "2g.10gb", "3g.20gb"]
    assert [place.memory_bytes // 2**30 for place in (small, middle, large)] == [5, 10, 20]
    assert [place.per_node for place in (small, middle, large)] == [16, 8, 8]
    assert 16 * small.share + 8 * middle.share + 8 * large.share == 1


def test_the_smallest_instance_that_holds_it_is_the_cheapest() -> None:
    served = asked(places(a100=SLICED), precision="int4")
    assert [choice.place.unit for choice in served.choices] == ["2g.10gb of A100-40GB", "3g.20gb of A100-40GB"]
    assert [refusal.place.unit for refusal in served.refusals] == ["1g.5gb of A100-40GB"]


def test_instances_of_mig_never_work_together() -> None:
    answer = asked(places(a100=SLICED), seq=100_000)
    assert answer.choices == ()
    assert all(refusal.why.startswith("one would need") for refusal in answer.refusals)


def test_a_shared_gpu_has_its_part_of_the_memory() -> None:
    pool = {"preset": "gpu-spot", "sharing": {"mode": "time-slicing", "replicas": 2}}
    (shared,), (whole,) = places(work=pool), places(work={"preset": "gpu-spot"})
    assert (shared.unit, shared.memory_bytes, shared.per_node) == ("1/2 of L4", whole.memory_bytes // 2, 2)
    assert shared.share * 2 == whole.share
    assert shared.alone


def test_gpus_of_a_node_share_a_served_model_where_heads_divide() -> None:
    assert list(counts(work(LLAMA, mode="serve"), places(a100=A100)[0])) == [1, 2, 4, 8]
    assert list(counts(work(architectures()["gpt2-xl"], mode="serve"), places(a100=A100)[0])) == [1]


def test_training_goes_beyond_a_node_only_when_it_is_sharded() -> None:
    pool = places(h100={**A100, "max": 3})[0]
    assert list(counts(work(zero=0), pool)) == [1]
    assert list(counts(work(zero=3), pool)) == [1, 2, 4, 8, 16, 24]


def test_a_part_of_a_node_has_its_part_of_the_price_and_more_than_a_node_whole_ones() -> None:
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


def test_what_has_no_price_comes_last_and_says_so() -> None:
    block = {**H100, "instanceTypes": ["p5.48xlarge"], "provisioner": "managed", "min": 2, "max": 2, "efa": True}
    block |= {"zones": ["us-east-1b"]}
    block |= {
        "capacity": {"market": "reserved", "reservation": {"kind": "capacity-block", "id": "cr-0a1b2c3d4e5f67890"}}
    }
    answer = asked(places(block=block, a100=A100))
    assert [choice.place.pool for choice in answer.choices] == ["a100", "block"]
    assert "no dated price" in text(work(LLAMA, mode="serve"), answer)


def test_a_gpu_that_can_not_compute_in_a_format_is_refused_whatever_its_memory() -> None:
    answer = asked(places(a100=A100), precision="fp8")
    assert answer.refusals[0].why == "A100-40GB (ampere) does not compute in fp8"


def test_hints_are_those_that_make_it_fit() -> None:
    found = places(h100=H100)
    training = work(LLAMA, seq=4096)
    assert choose(training, found).choices == ()
    assert fixes(training, found) == ("--loss chunked --checkpointing full --zero 3",)
    assert "--lora 16" in fixes(work(LLAMA, seq=1024), found)


def test_hints_together_where_none_is_enough() -> None:
    found = places(work={**A100, "max": 1})
    (hint,) = fixes(work(architectures()["llama-2-70b"], seq=4096), found)
    assert hint.startswith("--loss chunked --checkpointing full --zero 3")


def test_without_a_stack_every_priced_gpu_type_is_a_place() -> None:
    found = of_catalog()
    assert {"g6.xlarge", "p5.48xlarge"} <= {place.pool for place in found}
    assert all(place.low is not None for place in found)


def test_the_text_names_the_cheapest_first_and_why_others_do_not_hold_it() -> None:
    training = work(LLAMA, zero=3, checkpointing="full")
    shown = text(training, choose(training, places(spot={"preset": "gpu-spot"}, a100=A100, slices=SLICED)))
    assert shown.index("On 8 x A100-40GB of a100, each:") < shown.index("not on 1g.5gb of A100-40GB of slices")
    assert "GiB of usable" in shown


def test_several_nodes_without_a_fabric_are_remarked_on() -> None:
    training = work(LLAMA, zero=3, checkpointing="full", loss="chunked")
    answer = choose(training, places(spot={"preset": "gpu-spot", "max": 20}))
    assert answer.choices[0].nodes > 1
    assert "the network sets the pace" in text(training, answer)


def test_the_data_has_whole_bytes_that_sum_up() -> None:
    served = work(LLAMA, mode="serve")
    first = data(served, choose(served, places(a100=A100)))["choices"][0]
    parts = first["bytes"]
    assert sum(size for name, size in parts.items() if name != "total") == pytest.approx(parts["total"], abs=6)
    assert first["usdPerHour"]["low"] == first["usdPerHour"]["high"]
