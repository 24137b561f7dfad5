"""Shares of a length, in words."""

from tfm_ui.lenses.masks.padding.shares import told


def test_shares_are_told():
    assert [told(share) for share in (0, 2e-7, 0.004, 0.5, 1.24)] == ["0", "2×10⁻⁷", "0.4%", "50%", "124%"]
