from decimal import Decimal

import pytest

from orders.money import money


@pytest.mark.parametrize(
    ("text", "cents"),
    [("0.005", "0.01"), ("0.004", "0.00"), ("19.995", "20.00"), ("1e2", "100.00")],
)
def test_rounds_half_up(text, cents):
    assert money(text) == Decimal(cents)


def test_yen_has_no_cents():
    assert str(money("1000.4", "JPY")) == "1000"
