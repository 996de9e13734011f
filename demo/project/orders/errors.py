"""What a refund can fail with; the API turns each into a status."""


class RefundError(Exception):
    status = 400


class AmountError(RefundError):
    """Not positive, or more than was paid."""


class LimitError(RefundError):
    """The user's daily limit is used up. 当日限额已用完。"""

    status = 429


class CardRejected(RefundError):
    """卡片校验失败或已过期。"""

    status = 402
