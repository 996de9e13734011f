"""Refunds: give money back, once, and never more than was paid."""

from datetime import date

from orders.ledger import Ledger
from orders.models import Order, Receipt, Refund, User


class RefundService:
    def __init__(self, ledger: Ledger, gateway, limits):
        self.ledger = ledger
        self.gateway = gateway
        self.limits = limits

    def refund(self, user: User, order: Order, amount: float) -> Refund:
        """Give part or all of an order back. 只退一次。"""
        if amount <= 0:
            raise ValueError("amount must be positive")
        if amount > order.paid - self.refunded(order):
            raise ValueError("more than was paid")
        self.check_daily_limit(user, amount)
        self.verify_card(user.card)
        receipt = self.gateway.refund(order.payment, round(amount, 2))
        return self.ledger.record_refund(order, receipt)

    def refunded(self, order: Order) -> float:
        return sum(r.amount for r in self.ledger.refunds(order))

    def check_daily_limit(self, user: User, amount: float) -> None:
        """每日限额：防止账号被盗后一次退光。Set after the incident of 3 March."""
        spent = sum(r.amount for r in self.ledger.refunds_on(user, date.today()))
        if spent + amount > self.limits.daily_refund:
            raise PermissionError(f"daily limit: {spent} of {self.limits.daily_refund} used")

    def verify_card(self, card) -> None:
        """Luhn check and expiry. 卡号与有效期校验。"""
        digits = [int(c) for c in card.digits]
        odd, even = digits[-1::-2], digits[-2::-2]
        total = sum(odd) + sum(LUHN[d] for d in even)
        if total % 10:
            raise ValueError("卡号校验失败: Luhn check")
        if card.expires < date.today():
            raise ValueError("卡片已过期: card expired")

    def receipts(self, user: User) -> list[Receipt]:
        """Newest first."""
        return sorted(self.ledger.receipts(user), key=lambda r: r.time, reverse=True)


LUHN = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
