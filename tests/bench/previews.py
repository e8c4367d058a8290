"""Previews of stack prod, compared with those of trivial programs of as many resources, and with and without policies.

*Same imports* has as many trivial resources of each provider, and every module that prod imports, prod's own included.
A comparison with it shows what settings, components, large inputs and dependencies cost, and hides the imports, because
both programs pay them. *Plain records* has as many resources, all of them records of AWS, and imports what it needs and
nothing else. A comparison with it shows what a user waits for beyond the engine's work on so many resources: prod's own
imports, the SDK of Kubernetes, and the dry runs by which an API server checks its objects.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from slipway.engine.stacks import SandboxEngine
from slipway.render.recording import Recording
from tests.bench.figure import Figure
from tests.bench.machine import ROOT, Bench, run
from tests.bench.timing import Pairs, Sample, Series
from tests.support import stacks

STACK: Final = "prod"
QUIET: Final = ("--non-interactive", "--color", "never", "--suppress-outputs")
ROUNDS: Final = 5
SAME_IMPORTS: Final = "as many trivial resources of the same providers, with the same imports"
PLAIN_RECORDS: Final = "as many plain records of AWS, without prod's own imports and without Kubernetes"
EMPTY_PACK: Final = """\
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

nothing = ResourceValidationPolicy("nothing", "checks nothing", lambda args, report: None, EnforcementLevel.MANDATORY)
PolicyPack("empty", policies=[nothing])
"""
"""The smallest pack in Python: the engine sends it every resource twice, to remediate and to validate."""
TRIVIAL: Final = '''\
"""Components and resources of one input each, none of which depends on another."""

import importlib

import pulumi
import pulumi_aws as aws
{imports}
for module in {modules!r}:
    # The SDK loads a module when an attribute of it is asked for.
    hasattr(importlib.import_module(module), "anything")

providers = [aws.Provider("aws", region="us-east-1", allowed_account_ids=["111122223333"]){providers}]


class Group(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("trivial:index:Group", name, None, pulumi.ResourceOptions(providers=providers))


groups = [Group(f"group-{{number}}") for number in range({components})]
for number in range({aws}):
    child = pulumi.ResourceOptions(parent=groups[number % {components}])
    aws.mediapackage.Channel(f"channel-{{number}}", channel_id=f"channel-{{number}}", opts=child)
for number in range({kubernetes}):
    child = pulumi.ResourceOptions(parent=groups[number % {components}])
    name = f"map-{{number}}"
    kubernetes.apiextensions.CustomResource(
        name, api_version="v1", kind="ConfigMap", metadata={{"name": name, "namespace": "default"}}, opts=child
    )
'''
"""A channel is a record in the sandbox and has one required input; its module is among the smallest of pulumi-aws. A
ConfigMap is the smallest object of Kubernetes, by the class with which the platform makes nearly all of its own."""


@dataclass(frozen=True)
class Program:
    """A project and a stack of it, run by the CLI of a sandbox."""

    engine: SandboxEngine
    directory: Path
    stack: str
    settings: Path | None = None

    def preview(self, *arguments: str) -> None:
        """`pulumi preview`, which must succeed."""
        self.run("preview", *QUIET, *arguments)

    def run(self, operation: str, *arguments: str) -> None:
        """A command of Pulumi on the stack, which must succeed."""
        file = ("--config-file", str(self.settings)) if self.settings else ()
        argv = [str(self.engine.pulumi), operation, "--stack", self.stack, *file, *arguments]
        run(argv, directory=self.directory, environment=self.engine.environment)


def _prod(bench: Bench) -> Program:
    """Stack prod of the checkout; the stack is created in the sandbox's backend."""
    engine = bench.engine()
    return Program(engine, ROOT, STACK, engine.prepare(ROOT / "stacks", STACK))


def write_trivial(directory: Path, recording: Recording, *, plain: bool) -> Path:
    """Write a program of as many components (without the stack itself) and resources (without the providers)."""
    custom = [found.type for found in recording if found.custom]
    aws, kubernetes = (sum(token.startswith(f"{name}:") for token in custom) for name in ("aws", "kubernetes"))
    services = {token.split(":")[1].partition("/")[0] for token in custom if token.startswith("aws:")}
    same = [
        "infra.program",
        *(f"pulumi_aws.{service}" for service in sorted(services)),
        *(f"pulumi_kubernetes.{name}" for name in ("apiextensions", "helm.v3", "meta.v1")),
    ]
    program = TRIVIAL.format(
        components=sum(not found.custom for found in recording) - 1,
        # One more record replaces the second provider.
        aws=aws + kubernetes + 1 if plain else aws,
        kubernetes=0 if plain else kubernetes,
        modules=[] if plain else same,
        imports="" if plain else "import pulumi_kubernetes as kubernetes\n",
        providers="" if plain else ', kubernetes.Provider("kubernetes", kubeconfig="")',
    )
    return _written(directory, "Pulumi.yaml", "name: trivial\nruntime: python\n", program)


