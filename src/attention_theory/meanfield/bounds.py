"""The audited statements: the proposition at the end of the source and its proof, step by step.

Each entry of BOUNDS is one inequality (or identity, or density) with where it is stated; its two
sides are functions of explicit matrices and stand in attention_bounds.py, mlp_bounds.py and
density.py under the same name. The source prints them; nothing here is a result.

Symbols: T = Z = (z_1 ... z_{N+1}), D x (N + 1); f(T) = V T softmax(T^T W T), theta = vec[V, W];
h(T) = W2 hub(W1 T), w = vec[W1, W2]; |.| of a matrix is its spectral norm, |.|_F Frobenius's;
R = |T|_{2-col}, the largest Euclidean norm of a column; P_i: the weights of query i;
Q_i = diag(P_i) - P_i^T P_i; J_ij = d f_i / d z_j. Where a statement leaves room, it is judged in
the reading that is kindest to it.
"""

from dataclasses import dataclass

INEQUALITY, IDENTITY, DENSITY = "inequality", "identity", "density"
ATTENTION, MLP, TOKENS = ("T", "V", "W"), ("T", "W1", "W2"), ("T",)


@dataclass(frozen=True)
class Bound:
    """A statement to check, or (`corrects` not empty) our correction of one."""

    name: str
    statement: str
    where: str
    matrices: tuple[str, ...] = ATTENTION
    form: str = INEQUALITY
    correction: str = ""  # the bound that takes its place where it fails
    remark: str = ""  # what is wrong with it, or what is sharp

    @property
    def stated(self) -> bool:
        """Whether the source states it; our corrections are the others."""
        return not self.name.endswith("-corrected")


FOR_F, FOR_H = "Proposition, Assumption 2(i) for f", "Proposition, Assumption 2(i) for h"
PARAMETERS, TOKENS_III = "Proposition, Assumption 2(ii) for f", "Proposition, Assumption 2(iii)"
SETTING, UNIVERSAL = "Proposition, notation", "Proposition, Assumption 4(ii)"

