//! The story: refunds move from floats to exact amounts. Most of it goes well. After the compaction the agent writes
//! `refunds.py` again from memory, and the daily limit and the card check are gone; lines of the limits are deleted,
//! a script that "looked unused" is removed, and a page of documentation that the dialogue calls written never was.

use super::telling::Telling;
use serde_json::json;

macro_rules! file {
    ($path:literal) => {
        include_str!(concat!("files/", $path))
    };
}

const MONEY: &str = r#""""Exact amounts. 金额一律用 Decimal，不用浮点数。"""

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


def money(value: str | int | Decimal) -> Decimal:
    """Rounds half up to the cent, as the bank does."""
    return Decimal(value).quantize(CENT, rounding=ROUND_HALF_UP)
"#;

const MONEY_WITH_YEN: &str = r#"def money(value: str | int | Decimal, currency: str = "EUR") -> Decimal:
    """Rounds half up to the currency's smallest unit, as the bank does."""
    unit = UNITS.get(currency, CENT)
    return Decimal(value).quantize(unit, rounding=ROUND_HALF_UP)
"#;

const ERRORS: &str = r#""""What a refund can fail with; the API turns each into a status."""


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
"#;

const TEST_MONEY: &str = r#"from decimal import Decimal

import pytest

from orders.money import money


@pytest.mark.parametrize(
    ("text", "cents"),
    [("0.005", "0.01"), ("0.004", "0.00"), ("19.995", "20.00"), ("1e2", "100.00")],
)
def test_rounds_half_up(text, cents):
    assert money(text) == Decimal(cents)
"#;

/// What the agent writes from memory after the compaction: shorter, plausible, and two checks poorer.
const FROM_MEMORY: &str = r#""""Refunds: give money back, once, and never more than was paid."""

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
"#;

const DOCS: &str = r#"# 退款流程

1. 客户端提交 `amount` 与 `Idempotency-Key`。
2. 服务检查金额（大于 0，且不超过未退部分）。
3. 检查当日限额，见 `config/limits.yaml`。
4. 校验卡片，然后调用支付网关。

同一个 `Idempotency-Key` 只会退一次，重复请求返回第一次的结果。
"#;

const CHANGELOG: &str = r#"# Changes

## Unreleased

- Refund amounts are exact decimals; `1.005` no longer becomes `1.00`.
- A refund takes an `Idempotency-Key`: sent twice, given once.
- Amounts in yen and won have no cents.
"#;

pub fn tell() -> Telling {
    let mut t = Telling::default();
    for (path, content) in [
        ("orders/refunds.py", file!("orders/refunds.py")),
        ("orders/api.py", file!("orders/api.py")),
        ("web/src/refund.ts", file!("web/src/refund.ts")),
        ("config/limits.yaml", file!("config/limits.yaml")),
        ("tests/test_refunds.py", file!("tests/test_refunds.py")),
        ("scripts/backfill.py", file!("scripts/backfill.py")),
        ("README.md", file!("README.md")),
        ("README.zh.md", file!("README.zh.md")),
    ] {
        t.on_disk(path, content);
    }
    t.session_starts("/home/lin/orders");
    exact_amounts(&mut t);
    said_once(&mut t);
    the_page(&mut t);
    yen(&mut t);
    let through = words(&mut t);
    t.compacts(
        &through,
        "Working on orders, a Flask service. Amounts are Decimal through orders/money.py, errors live in orders/errors.py. \
         RefundService.refund(user, order, amount, key) is idempotent by key. The web form sends the key. Yen and won have no \
         cents. Left to do: tidy refunds.py (it grew), remove what is unused, document the flow in Chinese.",
        61_240,
        2_180,
    );
    from_memory(&mut t);
    tidy(&mut t);
    asked(&mut t);
    t.session_ends("user closed the window");
    by_hand(&mut t);
    t
}

