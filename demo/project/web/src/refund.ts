import { post } from './http';

export type Refund = { id: string; amount: string; currency: string };

/** Sends the form; the server decides what is allowed. */
export async function refund(orderId: string, amount: string, key: string): Promise<Refund> {
  if (!/^\d+(\.\d{1,2})?$/.test(amount)) throw new Error('The amount must be positive.');
  return post(`/api/v1/orders/${orderId}/refund`, { amount }, { 'Idempotency-Key': key });
}

export function describe(refund: Refund): string {
  return `${refund.amount} ${refund.currency}`;
}
