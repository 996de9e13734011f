"""Exact amounts. 金额一律用 Decimal，不用浮点数。"""

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
UNITS = {"JPY": Decimal(1), "KRW": Decimal(1), "VND": Decimal(1), "ISK": Decimal(1)}


def money(value: str | int | Decimal, currency: str = "EUR") -> Decimal:
    """Rounds half up to the currency's smallest unit, as the bank does."""
    unit = UNITS.get(currency, CENT)
    return Decimal(value).quantize(unit, rounding=ROUND_HALF_UP)
