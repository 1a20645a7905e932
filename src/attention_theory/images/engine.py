"""Training of one model by epochs, whose whole state is weights, optimiser and epochs done.

All else is a function of keys: order and shifts of (base seed, seed, epoch), augmentation of that
and the chunk, the learning rate of the step. So a restored state goes on to the same bits.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.modules.batchnorm import _BatchNorm

from attention_theory.errors import require
from attention_theory.images import augment, procedures, schedule
from attention_theory.images.augment import Augmentation
from attention_theory.images.parallel import Team
from attention_theory.images.problem import Problem, permuted
from attention_theory.images.settings import Computation, Training
from attention_theory.streams import stream

OPTIMISERS = {"standard": torch.optim.AdamW, "vit-cifar": torch.optim.Adam}
LARGE = 1_000_000  # parameters, from which a GPU and not the calls to it takes the time
COMPILER = "inductor"


class Engine:
    """One training: `model`, and `epoch`, the number of epochs done."""

    def __init__(
        self,
        model: nn.Module,
        problem: Problem,
        training: Training,
        computation: Computation,
        base_seed: int,
        seed: int,
        team: Team,
    ) -> None:
        self.model, self.epoch = model, 0
        self.problem, self.training, self.computation = problem, training, computation
        self.key, self.team = (base_seed, seed), team
        parts = computation.accumulate * team.processes
        whole = parts == 1 or not any(isinstance(part, _BatchNorm) for part in model.modules())
        allowed = "be 1 for a model with batch norm, whose statistics are a whole batch's"
        require(whole, "accumulate x processes", parts, allowed)
        computation.check_batch(training.batch, team.processes)
        self.optimiser = OPTIMISERS[training.procedure](
            model.parameters(), training.rate, weight_decay=training.weight_decay, fused=True
        )
        self.augmentation = Augmentation(training, problem)
        self.smoothing = procedures.smoothing(training, problem.shape.classes)
        self.per_epoch = len(problem.train.labels) // training.batch
        compiles, self.half = accelerations(computation, model, problem.device)
        self.forward = team.wrap(torch.compile(model, backend=COMPILER) if compiles else model)

    def train_epoch(self) -> float:
        """One pass over the training images, but for those that fill no batch; the mean loss."""
        batch, shift = self.training.batch, self.training.shift
        rng = stream(self.key[0], "images.epoch", self.key[1], self.epoch)
        order = rng.permutation(len(self.problem.train.labels))[: self.per_epoch * batch]
        shifts = rng.integers(0, 2 * shift + 1, (len(order), 2))
        self.model.train()
        total = torch.zeros((), device=self.problem.device)
        batches = self._batches(order, shifts)
        for step, (images, labels) in enumerate(batches, self.epoch * self.per_epoch):
            total += self._step(step, images, labels)
        self.epoch += 1
        return self.team.mean(total).item() / self.per_epoch

    def tensors(self) -> dict[str, Tensor]:
        """The state, by name; `restore` takes it back."""
        found = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        for index, values in self.optimiser.state_dict()["state"].items():
            found |= {f"optimiser.{index}.{name}": value for name, value in values.items()}
        return found

    def restore(self, epoch: int, tensors: dict[str, Tensor]) -> None:
        """Go on from the state after `epoch` epochs."""
        weights, state = {}, {}
        for name, value in tensors.items():
            kind, _, name = name.partition(".")
            if kind == "model":
                weights[name] = value
            else:
                index, _, name = name.partition(".")
                state.setdefault(int(index), {})[name] = value
        self.model.load_state_dict(weights)
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})
        self.epoch = epoch

    def _batches(self, order: np.ndarray, shifts: np.ndarray) -> Iterator[tuple[Tensor, Tensor]]:
        """This process's part of each batch, augmented: images (uint8) and labels, on the device.

        `order` is what an epoch trains on; chunks of it are augmented at once.
        """
        size, batch = augment.chunk_size(self.training.batch), self.training.batch
        train, device = self.problem.train, self.problem.device
        for chunk, start in enumerate(range(0, len(order), size)):
            draws = self.augmentation.draw(
                shifts[start : start + size], *self.key, self.epoch, chunk
            )
            own = self.team.share(len(draws.shifts), batch)
            places = torch.from_numpy(order[start + own]).to(train.images.device)
            images = self.augmentation.apply(train.images[places].to(device), draws.of(own))
            labels = train.labels[places.to(train.labels.device)]
            share = batch // self.team.processes
            yield from zip(images.split(share), labels.split(share), strict=True)

    def _step(self, step: int, images: Tensor, labels: Tensor) -> Tensor:
        """One step of the optimiser on this process's part of a batch; its mean loss."""
        accumulate = self.computation.accumulate
        self.optimiser.zero_grad()
        total = torch.zeros((), device=images.device)
        parts = zip(images.chunk(accumulate), labels.chunk(accumulate), strict=True)
        for part, (own, right) in enumerate(parts, 1):
            with self.team.gradients(self.forward, complete=part == accumulate):
                with self._precision():
                    logits = self.forward(permuted(own, self.problem))
                    loss = cross_entropy(logits, right, label_smoothing=self.smoothing)
                    loss = loss / accumulate
                self.team.backward(loss)
            total += loss.detach()
        for group in self.optimiser.param_groups:
            group["lr"] = schedule.rate(self.training, step, self.per_epoch)
        self.optimiser.step()
        return total

    def _precision(self) -> AbstractContextManager:
        """Where activations are bfloat16: weights, their updates and losses stay float32."""
        device = self.problem.device
        return torch.autocast(device, torch.bfloat16) if self.half else nullcontext()


def accelerations(computation: Computation, model: nn.Module, device: str) -> tuple[bool, bool]:
    """Whether to compile the model, and whether to compute in bfloat16.

    `auto` is for GPUs and for models whose arithmetic, not whose calls, takes the time: on a CPU
    compiling gains nothing and costs minutes, and bfloat16 is slow without units for it.
    """
    pays = device == "cuda" and sum(p.numel() for p in model.parameters()) >= LARGE
    compiles = computation.compile == "always" or (computation.compile == "auto" and pays)
    half = computation.precision == "bfloat16" or (computation.precision == "auto" and pays)
    return compiles, half
