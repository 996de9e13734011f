import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import type { Carries, RequestType } from '../../api';
import { request, useHost } from '../../host';
import { fixtureHost } from '../../host/fixture';
import { player, whatif } from '../../state';
import Changes from './Changes.svelte';
import { readEvents } from './edits';
import Editor from './Editor.svelte';
import Part from './Part.svelte';

const FILE = '/home/li/billing-api/app/services/payment_service.py';
type Asked = { type: string } & Record<string, unknown>;

async function world(): Promise<Asked[]> {
  const asked: Asked[] = [];
  const host = fixtureHost(new URLSearchParams());
  useHost({
    ask: <T extends RequestType>(question: { type: T } & Carries<T>) => {
      asked.push(question as unknown as Asked);
      return host.ask(question);
    },
    listen: () => () => {},
  });
  HTMLDialogElement.prototype.showModal ??= vi.fn();
  HTMLDialogElement.prototype.close ??= vi.fn();
  await player.open('log-1');
  return asked;
}

/** The last entry that makes a version of a file. */
async function lastChange(): Promise<number> {
  const tree = await request({ type: 'fileHistory', log: 'log-1', path: FILE });
  const known = tree.filter((one) => one.op === 'change').at(-1)?.index;
  if (known === undefined) throw new Error('no change');
  return known;
}

beforeEach(() => {
  whatif.drafts = [];
  whatif.compared = null;
  whatif.panel = null;
});
afterEach(() => {
  cleanup();
  player.eject();
});

describe('what if', () => {
  test('changes gather, each can be taken back, and the last one closes the branch', async () => {
    const asked = await world();
    const at = await lastChange();
    render(Changes);
    await whatif.skip(at);
    await whatif.skip(at - 2);
    await waitFor(() => expect(screen.getByTestId('whatif-strip').textContent).toContain('2 changes'));
    const view = whatif.draft?.view;
    expect(view?.divergence).toBe(at - 2);
    expect(asked.filter((one) => one.type === 'openBranch').at(-1)).toMatchObject({
      log: 'log-1',
      edits: [
        { kind: 'skip', index: at },
        { kind: 'skip', index: at - 2 },
      ],
    });
    // The branch of one change went when the one of two came.
    expect(asked.filter((one) => one.type === 'closeLog')).toMatchObject([{ log: 'branch-1' }]);
    await fireEvent.click(screen.getByTestId('whatif-remove-1'));
    await waitFor(() => expect(screen.getByTestId('whatif-strip').textContent).toContain('1 change'));
    await fireEvent.click(screen.getByTestId('whatif-remove-0'));
    await waitFor(() => expect(screen.queryByTestId('whatif-strip')).toBeNull());
    expect(whatif.pair).toBeNull();
  });

  test('a branch is looked at, has a branch of its own, and both are in the selector', async () => {
    await world();
    await whatif.skip(40);
    const first = whatif.draft?.view?.right ?? '';
    await whatif.show(first, 39);
    expect(player.id).toBe(first);
    expect(player.at).toBe(39);
    await whatif.skip(10);
    expect(whatif.draft?.base).toBe(first);
    expect(whatif.choices.map((one) => one.depth)).toEqual([0, 1, 2]);
    // What hangs on a branch goes with it; the deck goes back to a log that is there.
    await whatif.discard('log-1');
    expect(whatif.drafts).toEqual([]);
    expect(player.id).toBe('log-1');
  });

  test('the differences show the file, both texts, and jump to where the two part', async () => {
    await world();
    const at = await lastChange();
    await whatif.skip(at);
    render(Part);
    await waitFor(() =>
      expect(screen.getByTestId('differences-list').textContent).toContain('payment_service.py'),
    );
    await waitFor(() => expect(screen.getByTestId('differences-diff')).toBeTruthy());
    await fireEvent.click(screen.getByTestId('jump-right'));
    await waitFor(() => expect(player.id).toBe(whatif.drafts[0]?.view?.right));
    expect(player.at).toBe(at);
  });

  test('two logs with the same events have no difference', async () => {
    await world();
    await whatif.add('log-1', [{ kind: 'cut', at: player.count, then: null }]);
    render(Part);
    await waitFor(() => expect(screen.getByTestId('differences-same')).toBeTruthy());
  });
});

