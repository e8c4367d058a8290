"""A recording has everything that the program registered, and nothing of a previous run."""

import asyncio
import ctypes
import gc
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pulumi
import pytest

from slipway.render.layout import files_of
from slipway.render.recorder import record
from slipway.render.recording import RenderError
from tests.slipway.render.programs import Pair, Thing, Toy, everything

TOY = "urn:pulumi:dev::slipway::pulumi:providers:toy::toy"
PAIR = "urn:pulumi:dev::slipway::toy:parts:Pair::pair"
BELOW_PAIR = "urn:pulumi:dev::slipway::toy:parts:Pair$"
THING = "urn:pulumi:dev::slipway::toy:index:Thing::thing"


def test_urns_chain_the_types_of_all_ancestors_but_the_stack() -> None:
    assert list(record(everything, stack="dev").resources) == [
        TOY,
        "urn:pulumi:dev::slipway::pulumi:pulumi:Stack::slipway-dev",
        "urn:pulumi:dev::slipway::toy:index:Thing$toy:index:Thing::child",
        THING,
        f"{BELOW_PAIR}toy:index:Thing::pair-left",
        f"{BELOW_PAIR}toy:index:Thing::pair-right",
        f"{BELOW_PAIR}toy:parts:Pair$toy:index:Thing::inner-left",
        f"{BELOW_PAIR}toy:parts:Pair$toy:index:Thing::inner-right",
        f"{BELOW_PAIR}toy:parts:Pair::inner",
        PAIR,
    ]


def test_every_option_is_recorded() -> None:
    options = record(everything, stack="dev").named("thing").options
    assert options.retain_on_delete
    assert options.delete_before_replace is True
    assert options.ignore_changes == ("labels", "size")
    assert options.replace_on_changes == ("text",)
    assert options.deleted_with == f"{BELOW_PAIR}toy:index:Thing::pair-left"
    assert options.provider == TOY
    assert options.custom_timeouts == {"create": "5m", "delete": "1h"}
    assert options.aliases == ({"name": "previous"}, "urn:pulumi:dev::slipway::toy:index:Thing::older")


def test_dependencies_by_option_and_by_property_are_distinguished() -> None:
    options = record(everything, stack="dev").named("thing").options
    assert options.property_dependencies == {"text": (f"{BELOW_PAIR}toy:parts:Pair$toy:index:Thing::inner-right",)}
    assert f"{BELOW_PAIR}toy:index:Thing::pair-right" in options.depends_on, "depends_on a component means its children"
    assert f"{BELOW_PAIR}toy:parts:Pair$toy:index:Thing::inner-right" in options.dependencies


def test_protection_is_inherited_and_can_be_overridden() -> None:
    recording = record(everything, stack="dev")
    assert recording.named("inner-right").options.protect
    assert not recording.named("child").options.protect


def test_children_inherit_the_options_that_the_engine_passes_on() -> None:
    child = record(everything, stack="dev").named("child").options
    assert child.retain_on_delete
    assert child.deleted_with == f"{BELOW_PAIR}toy:index:Thing::pair-left"
    assert child.provider == TOY


def test_secrets_are_masked_at_any_depth_and_their_paths_listed() -> None:
    recording = record(everything, stack="dev")
    inputs = recording.named("thing").inputs
    assert inputs.plain["password"] == "[secret]"
    assert inputs.plain["nested"] == {"keys": "[secret]", "size": 3, "share": 0.5, "on": True}
    assert inputs.secrets == ("nested.keys", "password")
    assert recording.exports.plain["password"] == "[secret]"
    assert "hush" not in repr(recording)


def test_an_output_without_a_sample_is_unknown() -> None:
    def program() -> None:
        toy = Toy()
        first = Thing("first", pulumi.ResourceOptions(provider=toy), text="a")
        Thing("second", pulumi.ResourceOptions(provider=toy), text=first.copy, deep={"list": [first.copy]})

    inputs = record(program, stack="dev").named("second").inputs
    assert inputs.plain == {"text": "[unknown]", "deep": {"list": ["[unknown]"]}}
    assert inputs.unknowns == ("deep.list[0]", "text")


def test_a_preview_leaves_ids_unknown() -> None:
    recording = record(everything, stack="dev", preview=True)
    assert recording.named("thing").inputs.plain["text"] == "[unknown]"
    assert recording.exports.plain["id"] == "[unknown]"
    assert recording.resources.keys() == record(everything, stack="dev").resources.keys()


def test_the_program_sees_its_stack_its_config_and_whether_it_is_a_preview() -> None:
    def program() -> None:
        settings = pulumi.Config("slipway").require_object("platform")
        pulumi.export("seen", [pulumi.get_project(), pulumi.get_stack(), settings["a"], pulumi.runtime.is_dry_run()])
        pulumi.export("text", pulumi.Config("slipway").get("text"))

    config = {"slipway:platform": {"a": [1, 2]}, "slipway:text": "plain"}
    assert record(program, stack="prod", config=config).exports.plain == {
        "seen": ["slipway", "prod", [1, 2], False],
        "text": "plain",
    }
    assert record(program, stack="prod", config=config, preview=True).exports.plain["seen"][3] is True