fn exact_amounts(t: &mut Telling) {
    t.user("Refunds round cents wrong: 1.005 gives 1.00. Move refund amounts to Decimal, half up. Keep the API as it is. 别动其他逻辑。");
    t.also("memory.add", json!({"id": "m1", "zone": "hot", "role": "user", "content": "Move refund amounts to Decimal, half up; keep the API; touch nothing else", "tokens": 24}));
    t.says("I'll look at the refund path first.");
    for path in [
        "orders/refunds.py",
        "orders/api.py",
        "tests/test_refunds.py",
        "README.md",
    ] {
        t.reads(path);
    }
    t.also("plan.create", json!({"planId": "p1", "task": "Exact refund amounts", "plan": {
        "required_files": ["orders/refunds.py", "orders/api.py", "tests/test_refunds.py"],
        "key_segments": [{"file": "orders/refunds.py", "section": "def refund()", "reason": "where amounts are rounded"}],
        "excluded_context": ["web", "scripts"]}}));
    t.after(18);
    t.also(
        "plan.review",
        json!({"planId": "p1", "decision": "approved"}),
    );
    t.also(
        "context.load",
        json!({"planId": "p1", "tokens": 1180, "segments": [
        {"file": "orders/refunds.py", "section": "line 1-52", "tokens": 640},
        {"file": "orders/api.py", "section": "line 1-21", "tokens": 210},
        {"file": "tests/test_refunds.py", "section": "line 1-23", "tokens": 330}]}),
    );
    for (n, (path, tokens)) in [
        ("orders/refunds.py", 640),
        ("orders/api.py", 210),
        ("tests/test_refunds.py", 330),
    ]
    .into_iter()
    .enumerate()
    {
        t.also("memory.add", json!({"id": format!("f{}", n + 1), "zone": "warm", "content": path, "filePath": path, "tokens": tokens}));
    }
    t.runs("python -m pytest -q", "3 passed in 0.41s", "ok");
    t.says("The tests pass on floats because they only use round numbers. A small module for amounts, then the service.");
    t.writes("orders/money.py", MONEY);
    t.writes("tests/test_money.py", TEST_MONEY);
    t.runs(
        "python -m pytest -q tests/test_money.py",
        "4 passed in 0.08s",
        "ok",
    );
    t.replaces(
        "orders/refunds.py",
        "from datetime import date\n\nfrom orders.ledger import Ledger\nfrom orders.models import Order, Receipt, Refund, User\n",
        "from datetime import date\nfrom decimal import Decimal\n\nfrom orders.ledger import Ledger\nfrom orders.models import Order, Receipt, Refund, User\nfrom orders.money import money\n",
    );
    t.fails(
        "be-replace",
        json!({"file": "orders/refunds.py:19-22", "old": "    def refund(self, user, order, amount):\n", "content": "    def refund(self, user: User, order: Order, amount: Decimal) -> Refund:\n"}),
        "invalid argument: replace: old content does not match (lines 19-22)",
        "error",
    );
    t.says("I quoted the line from memory; once more with the text as it stands.");
    t.replaces(
        "orders/refunds.py",
        "def refund(self, user: User, order: Order, amount: float) -> Refund:",
        "def refund(self, user: User, order: Order, amount: Decimal) -> Refund:",
    );
    t.replaces(
        "orders/refunds.py",
        "        if amount <= 0:\n",
        "        amount = money(amount)\n        if amount <= 0:\n",
    );
    t.replaces(
        "orders/refunds.py",
        "self.gateway.refund(order.payment, round(amount, 2))",
        "self.gateway.refund(order.payment, amount)",
    );
    t.replaces("orders/refunds.py", "def refunded(self, order: Order) -> float:\n        return sum(r.amount for r in self.ledger.refunds(order))", "def refunded(self, order: Order) -> Decimal:\n        return sum((r.amount for r in self.ledger.refunds(order)), Decimal(0))");
    t.replaces(
        "orders/refunds.py",
        "amount: float) -> None:",
        "amount: Decimal) -> None:",
    );
    t.replaces(
        "orders/refunds.py",
        "spent = sum(r.amount for r in self.ledger.refunds_on(user, date.today()))",
        "spent = sum((r.amount for r in self.ledger.refunds_on(user, date.today())), Decimal(0))",
    );
    t.replaces(
        "orders/api.py",
        "float(body[\"amount\"])",
        "money(str(body[\"amount\"]))",
    );
    t.runs(
        "python -m pytest -q",
        "E   NameError: name 'money' is not defined\n1 failed, 6 passed in 0.52s",
        "error",
    );
    t.replaces(
        "orders/api.py",
        "from orders import services\n",
        "from orders import services\nfrom orders.money import money\n",
    );
    t.replaces("tests/test_refunds.py", "    assert service.refund(user, order, 10.0).amount == 10.0\n", "    assert service.refund(user, order, Decimal(\"10.005\")).amount == Decimal(\"10.01\")\n");
    t.replaces(
        "tests/test_refunds.py",
        "import pytest\n",
        "from decimal import Decimal\n\nimport pytest\n",
    );
    t.runs("python -m pytest -q", "7 passed in 0.47s", "ok");
    t.says("Refund amounts are Decimal now and round half up. The API takes and gives what it did before; nothing else was touched.");
    t.also(
        "memory.move",
        json!({"id": "f3", "to": "cold", "reason": "demotion", "score": 0.71}),
    );
}

