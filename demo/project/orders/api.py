from uuid import uuid4

from flask import Blueprint, jsonify, request

from orders import services
from orders.errors import RefundError
from orders.money import money

api = Blueprint("orders", __name__, url_prefix="/api/v1")


@api.post("/orders/<order_id>/refund")
def refund(order_id: str):
    body = request.get_json()
    order = services.orders.get(order_id)
    key = request.headers.get("Idempotency-Key") or str(uuid4())
    done = services.refunds.refund(request.user, order, money(str(body["amount"]), order.currency), key)
    return jsonify(id=done.id, amount=done.amount, currency=order.currency)


@api.errorhandler(RefundError)
def refused(error: RefundError):
    return jsonify(error=str(error)), error.status


@api.get("/orders/<order_id>")
def show(order_id: str):
    order = services.orders.get(order_id)
    return jsonify(id=order.id, paid=order.paid, currency=order.currency)
