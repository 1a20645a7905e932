"""The vision transformer of every study: vanilla self-attention, or positional attention.

Pre-LN blocks, learned positional encodings, mean pooling instead of a class token, no dropout,
biases everywhere. Vanilla: the tokens carry the encodings, z = x + P. Positional attention (Sec. 3
of Jelassi, Sander & Li, NeurIPS 2022): tokens carry no encodings; in every layer the scores come
from P alone, S = softmax(LN(P) W_Q (LN(P) W_K)^T / divisor), the values from the tokens. S is
computed once a step and shared by the batch.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from attention_theory.errors import require


class SelfAttention(nn.Module):
    """Multi-head self-attention on tokens that carry their positional encodings.

    Scores are divided by `divisor`, mostly sqrt(width / heads).
    """

    positions_in_tokens = True
    fused = True  # False: plain matrix products, the reference for torch's kernel

    def __init__(self, width: int, heads: int, divisor: float) -> None:
        super().__init__()
        self.heads, self.divisor = heads, divisor
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """(batch, tokens, width) to the same shape."""
        q, k, v = self._split(tokens)
        if self.fused:
            mixed = scaled_dot_product_attention(q, k, v, scale=1 / self.divisor)
        else:
            mixed = _softmax_scores(q, k, self.divisor) @ v
        return self.output(mixed.transpose(1, 2).flatten(2))

    def weights(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """The attention matrices (batch, heads, tokens, tokens); rows are queries."""
        q, k, _ = self._split(tokens)
        return _softmax_scores(q, k, self.divisor)

    def _split(self, tokens: Tensor) -> list[Tensor]:
        """Queries, keys and values, each (batch, heads, tokens, width / heads).

        Cut along the last axis, so that their gradients are joined again in one copy.
        """
        three = self.queries_keys_values(tokens).chunk(3, dim=2)
        return [part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in three]


class PositionalAttention(nn.Module):
    """Multi-head attention whose scores depend on the positional encodings alone.

    They pass a LayerNorm of this layer before W_Q and W_K, unless `norm` is False.
    """

    positions_in_tokens = False
    fused = True  # False: one plain sum over heads and keys

    def __init__(self, width: int, heads: int, divisor: float, norm: bool = True) -> None:
        super().__init__()
        self.heads, self.divisor = heads, divisor
        self.norm = nn.LayerNorm(width) if norm else nn.Identity()
        self.queries_keys = nn.Linear(width, 2 * width)
        self.values = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """(batch, tokens, width) to the same shape.

        Fused: the batch is folded into the columns, so that each head is one matrix product.
        """
        S = self.weights(tokens, positions)[0]
        v = self.values(tokens).unflatten(2, (self.heads, -1))
        if not self.fused:
            return self.output(torch.einsum("hij,bjhe->bihe", S, v).flatten(2))
        columns = v.permute(2, 1, 0, 3).flatten(2)  # (heads, tokens, batch x width / heads)
        mixed = (S @ columns).unflatten(2, (len(tokens), -1))
        return self.output(mixed.permute(2, 1, 0, 3).flatten(2))

    def weights(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """The attention matrices (1, heads, tokens, tokens): the same for every image."""
        two = self.queries_keys(self.norm(positions)).unflatten(1, (2, self.heads, -1))
        q, k = two.permute(1, 2, 0, 3).unbind(0)
        return _softmax_scores(q, k, self.divisor)[None]


ATTENTIONS: dict[str, type[nn.Module]] = {
    "self": SelfAttention,
    "positional": PositionalAttention,
}

# (width, heads, divisor) to a module with the members of the two above
Attention = Callable[[int, int, float], nn.Module]


class Block(nn.Module):
    """A pre-LN transformer layer: attention, then an MLP, each added to what it reads."""

    def __init__(self, width: int, attention: nn.Module, mlp: int, last_gelu: bool) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(width)
        self.attention = attention
        self.norm_mlp = nn.LayerNorm(width)
        layers = [nn.Linear(width, mlp), nn.GELU(), nn.Linear(mlp, width)]
        self.mlp = nn.Sequential(*layers, *([nn.GELU()] if last_gelu else []))

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        tokens = tokens + self.attention(self.norm_attention(tokens), positions)
        return tokens + self.mlp(self.norm_mlp(tokens))


class VisionTransformer(nn.Module):
    """Images (batch, channels, size, size) to logits (batch, classes).

    Tokens are the patches in row-major order; `positions` (tokens, width) are their encodings,
    initially N(0, position_std^2). `attention` is a name in ATTENTIONS or what makes a layer's
    attention. Scores are divided by `divisor`, sqrt(width / heads) if None; `last_gelu` puts
    a GELU after each MLP too. `fused=False` computes the same with plain matrix products, as
    a reference. Raises BadInput for sizes that do not fit.
    """

    def __init__(
        self,
        *,
        channels: int,
        size: int,
        patch: int,
        classes: int,
        width: int,
        layers: int,
        heads: int,
        mlp: int,
        attention: str | Attention = "self",
        position_std: float = 0.02,
        divisor: float | None = None,
        last_gelu: bool = False,
        fused: bool = True,
    ) -> None:
        super().__init__()
        require(patch >= 1 and size % patch == 0, "patch", patch, f"divide the image size {size}")
        require(heads >= 1 and width % heads == 0, "heads", heads, f"divide the width {width}")
        if isinstance(attention, str):
            allowed = "be one of: " + ", ".join(ATTENTIONS)
            require(attention in ATTENTIONS, "attention", attention, allowed)
            attention = ATTENTIONS[attention]
        divisor = (width / heads) ** 0.5 if divisor is None else divisor
        self.patch = patch
        self.embed = nn.Linear(channels * patch**2, width)
        self.positions = nn.Parameter(position_std * torch.randn((size // patch) ** 2, width))
        self.blocks = nn.ModuleList(
            Block(width, attention(width, heads, divisor), mlp, last_gelu) for _ in range(layers)
        )
        for block in self.blocks:
            block.attention.fused = fused
        self.positions_in_tokens = self.blocks[0].attention.positions_in_tokens
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        tokens = self.tokens(images)
        for block in self.blocks:
            tokens = block(tokens, self.positions)
        return self.head(self.norm(tokens.mean(1)))

    def tokens(self, images: Tensor) -> Tensor:
        """What the first layer reads: embedded patches, with their encodings if vanilla."""
        embedded = self.embed(patches(images, self.patch))
        return embedded + self.positions if self.positions_in_tokens else embedded

    @torch.no_grad()
    def attention_matrices(self, images: Tensor) -> Tensor:
        """Attention matrices (layers, heads, tokens, tokens), averaged over the images."""
        tokens = self.tokens(images)
        matrices = []
        for block in self.blocks:
            weights = block.attention.weights(block.norm_attention(tokens), self.positions)
            matrices.append(weights.mean(0))
            tokens = block(tokens, self.positions)
        return torch.stack(matrices)


def patches(images: Tensor, patch: int) -> Tensor:
    """Cut images (batch, channels, size, size) into (batch, tokens, channels * patch ** 2)."""
    rows = images.unflatten(3, (-1, patch)).unflatten(2, (-1, patch))  # b c y p x q
    return rows.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def _softmax_scores(q: Tensor, k: Tensor, divisor: float) -> Tensor:
    """softmax(q k^T / divisor) over the keys, for q and k (..., tokens, e)."""
    return torch.softmax(q @ k.transpose(-1, -2) / divisor, dim=-1)
