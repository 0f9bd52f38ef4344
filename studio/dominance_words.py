"""The definition of weak dominance and the idea of its proof, on demand."""

from __future__ import annotations

import streamlit as st


def definition() -> None:
    st.markdown(
        r"""
Panel $i$ costs $C_i$ and is wrong with probability $\gamma_i$; its loss is
$\lambda_i C_i + \gamma_i$, and the best panel $i^\star$ has the least. Nobody sees $\gamma_i$
without diagnoses. What everybody sees is how often two panels give different results,
$P(Y^i \neq Y^j)$.

**Weak dominance** holds when every later panel of a cascade, or every dearer subset, costs more
than it changes:

$$
\lambda_j C_j - \lambda_{i^\star} C_{i^\star} > P(Y^{i^\star} \neq Y^j)
$$

The least difference of the two sides is the **margin** $\xi$.

**Why it works.** Two panels can differ in how often they are wrong by no more than they disagree:
$|\gamma_i - \gamma_j| \le P(Y^i \neq Y^j)$. So where panel $j$ costs more than it changes, it
cannot be better. The other way round, the best panel is better than any cheaper $j$ by its very
choice: $\lambda_{i^\star} C_{i^\star} - \lambda_j C_j \le \gamma_j - \gamma_{i^\star} \le
P(Y^j \neq Y^{i^\star})$. So comparing disagreement with cost gaps gives the right answer for every
pair with $i^\star$ in it, and a policy that estimates disagreement finds $i^\star$ without a single
diagnosis. The larger the margin, the fewer patients it needs.

**Strong dominance** asks for more: whenever a panel is right, every later one is right too. Then
disagreement *is* the difference of the error rates, and weak dominance holds at every $\lambda$.
"""
    )
