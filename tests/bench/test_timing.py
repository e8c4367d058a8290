import pytest

from tests.bench.timing import BUSY, Pairs, Sample, Series, Stopwatch, share_of_others


def series(*samples: tuple[float, float], others: float = 0.0) -> Series:
    return Series([Sample(wall, cpu, others) for wall, cpu in samples])


def test_the_clock_counts_on_a_quiet_machine() -> None:
    held = series((3.0, 1.0), (9.0, 1.1), (2.0, 0.9), others=BUSY).held
    assert held.value == 3.0
    assert held.how.endswith("the clock counts")


def test_processor_time_counts_on_a_busy_machine_and_is_reported() -> None:
    held = series((3.0, 1.0), (9.0, 1.1), (2.0, 0.9), others=BUSY + 0.01).held
    assert held.value == 1.0
    assert "which counts: others used 21% of the machine" in held.how


def test_a_ratio_is_the_median_over_pairs_and_not_the_ratio_of_medians() -> None:
    # The machine was slow for the middle pair, which met both.
    pairs = Pairs(series((2.0, 2.0), (20.0, 2.0), (3.0, 3.0)), series((1.0, 1.0), (10.0, 1.0), (2.0, 1.0)))
    assert pairs.ratio.value == 2.0
    assert pairs.difference.value == 1.0


def test_a_pair_is_busy_when_either_was() -> None:
    pairs = Pairs(series((4.0, 3.0)), series((1.0, 1.0), others=0.9))
    assert pairs.ratio.value == 3.0
    assert pairs.difference.value == 2.0


@pytest.mark.parametrize(("busy", "own", "share"), [(8.0, 2.0, 0.75), (2.0, 2.0, 0.0), (1.9, 2.0, 0.0)])
def test_the_share_of_others_is_what_we_did_not_use(busy: float, own: float, share: float) -> None:
    assert share_of_others(busy, own, wall=4.0, processors=2) == share


class Fake:
    def __init__(self) -> None:
        self.own = self.machine = self.clock = 0.0

    def stopwatch(self) -> Stopwatch:
        return Stopwatch(lambda: self.own, lambda: self.machine, lambda: self.clock, processors=2)

    def work(self) -> None:
        self.own, self.machine, self.clock = self.own + 1, self.machine + 3, self.clock + 2


def test_a_block_is_measured_from_its_beginning_to_its_end() -> None:
    fake, samples = Fake(), list[Sample]()
    fake.work()
    with fake.stopwatch().measuring(samples):
        fake.work()
    assert samples == [Sample(wall=2.0, cpu=1.0, others=0.5)]


def fail() -> None:
    msg = "no"
    raise ValueError(msg)


def test_a_block_that_fails_leaves_no_sample() -> None:
    samples: list[Sample] = []
    with pytest.raises(ValueError, match="no"), Fake().stopwatch().measuring(samples):
        fail()
    assert samples == []
