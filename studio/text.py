"""Words on screen: users' strings escaped for Markdown, money, λ and its meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable

import streamlit as st

from csmd_core.faults import Fault

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=@/])")

_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)  # else made a link


def plain(text: object) -> str:
    r"""Escape text so that Markdown shows it letter by letter: no link, image, formula or style.

    >>> print(plain("![](x) $5$ <b>"))
    \!\[\]\(x\) \$5\$ \<b\>
    """
    unlinked = _ADDRESS.sub("\u2060", str(text).replace("\n", " "))
    return _MARKS.sub(r"\\\1", unlinked)


def money(amount: float, currency: str = "$") -> str:
    """Write an amount, cents only below 1,000; for plain text, not for Markdown.

    >>> money(31.97, "CA$"), money(12345.6)
    ('CA$31.97', '$12,346')
    """
    sign = "−" if amount < 0 else ""
    digits = 2 if abs(amount) < 1000 and round(amount, 2) != round(amount) else 0
    return f"{sign}{currency}{abs(amount):,.{digits}f}"


def lam_text(lam: float) -> str:
    """Write λ with four significant digits.

    >>> lam_text(0.00123456), lam_text(2.0)
    ('0.001235', '2')
    """
    return f"{lam:.4g}"


def lam_meaning(lam: float, currency: str = "$") -> str:
    """Say what λ means: avoiding one misdiagnosis is worth 1/λ."""
    worth = 1 / lam
    rounded = float(f"{worth:.3g}")
    return f"avoiding one misdiagnosis is worth {money(rounded, currency)}"


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}%"


def signed(x: float) -> str:
    """Write a whole number with its sign.

    >>> signed(-1234.4), signed(5)
    ('−1,234', '+5')
    """
    return f"{x:+,.0f}".replace("-", "−")


def count(n: int, one: str, many: str | None = None) -> str:
    """Write "1 panel", "63 panels"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def sentence_case(text: str) -> str:
    """Begin with a capital and leave the rest as it is.

    >>> sentence_case("naive Bayes")
    'Naive Bayes'
    """
    return text[:1].upper() + text[1:]


def duration(seconds: float) -> str:
    """Write a span of time roughly.

    >>> duration(0.4), duration(8), duration(100), duration(5000)
    ('1 second', '8 seconds', '2 minutes', '1.4 hours')
    """
    if seconds < 90:
        return count(max(1, round(seconds)), "second")
    if seconds < 3600:
        return count(round(seconds / 60), "minute")
    return f"{seconds / 3600:.1f} hours"


def show_faults(faults: Iterable[Fault]) -> None:
    """Show faults, then warnings, each as one sentence in plain letters."""
    for fault in faults:
        (st.warning if fault.warning else st.error)(plain(fault), icon=None)
