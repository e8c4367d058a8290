"""What is expected of manifests: the file `try.yaml` beside those of a folder, or the part `expect` of a scenario."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import Field, ValidationError

from slipway.why.answer import Layer
from slipway.why.manifests import located
from slipway.why.shapes import decoded
from spec import strict_yaml
from spec.errors import refuse
from spec.quantities import seconds
from spec.settings.base import Duration, Model

FILE: Final = "try.yaml"
SUFFIXES: Final = (".yaml", ".yml", ".json")
GENERATED: Final = "try"
"""End of the name of an object whose manifest has `generateName`, as many samples of upstream projects."""
CREATE: Final = "create"
DELETE: Final = "delete"
M = TypeVar("M", bound=Model)
LAYERS: Final = tuple(str(layer) for layer in Layer)
WITHIN: Final = "60s"  # time that objects without a duration of their own get


class Expectation(Model):
    """What is expected of one object; without any of these, that the API server accepts it."""

    admitted: bool = False
    """Kueue admits it."""
    runs_on: str | None = None
    """Pool on whose nodes all its pods run."""
    completes_within: Duration | None = None
    """It finishes within this time."""
    refused_because: str | None = None
    """The API server refuses it, or its pods, and says this."""
    held_by: str | None = None
    """The layer that holds it, as `slipway why` names it."""
    because: str | None = None
    """What `slipway why` says about it, in part."""
    starts_within: Duration | None = None
    """All its pods run within this time after it was created."""
    preempted_by: str | None = None
    """Kueue preempts it for this object."""
    starts_again: bool | None = None
    """Its pods were lost, and others run in their place; false: none of them is lost while it runs."""
    node_replaced: bool = False
    """A node on which it ran first is gone, and it has run on another."""
    fails: bool = False
    """It ends as failed."""
    costs_at_most: int | None = Field(default=None, gt=0)
    """USD that it adds to the bill at most, as `slipway why FILE` says."""


class Expectations(Model):
    """The file."""

    namespace: str | None = None
    """Namespace of all objects; the option `--namespace` overrides it."""
    within: Duration = WITHIN
    """Time for expectations without a duration of their own."""
    expect: dict[str, Expectation] = Field(default_factory=dict)
    """By object, as kubectl writes it: `job/train`."""


@dataclass(frozen=True)
class Step:
    """Something that happens once."""

    action: str  # what happens: `create`, or an event of `slipway.trial.events`
    subject: str = ""  # name of the object to which it happens, or empty
    detail: Mapping[str, Any] | None = None  # more about the event
    at: float = 0.0  # seconds after the start
    after: tuple[str, str] | None = None
    """Name of an object, and the state in which it has to be before: a layer of `slipway why`."""

    @property
    def text(self) -> str:
        """`reclaim job/train`."""
        detail = list(_words(self.detail or {}))
        return " ".join(one for one in (self.action, self.subject, *detail) if one)


def _words(detail: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """`cluster.version 1.36`."""
    for key, value in detail.items():
        if isinstance(value, Mapping):
            yield from _words(value, f"{above}{key}.")
        else:
            yield f"{above}{key} {value}"


@dataclass(frozen=True)
class Trial:
    """Manifests, and what is expected of them."""

    namespace: str | None  # namespace of objects whose manifests have none; None if the file names none
    manifests: Mapping[str, dict[str, Any]]  # the objects by name: `job/train`
    expected: Mapping[str, Expectation]  # what is expected of each
    seconds: float  # time for an object
    steps: Sequence[Step] = ()
    """What happens, in this order. Of a folder all objects are created at once, in the order of its files."""

    @property
    def timeline(self) -> Sequence[Step]:
        """The steps; without any, each object is created at the start."""
        return self.steps or [Step(CREATE, name) for name in self.manifests]

    def within(self, name: str) -> float:
        """Seconds that an object gets."""
        own = self.expected[name].completes_within
        return float(seconds(own)) if own else self.seconds


def read(folder: Path) -> Trial:
    """Read a folder."""
    if not folder.is_dir():
        refuse(f"{folder} is not a folder of manifests: name one, such as examples/manifests")
    files = sorted(one for one in folder.iterdir() if one.suffix in SUFFIXES and one.name != FILE)
    manifests: dict[str, dict[str, Any]] = {}
    for path in files:
        for at, document in located(strict_yaml.documents(path)):
            one = _named(decoded([(at, document)], str(path))[0][1])
            name = name_of(one, path)
            if name in manifests:
                refuse(f"{path}: {name} is in the folder twice: give each object a name of its own")
            manifests[name] = dict(one)
    if not manifests:
        refuse(f"{folder} has no manifests: put files with {', '.join(SUFFIXES)} there")
    given = _expectations(folder / FILE)
    if unknown := sorted(set(given.expect) - set(manifests)):
        refuse(f"{folder / FILE}: expect: {', '.join(unknown)}: not in the folder, which has {', '.join(manifests)}")
    expected = {name: given.expect.get(name, Expectation()) for name in manifests}
    return Trial(given.namespace, manifests, expected, float(seconds(given.within)))


def _named(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """One with a `generateName` gets a name that expectations can tell: `job/sample-try` for `sample-`."""
    metadata = manifest.get("metadata") or {}
    begins = metadata.get("generateName")
    if metadata.get("name") or not begins:
        return manifest
    rest = {key: value for key, value in metadata.items() if key != "generateName"}
    return {**manifest, "metadata": {**rest, "name": f"{begins}{GENERATED}"}}


def name_of(manifest: Mapping[str, Any], path: Path) -> str:
    """`job/train`. Raises SlipwayError if the manifest lacks what makes its name."""
    ((_, one),) = decoded([((), manifest)], str(path))
    metadata = one.get("metadata") or {}
    if not manifest.get("apiVersion") or not manifest.get("kind") or not metadata.get("name"):
        refuse(f"{path}: each manifest needs apiVersion, kind and metadata.name")
    return f"{str(manifest['kind']).lower()}/{metadata['name']}"


def _expectations(path: Path) -> Expectations:
    if not path.is_file():
        return Expectations()
    (document,) = strict_yaml.documents(path)[:1] or [{}]
    found = parsed(Expectations, document, path)
    refuse_unknown_layers(found.expect, path)
    return found


def parsed(model: type[M], document: Any, path: Path) -> M:
    """A document of a file as a model. Raises SlipwayError with the path of each wrong field."""
    try:
        return model.model_validate(document or {})
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        refuse(f"{path}: {problems}", error)


def refuse_unknown_layers(expect: Mapping[str, Expectation], path: Path) -> None:
    """Raises SlipwayError if an expectation names no layer of `slipway why`."""
    for name, one in expect.items():
        if one.held_by is not None and one.held_by not in LAYERS:
            refuse(f"{path}: expect.{name}.heldBy: no layer is called {one.held_by}: use one of {', '.join(LAYERS)}")