def test_the_config_of_one_run_does_not_affect_the_next() -> None:
    def program() -> None:
        pulumi.export("value", pulumi.Config("slipway").get("value") or "none")

    assert record(program, stack="dev", config={"slipway:value": "first"}).exports.plain == {"value": "first"}
    assert record(program, stack="dev").exports.plain == {"value": "none"}


def test_two_runs_in_one_process_give_the_same_files() -> None:
    assert files_of(record(everything, stack="dev")) == files_of(record(everything, stack="dev"))


def test_processes_with_different_hash_seeds_give_the_same_files() -> None:
    code = (
        "from tests.slipway.render.programs import everything;"
        "from slipway.render.recorder import record; from slipway.render.layout import files_of;"
        "print(files_of(record(everything, stack='dev')))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1
    assert "pair-left" in texts.pop()


def test_log_messages_of_the_program_are_recorded() -> None:
    assert record(everything, stack="dev").messages == (("warning", "mind the gap"),)


def test_a_component_has_its_registered_outputs() -> None:
    recording = record(everything, stack="dev")
    assert recording.resources[PAIR].outputs.plain.keys() == {"left"}


def test_a_resource_without_a_provider_is_distinguished_from_one_that_inherits_it() -> None:
    def program() -> None:
        Pair("good", pulumi.ResourceOptions(providers=[Toy()]))
        Thing("bad", text="x")

    assert record(program, stack="dev").default_provider_users == ("urn:pulumi:dev::slipway::toy:index:Thing::bad",)


class OopsError(Exception):
    pass


def oops(where: str) -> Any:
    raise OopsError(where)


def fails_at_once() -> None:
    oops("at once")


def fails_after_resources() -> None:
    everything()
    oops("after resources")


def fails_in_apply() -> None:
    pulumi.export("x", Thing("thing", pulumi.ResourceOptions(provider=Toy()), text="a").id.apply(oops))


@pytest.mark.parametrize("program", [fails_at_once, fails_after_resources, fails_in_apply])
def test_errors_of_the_program_are_raised_unchanged_and_the_next_run_is_clean(
    program: Callable[[], None], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(OopsError):
        record(program, stack="dev")
    assert len(record(everything, stack="dev")) == 10
    assert capfd.readouterr().err == "", "nothing is logged about outputs that were never awaited"


def invokes() -> None:
    pulumi.runtime.invoke("aws:index/getRegion:getRegion", {})


def reads() -> None:
    Thing("thing", pulumi.ResourceOptions(provider=Toy(), id="there-already"), text="a")


def starts_a_process() -> None:
    with suppress(RenderError):
        subprocess.run([sys.executable, "-c", ""], check=True)


def writes() -> None:
    with suppress(RenderError):
        Path(os.devnull).write_text("")


def calls_c() -> None:
    ctypes.CDLL(None)


def starts_a_thread() -> None:
    threading.Thread(target=int).start()


def connects() -> None:
    socket.create_connection(("127.0.0.1", 9), timeout=1)


def twice() -> None:
    toy = pulumi.ResourceOptions(provider=Toy())
    Thing("thing", toy, text="a")
    Thing("thing", toy, text="b")


def with_asset() -> None:
    Thing("thing", pulumi.ResourceOptions(provider=Toy()), file=pulumi.StringAsset("x"))


def test_an_asset_is_recorded() -> None:
    (thing,) = (each for each in record(with_asset, stack="dev") if each.type == "toy:index:Thing")
    assert "x" in thing.inputs.plain["file"].values()


class Remote(pulumi.ComponentResource):
    def __init__(self) -> None:
        super().__init__("toy:index:Remote", "remote", {}, None, remote=True)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (invokes, ["aws:index/getRegion:getRegion", "can't invoke a cloud API"]),
        (reads, ["thing", "can't read existing resources"]),
        (twice, ["toy:index:Thing::thing", "two resources"]),
        (Remote, ["toy:index:Remote::remote", "plugin"]),
        (starts_a_process, ["subprocess.Popen"]),
        (connects, ["socket."]),
        (writes, ["open"]),
        (calls_c, ["ctypes."]),
        (starts_a_thread, ["Thread.start"]),
    ],
)
def test_what_needs_a_cloud_or_another_program_is_refused_by_its_name(
    program: Callable[[], None], words: list[str]
) -> None:
    with pytest.raises(RenderError) as caught:
        record(program, stack="dev")
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_program_can_be_recorded_while_the_caller_runs_an_event_loop() -> None:
    async def caller() -> int:
        return len(record(everything, stack="dev"))

    assert asyncio.run(caller()) == 10


def test_a_run_leaves_the_callers_pulumi_runtime_unchanged() -> None:
    before = pulumi.get_stack()
    record(everything, stack="a-name-of-its-own")
    assert pulumi.get_stack() == before
    assert pulumi.runtime.get_root_resource() is None


def test_garbage_collection_is_enabled_again_after_any_run() -> None:
    record(everything, stack="dev")
    assert gc.isenabled()
    with pytest.raises(OopsError):
        record(fails_at_once, stack="dev")
    assert gc.isenabled()
