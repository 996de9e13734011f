import { afterEach, describe, expect, test, vi } from 'vitest';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import type { Carries, Replies, RequestType } from '../../api';
import { useHost } from '../../host';
import { exportReview } from '../../host/fixture/export';
import { player } from '../../state';
import Export from './Export.svelte';

type Asked = { type: string } & Record<string, unknown>;

function world(): Asked[] {
  const asked: Asked[] = [];
  useHost({
    ask: <T extends RequestType>(request: { type: T } & Carries<T>) => {
      asked.push(request as unknown as Asked);
      const what = (request as unknown as { what: { scope: { type: string } } }).what;
      const reply = request.type === 'reviewExport' ? exportReview(what.scope.type === 'audit') : null;
      return Promise.resolve(reply as Replies[T]);
    },
    listen: () => () => {},
  });
  HTMLDialogElement.prototype.showModal ??= vi.fn();
  HTMLDialogElement.prototype.close ??= vi.fn();
  return asked;
}

afterEach(() => {
  cleanup();
  player.a = player.b = null;
});

describe('the export dialogue', () => {
  test('asks for the part between the points, and keeps equal values together', async () => {
    const asked = world();
    player.a = 9;
    player.b = 4;
    render(Export);
    await waitFor(() => expect(screen.getAllByRole('checkbox', { hidden: true })).toHaveLength(3));
    expect(asked[0]).toMatchObject({
      type: 'reviewExport',
      what: { from: 4, to: 9, scope: { type: 'all' } },
    });
    const [first] = screen.getAllByRole<HTMLInputElement>('checkbox', { hidden: true });
    await fireEvent.click(first!);
    const checked = screen
      .getAllByRole<HTMLInputElement>('checkbox', { hidden: true })
      .map((one) => one.checked);
    expect(checked).toEqual([true, true, false]);
    expect(screen.getByText('1 place will be masked')).toBeTruthy();
    await fireEvent.click(screen.getByTestId('export-go'));
    expect(asked.at(-1)).toMatchObject({ type: 'export', format: 'jsonl', keep: [1] });
  });

  test('shows the figures of an audit', async () => {
    const asked = world();
    render(Export);
    await fireEvent.click(screen.getByText('Execution only'));
    await waitFor(() => expect(screen.getByText('be-replace')).toBeTruthy());
    expect(asked.at(-1)).toMatchObject({ what: { from: null, to: null, scope: { type: 'audit' } } });
  });
});
