"""The vision transformer: kernels against plain products, symmetries, sizes."""

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory.errors import BadInput
from attention_theory.vit import ATTENTIONS, PositionalAttention, VisionTransformer, patches

SIZES = {"channels": 2, "size": 8, "patch": 2, "classes": 3, "width": 12, "layers": 2}
SIZES |= {"heads": 3, "mlp": 10}


def build(seed: int = 0, **changes) -> VisionTransformer:
    torch.manual_seed(seed)
    model = VisionTransformer(**(SIZES | changes)).double()
    with torch.no_grad():  # encodings large enough to matter
        model.positions.copy_(torch.randn_like(model.positions))
    return model


def images(n: int = 5, channels: int = 2, size: int = 8) -> torch.Tensor:
    return torch.randn(n, channels, size, size, dtype=torch.float64)


WITHOUT_NORM = partial(PositionalAttention, norm=False)
KINDS = st.sampled_from([*sorted(ATTENTIONS), WITHOUT_NORM])


@st.composite
def sizes(draw) -> dict:
    """Any ViT, mostly of odd sizes, of the usual recipe or of the source's."""
    heads, side = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    found = {name: draw(st.integers(1, 3)) for name in ("channels", "patch", "layers", "classes")}
    width = heads * draw(st.integers(1, 5))
    found |= {"width": width, "heads": heads, "size": side * found["patch"]}
    found |= {"mlp": draw(st.integers(1, 9)), "attention": draw(KINDS)}
    return found | draw(st.sampled_from([{}, {"divisor": width**0.5, "last_gelu": True}]))


@settings(max_examples=50, deadline=None)
@given(sizes=sizes(), seed=st.integers(0, 10**6), batch=st.integers(1, 4))
def test_fused_attention_agrees_with_the_reference(sizes, seed, batch):
    """Outputs and gradients: of the parameters, of the images."""
    fused, plain = build(seed, **sizes), build(**sizes, fused=False)
    plain.load_state_dict(fused.state_dict())
    x = images(batch, sizes["channels"], sizes["size"])
    towards = torch.randn(batch, sizes["classes"], dtype=torch.float64)
    found = []
    for model in (fused, plain):
        own = x.clone().requires_grad_()
        out = model(own)
        grads = torch.autograd.grad((out * towards).sum(), [own, *model.parameters()])
        found.append([out, *grads])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_every_parameter_is_trained(attention):
    model = build(attention=attention)
    torch.nn.functional.cross_entropy(model(images()), torch.tensor([0, 1, 2, 0, 1])).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.abs().max() > 0, name


def test_positional_scores_are_computed_once_for_the_batch():
    """From the encodings alone: (tokens, width) go in, once a layer, whatever the batch."""
    model = build(attention="positional")
    seen = []
    for block in model.blocks:
        inside = block.attention.queries_keys
        inside.register_forward_hook(lambda _, given, out: seen.append((given[0].shape, out)))
    for n in (1, 7):
        model(images(n))
    assert [tuple(shape) for shape, _ in seen] == [(16, 12)] * 4
    for one, seven in zip(seen[:2], seen[2:], strict=True):
        assert torch.equal(one[1], seven[1]), "they do not depend on the images"


def test_the_sources_recipe_by_its_definition():
    """One layer, one head, written out: scores / sqrt(width), Linear GELU Linear GELU."""
    model = build(layers=1, heads=2, divisor=12**0.5, last_gelu=True)
    block, x = model.blocks[0], images(1)
    z = (model.embed(patches(x, 2)) + model.positions)[0]
    q, k, v = block.attention.queries_keys_values(block.norm_attention(z)).split(12, dim=1)
    heads = [slice(0, 6), slice(6, 12)]
    mixed = [torch.softmax(q[:, h] @ k[:, h].T / 12**0.5, 1) @ v[:, h] for h in heads]
    z = z + block.attention.output(torch.cat(mixed, 1))
    gelu = torch.nn.functional.gelu
    first, second = block.mlp[0], block.mlp[2]
    z = z + gelu(second(gelu(first(block.norm_mlp(z)))))
    torch.testing.assert_close(model(x)[0], model.head(model.norm(z.mean(0))))


RECIPES = [{}, {"divisor": 12**0.5, "last_gelu": True}]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), attention=KINDS, recipe=st.sampled_from(RECIPES))
def test_permuting_positions_with_the_tokens_leaves_the_outputs(seed, attention, recipe):
    model = build(seed, attention=attention, **recipe)
    x = images()
    order = torch.randperm(16)
    tokens = patches(x, 2)[:, order].unflatten(2, (2, 2, 2)).unflatten(1, (4, 4))
    permuted = tokens.permute(0, 3, 1, 4, 2, 5).reshape(x.shape)
    before = model(x)
    moved = model(permuted)
    with torch.no_grad():
        model.positions.copy_(model.positions[order])
    torch.testing.assert_close(model(permuted), before)
    assert not torch.allclose(moved, before, atol=1e-12)  # the encodings alone know the order


def test_patches_are_in_row_major_order():
    x = torch.arange(16.0).view(1, 1, 4, 4)
    assert patches(x, 2)[0].tolist() == [
        [0, 1, 4, 5],
        [2, 3, 6, 7],
        [8, 9, 12, 13],
        [10, 11, 14, 15],
    ]


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_attention_matrices_are_distributions_over_keys(attention):
    model = build(attention=attention)
    matrices = model.attention_matrices(images())
    assert matrices.shape == (2, 3, 16, 16)
    torch.testing.assert_close(matrices.sum(-1), torch.ones(2, 3, 16, dtype=torch.float64))


def test_positional_attention_does_not_look_at_the_images():
    model = build(attention="positional")
    torch.testing.assert_close(
        model.attention_matrices(images()), model.attention_matrices(images())
    )
    vanilla = build()
    assert not torch.allclose(
        vanilla.attention_matrices(images()), vanilla.attention_matrices(images())
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"patch": 3}, "patch: 3 is not allowed; it must divide the image size 8"),
        ({"patch": 0}, "patch: 0 is not allowed"),
        ({"heads": 5}, "heads: 5 is not allowed; it must divide the width 12"),
        ({"attention": "linear"}, "it must be one of: self, positional"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(change, words):
    with pytest.raises(BadInput, match=words):
        VisionTransformer(**(SIZES | change))
