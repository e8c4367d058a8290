"""Models: groups of layers between an embedding and an output layer, and what is around them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from slipway.fit.layers import Attention, Layer


@dataclass(frozen=True)
class Stored:
    """How a checkpoint keeps its weights."""

    name: str = "bf16"  # name for readers: `fp8`, `mxfp4`, `awq`
    bits: float = 16  # bits per weight that is quantised, its scales included; 16 if none is
    experts_only: bool = False  # whether only routed experts are quantised


@dataclass(frozen=True)
class Vision:
    """The vision encoder in front of a language model."""

    layer: Layer
    patch: int  # pixels on a side of a patch
    merge: int  # patches on a side that become one token of the language model
    tokens: int = 0  # tokens per image if that number is fixed; 0 if it depends on the image's size
    extra: int = 0  # parameters beside its layers: patch embedding, projector

    @property
    def params(self) -> int:
        """Parameters."""
        return self.layer.count * self.layer.dense_params + self.extra

    def patches(self, width: int, height: int) -> int:
        """Patches of an image of that many pixels."""
        return max(1, width // self.patch) * max(1, height // self.patch)

    def image_tokens(self, width: int, height: int) -> int:
        """Tokens of the language model for one image."""
        return self.tokens or max(1, self.patches(width, height) // self.merge**2)


@dataclass(frozen=True)
class Diffusion:
    """What a diffusion pipeline has beside the transformer that removes the noise."""

    parts: Mapping[str, float]  # parameters of the other components by name: text encoders, decoder
    quantised: frozenset[str]  # names of the parts that are quantised with the transformer
    patch: int  # pixels on a side of a latent token
    prompt: int  # tokens of the prompt
    channels: int  # channels of the decoder's widest feature map at the image's full size

    def tokens(self, width: int, height: int) -> int:
        """Tokens of the transformer for one image: its latents and the prompt."""
        return width // self.patch * (height // self.patch) + self.prompt


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """A model: groups of layers that are alike, between an embedding and an output layer."""

    name: str  # name in the catalog, or a description for one from the command line
    params: float  # number of parameters, as published; that of the shape if nothing is published
    layers: tuple[Layer, ...]  # groups of layers
    hidden: int  # width of the residual stream
    vocab: int  # size of the vocabulary, including padding; 0 without one
    context: int = 0  # maximum sequence length in tokens; 0 if unknown
    tied: bool = False  # whether the output layer shares the embedding's weights
    dropout: bool = False  # whether it is trained with dropout, whose masks are kept in memory
    stored: Stored = Stored()  # format of the published checkpoint
    vision: Vision | None = None  # vision encoder, if it has one
    diffusion: Diffusion | None = None  # the pipeline around it, if it is one of diffusion
    source: str = ""  # source of the shape
    caveat: str = ""  # what the shape doesn't cover, for readers

    @property
    def depth(self) -> int:
        """Number of layers."""
        return sum(layer.count for layer in self.layers)

    @property
    def attentions(self) -> tuple[tuple[int, Attention], ...]:
        """Attention by kind, with the number of its layers."""
        return tuple((layer.count, layer.mixer) for layer in self.layers if isinstance(layer.mixer, Attention))

    @property
    def heads(self) -> int:
        """Query heads; 1 if no layer has attention."""
        return max((attention.heads for _, attention in self.attentions), default=1)

    @property
    def linear_params(self) -> int:
        """Parameters of the matrices of all layers, routed experts included: what quantisation changes."""
        return sum(layer.count * (layer.dense_params + layer.expert_params) for layer in self.layers)

    @property
    def expert_params(self) -> int:
        """Parameters of all routed experts."""
        return sum(layer.count * layer.expert_params for layer in self.layers)

    @property
    def embedding_params(self) -> int:
        """Parameters of the embedding and the output layer, which quantisation does not change."""
        return self.vocab * self.hidden * (1 if self.tied else 2)

    @property
    def counted(self) -> int:
        """Parameters counted from the shape, without norms and biases."""
        vision = self.vision.params if self.vision else 0
        return self.linear_params + self.embedding_params + vision

    @property
    def active(self) -> float:
        """Parameters that one token uses, without the embedding: all but the experts that it isn't routed to."""
        idle = sum(
            layer.count * (layer.dense_params + layer.expert_params - layer.active_params) for layer in self.layers
        )
        return self.params - idle


def with_count(model: Architecture) -> Architecture:
    """The model, with the counted number of parameters if it has none."""
    return model if model.params else replace(model, params=float(model.counted))