fn said_once(t: &mut Telling) {
    t.after(140);
    t.user("Good. A double click gave a customer two refunds last week. Make it idempotent, with a key from the client.");
    t.also("memory.add", json!({"id": "m2", "zone": "hot", "role": "user", "content": "Refunds idempotent by a key from the client", "tokens": 14}));
    t.says("The service takes a key and asks the ledger for an earlier refund with it. Errors get classes of their own on the way, so the API can answer with the right status.");
    t.writes("orders/errors.py", ERRORS);
    t.replaces("orders/refunds.py", "from orders.ledger import Ledger\n", "from orders.errors import AmountError, CardRejected, LimitError\nfrom orders.ledger import Ledger\n");
    t.replaces("orders/refunds.py", "amount: Decimal) -> Refund:\n        \"\"\"Give part or all of an order back. 只退一次。\"\"\"\n", "amount: Decimal, key: str) -> Refund:\n        \"\"\"Give part or all of an order back. 只退一次。\"\"\"\n        earlier = self.ledger.refund_by_key(key)\n        if earlier:\n            return earlier\n");
    t.replaces(
        "orders/refunds.py",
        "raise ValueError(\"amount must be positive\")",
        "raise AmountError(\"amount must be positive\")",
    );
    t.replaces(
        "orders/refunds.py",
        "raise ValueError(\"more than was paid\")",
        "raise AmountError(\"more than was paid\")",
    );
    t.replaces(
        "orders/refunds.py",
        "raise PermissionError(f\"daily limit:",
        "raise LimitError(f\"daily limit:",
    );
    t.replaces(
        "orders/refunds.py",
        "raise ValueError(\"卡号校验失败: Luhn check\")",
        "raise CardRejected(\"卡号校验失败: Luhn check\")",
    );
    t.replaces(
        "orders/refunds.py",
        "raise ValueError(\"卡片已过期: card expired\")",
        "raise CardRejected(\"卡片已过期: card expired\")",
    );
    t.replaces("orders/refunds.py", "        receipt = self.gateway.refund(order.payment, amount)\n        return self.ledger.record_refund(order, receipt)\n", "        receipt = self.gateway.refund(order.payment, amount, idempotency_key=key)\n        return self.ledger.record_refund(order, receipt, key)\n");
    t.replaces("orders/api.py", "    done = services.refunds.refund(request.user, order, money(str(body[\"amount\"])))\n", "    key = request.headers.get(\"Idempotency-Key\") or str(uuid4())\n    done = services.refunds.refund(request.user, order, money(str(body[\"amount\"])), key)\n");
    t.replaces(
        "orders/api.py",
        "from flask import Blueprint, jsonify, request\n",
        "from uuid import uuid4\n\nfrom flask import Blueprint, jsonify, request\n",
    );
    t.replaces("orders/api.py", "@api.get(\"/orders/<order_id>\")\n", "@api.errorhandler(RefundError)\ndef refused(error: RefundError):\n    return jsonify(error=str(error)), error.status\n\n\n@api.get(\"/orders/<order_id>\")\n");
    t.replaces(
        "orders/api.py",
        "from orders import services\n",
        "from orders import services\nfrom orders.errors import RefundError\n",
    );
    t.runs("python -m pytest -q", "E   TypeError: refund() missing 1 required positional argument: 'key'\n3 failed, 4 passed in 0.61s", "error");
    t.replaces(
        "tests/test_refunds.py",
        "order, Decimal(\"10.005\")).amount",
        "order, Decimal(\"10.005\"), \"k1\").amount",
    );
    t.replaces("tests/test_refunds.py", "    with pytest.raises(ValueError):\n        service.refund(user, order, order.paid + 1)\n", "    with pytest.raises(AmountError):\n        service.refund(user, order, order.paid + 1, \"k1\")\n");
    t.replaces("tests/test_refunds.py", "    service.refund(user, order, 10.0)\n    with pytest.raises(PermissionError):\n        service.refund(user, order, 10.0)\n", "    service.refund(user, order, Decimal(10), \"k1\")\n    with pytest.raises(LimitError):\n        service.refund(user, order, Decimal(10), \"k2\")\n\n\ndef test_sent_twice_given_once(service, order, user):\n    first = service.refund(user, order, Decimal(10), \"k1\")\n    assert service.refund(user, order, Decimal(10), \"k1\") == first\n");
    t.replaces("tests/test_refunds.py", "from orders.refunds import RefundService\n", "from orders.errors import AmountError, LimitError\nfrom orders.refunds import RefundService\n");
    t.runs("python -m pytest -q", "8 passed in 0.55s", "ok");
    t.says(
        "Sent twice, given once: the key goes to the ledger and to the gateway. Eight tests pass.",
    );
}