describe('the editor', () => {
  test('is made from the schema, and says at the field what is wrong', async () => {
    const asked = await world();
    render(Editor, { kind: 'insert', log: 'log-1', index: 12 });
    const type = await screen.findByTestId<HTMLSelectElement>('whatif-type');
    await waitFor(() => expect(type.options.length).toBeGreaterThan(3));
    await fireEvent.change(type, { target: { value: 'tool.result' } });
    await fireEvent.input(screen.getByTestId('field-durationMs'), { target: { value: '1.5' } });
    await waitFor(() => {
      const field = document.querySelector('[data-pointer="/durationMs"]');
      expect(field?.querySelector('[role=alert]')?.textContent).toContain('a whole number');
    });
    expect(screen.getByTestId<HTMLButtonElement>('whatif-go').disabled).toBe(true);
    await fireEvent.input(screen.getByTestId('field-durationMs'), { target: { value: '15' } });
    await fireEvent.input(screen.getByTestId('field-callId'), { target: { value: 'c1' } });
    await fireEvent.change(screen.getByTestId('field-status'), { target: { value: 'ok' } });
    await waitFor(() => expect(screen.getByTestId<HTMLButtonElement>('whatif-go').disabled).toBe(false));
    await fireEvent.click(screen.getByTestId('whatif-go'));
    await waitFor(() => expect(whatif.draft?.edits).toHaveLength(1));
    expect(asked.filter((one) => one.type === 'openBranch').at(-1)).toMatchObject({
      edits: [
        {
          kind: 'insert',
          after: 12,
          eventType: 'tool.result',
          payload: { callId: 'c1', status: 'ok', durationMs: 15 },
        },
      ],
    });
  });

  test('a nested list is a list of small forms, its faults at their fields', async () => {
    await world();
    render(Editor, { kind: 'insert', log: 'log-1', index: 12 });
    const type = await screen.findByTestId<HTMLSelectElement>('whatif-type');
    await waitFor(() => expect(type.options.length).toBeGreaterThan(3));
    await fireEvent.change(type, { target: { value: 'plan.update' } });
    await fireEvent.click(screen.getByText('Add'));
    await waitFor(() => {
      const field = document.querySelector('[data-pointer="/items/0/text"]');
      expect(field?.querySelector('[role=alert]')?.textContent).toContain('needed');
    });
  });

  test('a payload is edited as JSON too', async () => {
    await world();
    const page = await request({ type: 'entries', log: 'log-1', offset: 0, limit: 60 });
    const index = page.rows.find((row) => row.kind === 'message.user')?.index ?? 1;
    render(Editor, { kind: 'edit', log: 'log-1', index });
    const json = await waitFor(() => screen.getByText('JSON'));
    await waitFor(() => expect(document.querySelector('[data-pointer="/content"]')).toBeTruthy());
    await fireEvent.click(json);
    const area = screen.getByTestId<HTMLTextAreaElement>('whatif-json');
    await fireEvent.input(area, { target: { value: '{"content": ' } });
    await waitFor(() => expect(screen.getByTestId('whatif-fault').textContent).toContain('Not JSON'));
    await fireEvent.input(area, { target: { value: '{"content": "otherwise"}' } });
    await waitFor(() => expect(screen.getByTestId<HTMLButtonElement>('whatif-go').disabled).toBe(false));
    await fireEvent.click(screen.getByTestId('whatif-go'));
    await waitFor(() =>
      expect(whatif.draft?.edits).toEqual([{ kind: 'replace', index, payload: { content: 'otherwise' } }]),
    );
  });

  test('lines of a file are events; the first that is none is named', () => {
    const good =
      '{"type":"message.user","payload":{"content":"a"},"eventId":"x"}\n\n{"type":"plan.update"}\n';
    expect(readEvents(good).events).toMatchObject([
      { line: 1, eventType: 'message.user', eventId: 'x', payload: { content: 'a' } },
      { line: 3, eventType: 'plan.update', payload: {} },
    ]);
    expect(readEvents('{"type":"a"}\n{').fault?.line).toBe(2);
    expect(readEvents('[1]').fault?.what).toContain('needs a type');
  });
});
