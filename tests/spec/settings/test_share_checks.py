"""Shares of a pool whose instance types are wrong: the mistake is reported once, at the pool."""

from tests.spec.settings.stack import changed, problems, team_with_gpus


def test_a_share_of_a_pool_that_mixes_types_with_and_without_gpus_is_no_second_mistake() -> None:
    mixed = {"preset": "a100", "instanceTypes": ["p4d.24xlarge", "m7i.xlarge"], "localNvme": "none"}
    found = problems(changed({"addons.kueue": {}, "pools.mixed": mixed, "teams.vision": team_with_gpus(1, "mixed")}))
    assert [problem.path for problem in found if problem.path.startswith("teams.")] == []
    (problem,) = (problem for problem in found if "the same GPU" in problem.rule)
    assert problem.path == "pools.mixed.instanceTypes"
