"""The vision transformer: kernels against plain products, symmetries, sizes."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory.errors import BadInput
from attention_theory.vit import ATTENTIONS, VisionTransformer, patches

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


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_fused_attention_agrees_with_the_reference(attention):
    fused, plain = build(attention=attention), build(attention=attention, fused=False)
    plain.load_state_dict(fused.state_dict())
    x, y = images(), torch.tensor([0, 1, 2, 0, 1])
    for model in (fused, plain):
        torch.nn.functional.cross_entropy(model(x), y).backward()
    torch.testing.assert_close(fused(x), plain(x))
    for (name, a), b in zip(fused.named_parameters(), plain.parameters(), strict=True):
        assert a.grad.abs().max() > 0, name
        torch.testing.assert_close(a.grad, b.grad)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), attention=st.sampled_from(sorted(ATTENTIONS)))
def test_permuting_positions_with_the_tokens_leaves_the_outputs(seed, attention):
    model = build(seed, attention=attention)
    x = images()
    order = torch.randperm(16)
    tokens = patches(x, 2)[:, order].unflatten(2, (2, 2, 2)).unflatten(1, (4, 4))
    permuted = tokens.permute(0, 3, 1, 4, 2, 5).reshape(x.shape)
    before = model(x)
    moved = model(permuted)
    with torch.no_grad():
        model.positions.copy_(model.positions[order])
    torch.testing.assert_close(model(permuted), before)
    assert not torch.allclose(moved, before)  # the encodings alone know the order


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
    ("patch", "classes", "count"),
    [(4, 10, 6268042), (4, 100, 6302692), (2, 10, 6327946), (2, 100, 6362596)],
)
def test_size_of_the_papers_model(patch, classes, count):
    with torch.device("meta"):
        model = VisionTransformer(
            channels=3,
            size=32,
            patch=patch,
            classes=classes,
            width=384,
            layers=7,
            heads=12,
            mlp=384,
        )
    assert sum(parameter.numel() for parameter in model.parameters()) == count


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
