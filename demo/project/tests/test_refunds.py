from decimal import Decimal

import pytest

from orders.errors import AmountError, LimitError
from orders.refunds import RefundService


def test_gives_back_part(service: RefundService, order, user):
    assert service.refund(user, order, Decimal("10.005"), "k1").amount == Decimal("10.01")


def test_not_more_than_was_paid(service, order, user):
    with pytest.raises(AmountError):
        service.refund(user, order, order.paid + 1, "k1")


def test_daily_limit(service, order, user):
    service.limits.daily_refund = 15
    service.refund(user, order, Decimal(10), "k1")
    with pytest.raises(LimitError):
        service.refund(user, order, Decimal(10), "k2")


def test_sent_twice_given_once(service, order, user):
    first = service.refund(user, order, Decimal(10), "k1")
    assert service.refund(user, order, Decimal(10), "k1") == first
