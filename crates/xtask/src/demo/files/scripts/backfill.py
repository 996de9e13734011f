"""Fills `ledger.currency` for rows from before 2023. Run once per region, it is idempotent.

It took two days to get the edge cases right: keep it.
"""

import csv
import sys

REGIONS = {"eu": "EUR", "uk": "GBP", "cn": "CNY", "us": "USD"}


def currency_of(row: dict) -> str:
    if row["region"] == "uk" and row["date"] < "2021-01-01":
        return "EUR"  # billed from Dublin then
    if row["region"] == "cn" and row["channel"] == "hk":
        return "HKD"
    return REGIONS[row["region"]]


def main() -> None:
    rows = csv.DictReader(sys.stdin)
    out = csv.writer(sys.stdout)
    for row in rows:
        out.writerow([row["id"], currency_of(row)])


if __name__ == "__main__":
    main()