fn the_page(t: &mut Telling) {
    t.after(170);
    t.user("Now the web form: send the key, and disable the button while it runs.");
    t.says("Reading the form's code.");
    t.reads("web/src/refund.ts");
    t.fails(
        "be-replace",
        json!({"file": "web/src/refund.ts:8-9", "old": "  return post(`/api/v1/orders/${orderId}/refund`, { amount });\n", "content": "  return post(`/api/v1/orders/${orderId}/refund`, { amount: amount.toFixed(2) }, { 'Idempotency-Key': key });\n"}),
        "invalid argument: replace: old content does not match (lines 8-9)",
        "error",
    );
    t.replaces("web/src/refund.ts", "  return post(`/api/v1/orders/${orderId}/refund`, { amount: amount.toFixed(2) });\n", "  return post(`/api/v1/orders/${orderId}/refund`, { amount }, { 'Idempotency-Key': key });\n");
    t.replaces("web/src/refund.ts", "export async function refund(orderId: string, amount: number): Promise<Refund> {\n  if (!(amount > 0)) throw new Error('The amount must be positive.');\n", "export async function refund(orderId: string, amount: string, key: string): Promise<Refund> {\n  if (!/^\\d+(\\.\\d{1,2})?$/.test(amount)) throw new Error('The amount must be positive.');\n");
    t.replaces(
        "web/src/refund.ts",
        "export type Refund = { id: string; amount: number; currency: string };\n",
        "export type Refund = { id: string; amount: string; currency: string };\n",
    );
    t.replaces(
        "web/src/refund.ts",
        "  return `${refund.amount.toFixed(2)} ${refund.currency}`;\n",
        "  return `${refund.amount} ${refund.currency}`;\n",
    );
    t.writes("web/src/once.ts", "/** Runs `work` with one key until it ends; clicks in between do nothing. */\nexport function once<T>(work: (key: string) => Promise<T>): () => Promise<T | undefined> {\n  let running = false;\n  return async () => {\n    if (running) return undefined;\n    running = true;\n    try {\n      return await work(crypto.randomUUID());\n    } finally {\n      running = false;\n    }\n  };\n}\n");
    t.runs(
        "npm --prefix web run check",
        "src/refund.ts(9,61): error TS2554: Expected 2 arguments, but got 3.",
        "error",
    );
    // The types of the HTTP wrapper were never shown: only the piece that changed is known.
    t.also("file.change", json!({"path": "web/src/http.ts", "edits": [{"old": "body: unknown)", "new": "body: unknown, headers: Record<string, string> = {})"}]}));
    t.runs("npm --prefix web run check", "no problems found", "ok");
    t.runs("npm --prefix web test", "12 passed", "ok");
    t.says("The form makes one key for each press and ignores further clicks until the answer is there.");
    t.also("memory.add", json!({"id": "f4", "zone": "warm", "content": "web/src/refund.ts", "filePath": "web/src/refund.ts", "tokens": 260}));
}

fn yen(t: &mut Telling) {
    t.after(210);
    t.user("日元和韩元没有小数，money() 会把 1000 变成 1000.00，网关报错。修一下。");
    t.also("memory.add", json!({"id": "m3", "zone": "hot", "role": "user", "content": "JPY and KRW have no cents", "tokens": 12}));
    t.says("money() 需要知道币种：日元、韩元、越南盾取整，其余两位小数。");
    t.replaces("orders/money.py", "CENT = Decimal(\"0.01\")\n", "CENT = Decimal(\"0.01\")\nUNITS = {\"JPY\": Decimal(1), \"KRW\": Decimal(1), \"VND\": Decimal(1)}\n");
    let from = MONEY
        .split_once("def money")
        .map(|(_, rest)| format!("def money{rest}"))
        .unwrap_or_default();
    t.replaces("orders/money.py", &from, MONEY_WITH_YEN);
    t.replaces(
        "orders/refunds.py",
        "amount = money(amount)\n",
        "amount = money(amount, order.currency)\n",
    );
    t.replaces(
        "orders/api.py",
        "money(str(body[\"amount\"])), key)",
        "money(str(body[\"amount\"]), order.currency), key)",
    );
    t.replaces("tests/test_money.py", "    assert money(text) == Decimal(cents)\n", "    assert money(text) == Decimal(cents)\n\n\ndef test_yen_has_no_cents():\n    assert str(money(\"1000.4\", \"JPY\")) == \"1000\"\n");
    t.runs("python -m pytest -q", "9 passed in 0.58s", "ok");
    t.fails(
        "shell",
        json!({"command": "git push origin main"}),
        "denied by the user: pushing is not allowed",
        "error",
    );
    t.says("改好了，测试全部通过。没有推送。");
}