def _written(directory: Path, name: str, text: str, program: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_text(text, encoding="utf-8")
    (directory / "__main__.py").write_text(program, encoding="utf-8")
    return directory


def _trivial(bench: Bench, name: str, *, plain: bool) -> Program:
    program = Program(bench.engine(), bench.directory / name, name)
    if not program.directory.exists():
        write_trivial(program.directory, stacks.recorded(STACK), plain=plain)
        argv = [str(program.engine.pulumi), "stack", "init", name, "--non-interactive"]
        run(argv, directory=program.directory, environment=program.engine.environment)
    return program


def _in_turn(bench: Bench, actions: Sequence[Callable[[], object]]) -> list[Series]:
    """Run things in turn, A B C A B C, so that whatever else the machine does affects all of them: one round to warm
    up, which does not count, and then `ROUNDS` with a watch on them and on the sandbox."""
    watch = bench.stopwatch()
    taken: list[list[Sample]] = [[] for _ in actions]
    for number in range(ROUNDS + 1):
        for action, samples in zip(actions, taken, strict=True):
            with watch.measuring(samples if number else []):
                action()
    return [Series(samples) for samples in taken]


def preview(bench: Bench) -> list[Figure]:
    """Two ratios with a bound each, measured in turn in one run, and a third without.

    A preview from an empty stack is what a pull request shows: it checks and plans every resource. That of a stack that
    exists is taken as `slipway preview` does it, with a refresh. It has no bound, because a refresh reads every object
    of prod, and of the plain records there is nothing to read.
    """
    bench.restart()
    ours = _prod(bench)
    same, plain = _trivial(bench, "same-imports", plain=False), _trivial(bench, "plain-records", plain=True)
    bench.say(f"previews from an empty stack, {ROUNDS + 1} rounds")
    first, second, third = _in_turn(bench, [ours.preview, same.preview, plain.preview])
    bench.with_prod()
    plain.run("up", "--yes", "--skip-preview", *QUIET)
    bench.say(f"previews of a stack that exists, {ROUNDS + 1} rounds")
    existing = _in_turn(bench, [partial(program.preview, "--refresh") for program in (ours, plain)])
    return [
        _ratio("preview, same imports", Pairs(first, second), 1.3, SAME_IMPORTS),
        _ratio("preview, plain records", Pairs(first, third), 2.0, PLAIN_RECORDS),
        _ratio("preview, existing stack", Pairs(*existing), None, PLAIN_RECORDS),
    ]


def _ratio(name: str, pairs: Pairs, bound: float | None, baseline: str) -> Figure:
    """The figure of some pairs: prod first, the baseline second."""
    held = pairs.ratio
    note = (
        f"prod {pairs.first.wall:.2f} s by the clock and {pairs.first.cpu:.2f} s of processor, "
        f"baseline {pairs.second.wall:.2f} s and {pairs.second.cpu:.2f} s"
    )
    how = f"prod against {baseline}, in turn; {held.how}"
    return Figure(name=name, value=held.value, unit="x", bound=bound, how=how, notes=(note,))


def policies(bench: Bench) -> list[Figure]:
    """Previews from an empty stack with the policy pack, with one of a rule that checks nothing, and without, in turn.

    The bound is on the first less the last. The second less the last is what any pack takes.
    """
    bench.restart()
    program = _prod(bench)
    bench.say(f"previews with the policy pack, an empty one and none, {ROUNDS + 1} rounds")
    nothing = bench.directory / "empty-pack"
    _written(nothing, "PulumiPolicy.yaml", "runtime: python\nversion: 0.1.0\n", EMPTY_PACK)
    with_pack = [partial(program.preview, "--policy-pack", str(pack)) for pack in (ROOT / "policies", nothing)]
    ours, empty, none = _in_turn(bench, [*with_pack, program.preview])
    return [
        _difference("policies", Pairs(ours, none), 2.0, "a preview of prod with the pack, less one without"),
        _difference(
            "policies, empty pack", Pairs(empty, none), None, "the same, the pack being a rule that checks nothing"
        ),
    ]


def _difference(name: str, pairs: Pairs, bound: float | None, what: str) -> Figure:
    held = pairs.difference
    note = f"with {pairs.first.wall:.2f} s by the clock, without {pairs.second.wall:.2f} s"
    return Figure(name=name, value=held.value, unit="s", bound=bound, how=f"{what}; {held.how}", notes=(note,))
