"""Experiment 4 for one kind of attention: pretraining, tuning of the rates, the tested runs."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd
import torch
from torch import Tensor

from attention_theory.images import controls, finetuning, halves, locality
from attention_theory.images.finetuning import Run, Tuned
from attention_theory.images.halves import Draw
from attention_theory.images.problem import Part, Problem
from attention_theory.images.settings import Architecture
from attention_theory.images.stacked import Stack
from attention_theory.images.transfer_settings import POSITIONS, Draws, Finetuning, Pretraining
from attention_theory.progress import Progress


class Prepared(NamedTuple):
    """A draw before fine-tuning: the initial weights of each arm, and the samples."""

    draw: Draw
    arms: dict[str, Tensor]
    samples: Part


class Planned(NamedTuple):
    """A run to come: its draw, what it trains on, and what names it in the table."""

    draw: Draw
    run: Run
    place: dict


class Outcome(NamedTuple):
    """Rows of the tables: tested runs, runs on the tuning draws, pretrained models."""

    tested: list[dict]
    tuning: list[dict]
    pretraining: list[dict]


class Transfer:
    """The experiment with one kind of attention on one data set."""

    def __init__(
        self,
        problem: Problem,
        architecture: Architecture,
        pretraining: Pretraining,
        settings: Finetuning,
        draws: Draws,
        base_seed: int,
        progress: Progress,
    ) -> None:
        shape = problem.shape._replace(classes=problem.shape.classes // 2)
        self.stack = Stack(architecture, shape, problem.device)
        self.frozen = controls.marks(self.stack, controls.of_space)
        self.problem, self.base_seed, self.progress = problem, base_seed, progress
        self.pretraining, self.settings, self.draws = pretraining, settings, draws

    def run(self) -> Outcome:
        """Pretrain, tune each arm's rate on the tuning draws, then test on the others."""
        pretraining, tables = [], {}
        rates: Mapping[str, list[float]] = dict.fromkeys(POSITIONS, self.settings.rates)
        numbers = {"tuning": self.draws.tuning_draws, "tested": self.draws.draws}
        for role, number in numbers.items():
            prepared, rows = self.prepare(role, number)
            pretraining += rows
            part = self.problem.validation if role == "tuning" else self.problem.test
            tables[role] = self.finetune(prepared, rates, part)
            rates = best(tables[role]) if role == "tuning" else rates
        return Outcome(tables["tested"], tables["tuning"], pretraining)

    def prepare(self, role: str, number: int) -> tuple[list[Prepared], list[dict]]:
        """Pretrain the models of some draws: what fine-tuning starts from, and a row a model."""
        problem, classes = self.problem, self.problem.shape.classes
        draws = [halves.draw(self.base_seed, problem.name, role, i, classes) for i in range(number)]
        prepared, rows = [], []
        for chunk in finetuning.chunks(draws, self.draws.stack(self.pretraining.batch)):
            trained = finetuning.pretrain(self.stack, problem, chunk, self.pretraining)
            fresh = self.stack.initial(draw.stream("fresh") for draw in chunk)
            for draw, pretrained, new in zip(chunk, trained.weights, fresh, strict=True):
                seen = finetuning.samples(problem, draw, self.settings.samples[-1])
                order = draw.stream("shuffle").permutation(len(self._positions(new)))
                order = torch.from_numpy(order).to(new.device)
                arms = controls.arms(self.stack, pretrained, new, order, seen.images)
                prepared.append(Prepared(draw, arms, seen))
                rows.append({"role": role, "seed": draw.key[-1]} | self.learned(pretrained, draw))
            for row, loss in zip(rows[-len(chunk) :], trained.losses, strict=True):
                row["train_loss"] = loss
            self.progress.advance("pretraining", len(chunk))
        return prepared, rows

    def learned(self, pretrained: Tensor, draw: Draw) -> dict:
        """What a pretrained model knows: of its own classes, and of space (locality.py)."""
        problem, half = self.problem, draw.pretrained
        accuracy = finetuning.accuracy(self.stack, pretrained, problem, problem.test, half)
        images = finetuning.images_of(problem, problem.validation, half)
        model = self.stack.model(pretrained)
        positions = locality.cosine_similarity(self._positions(pretrained).cpu().numpy())
        attention = model.attention_matrices(images).mean((0, 1)).cpu().numpy()
        distances = locality.grid_distances(round(len(positions) ** 0.5))
        found = [locality.precision_at_k(M, distances) for M in (positions, attention)]
        return {
            "accuracy": accuracy,
            "precision_positions": found[0].precision,
            "precision_attention": found[1].precision,
            "chance": found[0].chance,
            "ceiling": found[0].ceiling,
            "keys": controls.effective_keys(model, images).mean().item(),
        }

    def _positions(self, row: Tensor) -> Tensor:
        return self.stack.named(row)["positions"]

    def finetune(
        self, prepared: list[Prepared], rates: Mapping[str, list[float]], part: Part
    ) -> list[dict]:
        """Fine-tune every draw, arm, number of samples and rate: a row a run, tested on a part."""
        rows = []
        for k in self.settings.samples:
            size = self.draws.stack(k * self.stack.data.classes)
            for chunk in finetuning.chunks(list(self._plan(prepared, rates, k)), size):
                runs = [planned.run for planned in chunk]
                ended = finetuning.finetune(self.stack, runs, self.settings)
                rows += [self._row(*pair, part) for pair in zip(chunk, ended, strict=True)]
                self.progress.advance(f"{k} samples a class", len(chunk))
        return rows

    def _plan(
        self, prepared: list[Prepared], rates: Mapping[str, list[float]], k: int
    ) -> Iterator[Planned]:
        """Every run with k samples a class."""
        for draw, arms, samples in prepared:
            seen = Part(*(values[: k * len(draw.other)] for values in samples))
            for positions, weights in arms.items():
                trained = self.frozen.new_ones(()) if positions == "scratch" else ~self.frozen
                for rate in rates[positions]:
                    place = {"positions": positions, "samples": k, "seed": draw.key[-1]}
                    run = Run(weights, trained.expand_as(weights), rate, *seen)
                    yield Planned(draw, run, place | {"rate": rate})

    def _row(self, planned: Planned, end: Tuned, part: Part) -> dict:
        """What a run measured."""
        stack, half = self.stack, planned.draw.other
        initial, final = (
            controls.effective_keys(stack.model(weights), planned.run.images).mean().item()
            for weights in (planned.run.weights, end.weights)
        )
        return planned.place | {
            "steps": end.steps,
            "train_loss": end.loss,
            "accuracy": finetuning.accuracy(stack, end.weights, self.problem, part, half),
            "keys_initial": initial,
            "keys_final": final,
        }


def best(rows: list[dict]) -> dict[str, list[float]]:
    """The rate of each arm with the highest mean accuracy over draws and numbers of samples; of
    equal ones the lowest."""
    means = pd.DataFrame(rows).groupby(["positions", "rate"]).accuracy.mean().unstack()
    return {name: [float(rate)] for name, rate in means.idxmax(axis=1).items()}