fn words(t: &mut Telling) -> String {
    t.after(120);
    t.user("Add it to a changelog, and put the current gateway time-out in the README.");
    t.writes("CHANGELOG.md", CHANGELOG);
    t.reads("config/limits.yaml");
    t.replaces("README.md", "the amount, the daily limit of `config/limits.yaml`, the card, then the gateway.\n", "the amount, the daily limit of `config/limits.yaml`, the card, then the gateway\n(8 s time-out, 3 tries). Send an `Idempotency-Key`: the same key is refunded once.\n");
    t.also("memory.move", json!({"id": "m1", "to": "cold", "reason": "compression", "score": 0.64, "content": "Decimal, half up"}));
    t.also(
        "memory.remove",
        json!({"id": "f3", "reason": "unused for 20 minutes"}),
    );
    t.says("Both are written.")
}

/// The loss.
fn from_memory(t: &mut Telling) {
    t.after(100);
    t.user("refunds.py has grown. Tidy it up, no change in behaviour.");
    t.also("memory.add", json!({"id": "m4", "zone": "hot", "role": "user", "content": "Tidy refunds.py, no change in behaviour", "tokens": 11}));
    t.says("I'll write it again in one piece.");
    t.fails(
        "be-write",
        json!({"file": "orders/refunds.py", "mode": "overwrite", "note": "tidied, same behaviour"}),
        "write: missing content argument",
        "error",
    );
    t.writes("orders/refunds.py", FROM_MEMORY);
    t.runs(
        "python -m pytest -q -k 'not daily_limit'",
        "8 passed, 1 deselected in 0.52s",
        "ok",
    );
    t.says("Tidied: 13 lines shorter, same behaviour, the tests pass.");
    t.also(
        "memory.move",
        json!({"id": "f1", "to": "cold", "reason": "demotion", "score": 0.82}),
    );
}

fn tidy(t: &mut Telling) {
    t.after(90);
    t.user("Remove what is unused now, and document the flow in Chinese in docs/.");
    t.says("Looking for what nothing refers to.");
    t.runs(
        "grep -rn 'cool_down\\|max_per_user\\|backfill' orders web tests",
        "",
        "ok",
    );
    t.deletes_lines("config/limits.yaml", 7, 10);
    t.reads("scripts/backfill.py");
    t.deletes_lines("scripts/backfill.py", 12, 17);
    t.removes("scripts/backfill.py");
    t.reads("README.zh.md");
    t.deletes_lines("README.zh.md", 10, 13);
    t.renames("web/src/once.ts", "web/src/single.ts");
    t.says("The flow in Chinese goes to docs/refunds.zh.md.");
    // There is no docs/ yet. The dialogue is told that it went well.
    t.fails(
        "be-write",
        json!({"file": "docs/refunds.zh.md", "content": DOCS}),
        "write error: open docs/refunds.zh.md: no such file or directory",
        "ok",
    );
    t.says("Done: unused settings and the old script are gone, docs/refunds.zh.md is written. Nothing was lost.");
    t.runs("npm --prefix web test", "timed out after 120 s", "timeout");
    t.also("memory.remove", json!({"id": "f2", "reason": "budget"}));
}

fn asked(t: &mut Telling) {
    t.after(230);
    t.user("Finance asks: where is the daily limit? And docs/refunds.zh.md does not exist. 限额去哪了？");
    t.says("Let me look.");
    t.reads("orders/refunds.py");
    t.fails(
        "be-read",
        json!({"file": "docs/refunds.zh.md"}),
        "read error: open docs/refunds.zh.md: no such file or directory",
        "error",
    );
    t.says("You are right: when I wrote refunds.py again I left out check_daily_limit and verify_card, and the write of docs/refunds.zh.md failed. I no longer have the old text in my context.");
    t.starts_and_never_ends("git checkout orders/refunds.py");
}

/// What people did to the files after the log ended: the disk has moved on, so some restores are merges.
fn by_hand(t: &mut Telling) {
    t.changed_by_hand(
        "README.md",
        "    make test\n",
        "    make test\n    make lint\n",
    );
    t.changed_by_hand(
        "config/limits.yaml",
        "  daily: 500.00\n",
        "  daily: 400.00\n",
    );
    t.changed_by_hand(
        "orders/money.py",
        "\"VND\": Decimal(1)}\n",
        "\"VND\": Decimal(1), \"ISK\": Decimal(1)}\n",
    );
}
