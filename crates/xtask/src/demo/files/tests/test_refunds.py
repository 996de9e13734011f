import pytest

from orders.refunds import RefundService


def test_gives_back_part(service: RefundService, order, user):
    assert service.refund(user, order, 10.0).amount == 10.0


def test_not_more_than_was_paid(service, order, user):
    with pytest.raises(ValueError):
        service.refund(user, order, order.paid + 1)


def test_daily_limit(service, order, user):
    service.limits.daily_refund = 15
    service.refund(user, order, 10.0)
    with pytest.raises(PermissionError):
        service.refund(user, order, 10.0)
