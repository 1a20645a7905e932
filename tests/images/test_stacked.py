"""Seeds as one stacked model: the gradients of a loop, up to rounding (docs: why they are not)."""

import copy

import numpy as np
import pytest
import torch
from torch.func import functional_call, grad, replace_all_batch_norm_modules_, stack_module_state
from torch.nn.functional import cross_entropy

from attention_theory.images import models
from attention_theory.images.settings import Architecture, DataSet
from attention_theory.streams import stream

SEEDS, BATCH = 3, 16
DIGITS = DataSet(images=1797, size=8, channels=1, classes=10)
SIZES = {"patch": 2, "width": 16, "layers": 2, "heads": 2, "mlp": 16, "position_std": 0.02}
ARCHITECTURES = {
    "vanilla": Architecture("vit", "self", **SIZES),
    "positional": Architecture("vit", "positional", **SIZES),
    "cnn": Architecture("cnn", "none", patch=2, width=8, layers=2),
}


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=ARCHITECTURES)
def test_a_stacked_step_has_the_gradients_of_a_loop(rng, architecture):
    images = torch.from_numpy(rng.standard_normal((SEEDS, BATCH, 1, 8, 8), dtype=np.float32))
    labels = torch.from_numpy(rng.integers(0, 10, (SEEDS, BATCH)))
    seeds = [models.build(architecture, DIGITS, stream(0, "w", seed)) for seed in range(SEEDS)]
    for seed in seeds:
        replace_all_batch_norm_modules_(seed)  # running statistics cannot be stacked
    parameters, buffers = stack_module_state(seeds)
    template = copy.deepcopy(seeds[0])
    for part in template.modules():
        if hasattr(part, "fused"):
            part.fused = False  # vmap has no rule for torch's attention kernel

    def loss(own: dict, own_buffers: dict, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return cross_entropy(functional_call(template, (own, own_buffers), x), y)

    stacked = torch.vmap(grad(loss))(parameters, buffers, images, labels)
    for seed, model in enumerate(seeds):
        cross_entropy(model(images[seed]), labels[seed]).backward()
        for name, parameter in model.named_parameters():
            found = stacked[name][seed]
            torch.testing.assert_close(found, parameter.grad, rtol=1e-4, atol=1e-6, msg=name)
        assert max(parameter.grad.abs().max() for parameter in model.parameters()) > 1e-2
