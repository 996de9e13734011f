"""Refunds: give money back, once, and never more than was paid."""

from decimal import Decimal

from orders.errors import AmountError
from orders.ledger import Ledger
from orders.models import Order, Receipt, Refund, User
from orders.money import money


class RefundService:
    def __init__(self, ledger: Ledger, gateway, limits):
        self.ledger = ledger
        self.gateway = gateway
        self.limits = limits

    def refund(self, user: User, order: Order, amount: Decimal, key: str) -> Refund:
        """Give part or all of an order back. 只退一次。"""
        earlier = self.ledger.refund_by_key(key)
        if earlier:
            return earlier
        amount = money(amount, order.currency)
        if amount <= 0:
            raise AmountError("amount must be positive")
        if amount > order.paid - self.refunded(order):
            raise AmountError("more than was paid")
        receipt = self.gateway.refund(order.payment, amount, idempotency_key=key)
        return self.ledger.record_refund(order, receipt, key)

    def refunded(self, order: Order) -> Decimal:
        return sum((r.amount for r in self.ledger.refunds(order)), Decimal(0))

    def receipts(self, user: User) -> list[Receipt]:
        """Newest first."""
        return sorted(self.ledger.receipts(user), key=lambda r: r.time, reverse=True)