BOUNDS = [
    Bound(
        "f-columns", "f_i = sum_j P_ij z_j", SETTING, form=IDENTITY,
        correction="f-columns-corrected", remark="V is missing",
    ),
    Bound("f-columns-corrected", "f_i = V sum_j P_ij z_j", "ours", form=IDENTITY),
    Bound(
        "J-blocks", "J_ij = Z Q_i [E_ji Z^T W + Z^T W^T delta_ij] + P_ij I, with V = I", SETTING,
        matrices=("T", "W"), form=IDENTITY, correction="J-blocks-corrected",
        remark="W and W^T are swapped (and V is missing): the logits of query i are Z^T W z_i",
    ),
    Bound(
        "J-blocks-corrected", "J_ij = V (Z Q_i [E_ji Z^T W^T + Z^T W delta_ij] + P_ij I)", "ours",
        form=IDENTITY,
    ),
    Bound("2i-f-1", "|V T S|_{2-col} <= |V| |T| |S|_{2-col}, S the softmax", FOR_F),
    Bound(
        "2i-f-2", "|V| |T| |S|_{2-col} <= |theta| R |S|_{1-col}", FOR_F,
        correction="2i-f-2-corrected",
        remark="it needs |T| |S|_{2-col} <= R |S|_{1-col}; |T| may exceed R by sqrt(N + 1)",
    ),
    Bound(
        "2i-f-2-corrected", "|V T S|_{2-col} <= |V| R |S|_{1-col}", "ours",
        remark="a column of T S is a convex combination of columns of T",
    ),
    Bound("2i-f-3", "|theta| R |S|_{1-col} <= |theta| R", FOR_F),
    Bound("2i-f", "|f(T)|_{2-col} <= |theta| R", FOR_F),
    Bound("2i-hub", "|hub(x)| <= |x|", FOR_H, matrices=TOKENS),
    Bound("2i-h-1", "|W2 hub(W1 T)|_{2-col} <= |W2| |hub(W1 T)|_{2-col}", FOR_H, matrices=MLP),
    Bound("2i-h-2", "|W2| |hub(W1 T)|_{2-col} <= |W2| |W1 T|_{2-col}", FOR_H, matrices=MLP),
    Bound("2i-h-3", "|W2| |W1 T|_{2-col} <= 2 |w|^2 R", FOR_H, matrices=MLP),
    Bound(
        "2i-h", "|h(T)|_{2-col} <= 2 |w|^2 R", FOR_H, matrices=MLP, correction="2i-h-corrected",
        remark="the sharp constant is 1/2, since |W1| |W2| <= |w|^2 / 2",
    ),
    Bound(
        "2i-h-K1", "|h(T)|_{2-col} <= K |w| R with K = 1, the form that f is shown to fulfil",
        FOR_H, matrices=MLP, correction="2i-h-corrected",
        remark="h is quadratic in w where hub is linear: no K will do",
    ),
    Bound(
        "2i-h-K1-affine", "|h(T)|_{2-col} <= K (1 + |w|) R with K = 1, a weaker reading", FOR_H,
        matrices=MLP, correction="2i-h-corrected", remark="h is quadratic in w: no K will do",
    ),
    Bound("2i-h-corrected", "|h(T)|_{2-col} <= |w|^2 R / 2", "ours", matrices=MLP),
    Bound("2ii-V-1", "|grad_V f_i| <= sum_j P_ij |z_j|", PARAMETERS),
    Bound("2ii-V", "|grad_V f_i| <= R", PARAMETERS),
    Bound(
        "2ii-W-1",
        "|grad_W f_i| <= sum_j P_ij sum_l |z_l^T z_j| |(Q_i)_l|_1 |V| |z_j|", PARAMETERS,
        correction="2ii-W-corrected",
        remark="the printed gradient has z_j where the query z_i belongs; with |(Q_i)_l|_2, the "
        "other reading of a row, the right side is smaller still",
    ),
    Bound(
        "2ii-W-2",
        "sum_j P_ij sum_l |z_l^T z_j| |(Q_i)_l|_2 |V| |z_j| <= R^3 |theta|", PARAMETERS,
        remark="read with Euclidean norms of the rows of Q_i; with their sums it fails",
    ),
    Bound("2ii-W", "|grad_W f_i| <= R^3 |theta|", PARAMETERS),
    Bound("2ii-W-corrected", "|grad_W f_i| <= |V| |Z Q_i Z^T| |z_i|", "ours"),
    Bound("2ii-column", "|grad_theta f_i| <= (R + R^3) (1 + |theta|)", PARAMETERS),
    Bound(
        "2ii-matrix", "|grad_theta f| <= (R + R^3) (1 + |theta|) for the whole matrix f",
        PARAMETERS, correction="2ii-matrix-corrected",
        remark="N + 1 equal columns move together: a factor sqrt(N + 1) is missing",
    ),
    Bound("2ii-matrix-corrected", "|grad_theta f| <= sqrt(N + 1) (R + R^3 |V|)", "ours"),
    Bound("2iii-1", "|J| <= sqrt(sum_ij |J_ij|^2)", TOKENS_III),
    Bound("2iii-2", "sqrt(sum_ij |J_ij|^2) <= (N + 1) max_ij |J_ij|", TOKENS_III),
    Bound(
        "2iii-3", "|J_ij| <= P_ij + |T| |Q_i| |E_ji T^T W + T^T W^T delta_ij|, with V = I",
        TOKENS_III, matrices=("T", "W"), correction="2iii-3-corrected",
        remark="inherits the swapped W: for i != j it asks |W^T z_i| where |W z_i| acts",
    ),
    Bound(
        "2iii-3-corrected", "|J_ij| <= |V| (P_ij + |T| |Q_i| |E_ji T^T W^T + T^T W delta_ij|)",
        "ours",
    ),
    Bound("2iii-4", "|J_ij| <= 1 + 2 |T|^2 |W|, with V = I", TOKENS_III, matrices=("T", "W")),
    Bound("2iii-5", "1 + 2 |T|^2 |W| <= 1 + 2 |T|_F^2 |theta|", TOKENS_III),
    Bound(
        "2iii-V", "|J_ij| <= 1 + 2 |T|_F^2 |theta|, V kept", TOKENS_III,
        correction="2iii-V-corrected", remark="V multiplies every block and was dropped",
    ),
    Bound("2iii-V-corrected", "|J_ij| <= |V| (1 + 2 |T|^2 |W|)", "ours"),
    Bound(
        "2iii-6", "(N + 1) (1 + 2 |T|_F^2 |theta|) <= 2 N |T|_F^2 (1 + |theta|)", TOKENS_III,
        correction="2iii-6-corrected",
        remark="N + 1 has become N, and the 1 was absorbed, which needs |T|_F of order 1",
    ),
    Bound(
        "2iii-6-corrected",
        "(N + 1) (1 + 2 |T|_F^2 |theta|) <= (N + 1) (1 + 2 |T|_F^2) (1 + |theta|)", "ours",
    ),
    Bound(
        "2iii", "|J| <= 2 N |T|_F^2 (1 + |theta|)", TOKENS_III, correction="2iii-corrected",
        remark="the left side does not vanish with T",
    ),
    Bound(
        "2iii-large", "|J| <= 2 N |T|_F^2 (1 + |theta|) where |T|_F >= 1", TOKENS_III,
        correction="2iii-corrected",
        remark="J is quadratic in theta (V times W), the right side linear: no phi_T will do",
    ),
    Bound("2iii-corrected", "|J| <= |V| (sqrt(N + 1) + |W| (R^2 + R |T|_F))", "ours"),
    Bound(
        "4i", "h(T, W1, c W2) = c h(T, W1, W2)", "Proposition, Assumption 4(i)",
        matrices=(*MLP, "c"), form=IDENTITY,
    ),
    Bound(
        "4ii-scale", "|W1 T|_max <= B |W1| for |T|_{2-col} <= B, so that c |W1| <= 1 / B suffices",
        UNIVERSAL, matrices=("T", "W1"),
    ),
    Bound(
        "4ii-square", "hub(x) = ReLU(x)^2 for |x| <= 1", UNIVERSAL, matrices=TOKENS, form=IDENTITY,
        correction="4ii-square-corrected", remark="a factor 1/2 that W2 absorbs: harmless",
    ),
    Bound(
        "4ii-square-corrected", "hub(x) = ReLU(x)^2 / 2 for |x| <= 1", "ours", matrices=TOKENS,
        form=IDENTITY,
    ),
    Bound(
        "4ii-bias", "some h in the span comes near g(T) = 1, on every column", UNIVERSAL,
        matrices=(), form=DENSITY, correction="4ii-corrected",
        remark="hub(0) = 0 and there is no bias: h(0) = 0 for every W1, W2",
    ),
    Bound(
        "4ii-tokens", "some h in the span comes near g(T) = T with its columns swapped", UNIVERSAL,
        matrices=(), form=DENSITY, correction="4ii-corrected",
        remark="a column of h(T) depends on that column of T alone",
    ),
    Bound(
        "4ii-degree", "some h in the span, |W1| <= 1, comes near g(T) = T on |T|_{2-col} <= 1",
        UNIVERSAL, matrices=(), form=DENSITY, correction="4ii-corrected",
        remark="there hub(x) = ReLU(x)^2 / 2, so that h is 2-homogeneous in T, and so is all of "
        "the span of W2 ReLU^2(W1 T), which the proof calls dense: the classic theorem has a bias",
    ),
    Bound(
        "4ii-corrected",
        "some h in the span, |W1| <= 1, comes near every g that acts on each column alone, if "
        "every column carries a constant coordinate", "ours", matrices=(), form=DENSITY,
    ),
]  # fmt: skip

BY_NAME = {bound.name: bound for bound in BOUNDS}
STATED = [bound for bound in BOUNDS if bound.stated]
