"""Shapes: each has its published number of parameters."""

import pytest

from slipway.fit.architectures import Architecture, architectures, nearest


@pytest.mark.parametrize("model", architectures().values(), ids=list(architectures()))
def test_a_shape_has_the_published_number_of_parameters(model: Architecture) -> None:
    assert model.counted == pytest.approx(model.params, rel=0.01)


@pytest.mark.parametrize("model", architectures().values(), ids=list(architectures()))
def test_heads_divide_the_hidden_width(model: Architecture) -> None:
    assert model.hidden % model.heads == 0
    assert model.heads % model.kv_heads == 0


def test_the_nearest_model_is_chosen_by_ratio() -> None:
    assert nearest(8e9).name == "llama-3.1-8b"
    assert nearest(500e9).name == "llama-3.1-405b"
