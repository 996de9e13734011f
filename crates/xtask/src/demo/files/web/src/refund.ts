import { post } from './http';

export type Refund = { id: string; amount: number; currency: string };

/** Sends the form; the server decides what is allowed. */
export async function refund(orderId: string, amount: number): Promise<Refund> {
  if (!(amount > 0)) throw new Error('The amount must be positive.');
  return post(`/api/v1/orders/${orderId}/refund`, { amount: amount.toFixed(2) });
}

export function describe(refund: Refund): string {
  return `${refund.amount.toFixed(2)} ${refund.currency}`;
}
