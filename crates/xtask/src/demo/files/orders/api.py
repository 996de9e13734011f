from flask import Blueprint, jsonify, request

from orders import services

api = Blueprint("orders", __name__, url_prefix="/api/v1")


@api.post("/orders/<order_id>/refund")
def refund(order_id: str):
    body = request.get_json()
    order = services.orders.get(order_id)
    done = services.refunds.refund(request.user, order, float(body["amount"]))
    return jsonify(id=done.id, amount=done.amount, currency=order.currency)


@api.get("/orders/<order_id>")
def show(order_id: str):
    order = services.orders.get(order_id)
    return jsonify(id=order.id, paid=order.paid, currency=order.currency)
