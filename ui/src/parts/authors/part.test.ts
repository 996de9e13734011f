import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fixtureHost } from '../../host/fixture';
import { language } from '../../i18n';
import { selection, start } from '../../state';
import Part from './Part.svelte';

const find = (css: string) => document.querySelector<HTMLElement>(css);
const there = (css: string) =>
  waitFor(
    () => {
      const found = find(css);
      if (!found) throw new Error(css);
      return found;
    },
    { timeout: 3000 },
  );

beforeEach(async () => {
  await start(fixtureHost(new URLSearchParams('log=none')));
  selection.showPath(null, null);
  selection.project = null;
});
afterEach(() => {
  language.choose('en');
  cleanup();
});

test('from the files of a project to yesterday’s version', async () => {
  render(Part);
  (await there("[data-path='app/models/card.py']")).click();
  expect(selection.projectPath).toBe('app/models/card.py');
  await there('[data-version]');
  const days = () => screen.getAllByTestId('day').map((day) => day.textContent);
  expect(days()[0]).toBe('Today');
  expect(days().length).toBeGreaterThanOrEqual(2);
  // It is chosen before anybody chose, and what settles it is said.
  const shown = await there("[data-testid='path-version'][data-version='b']");
  expect(screen.getByTestId('path-why').textContent).toContain('settled by git commit 4f1c20ab9e');
  expect(screen.getByTestId('path-also').textContent).toContain('git 4f1c20ab9e committed');
  await waitFor(() => expect(screen.getByTestId('path-restore-button').textContent).toContain('card.py'));

  // What the disk has, and what nobody knows, can't be restored.
  const press = async (key: string, version: string) => {
    await fireEvent.keyDown(screen.getByTestId('path-versions'), { key });
    await waitFor(() => expect(shown.dataset['version']).toBe(version));
  };
  await press('ArrowDown', 'c');
  await press('j', 'd');
  expect(screen.getByTestId('path-restore-row').textContent).toContain(
    'Nobody knows the whole content of this version.',
  );
  for (const version of ['c', 'b', 'a', 'disk']) await press('ArrowUp', version);
  expect(screen.getByTestId('path-restore-row').textContent).toContain('The disk has this version.');

  language.choose('zh-CN');
  await waitFor(() => expect(days()[0]).toBe('今天'));
  screen.getByTestId('path-back').click();
  expect(selection.projectPath).toBeNull();
});

test('a file is found by its name', async () => {
  render(Part);
  await waitFor(() => expect(screen.getByTestId('project-count').textContent).toMatch(/ files$/u));
  const field = screen.getByTestId('project-query');
  await fireEvent.input(field, { target: { value: 'refund_rules' } });
  await waitFor(() => expect(screen.getByTestId('project-count').textContent).toBe('1 file'));
  await there("[data-path='app/services/refund_rules.py']");
  await fireEvent.keyDown(field, { key: 'Enter' });
  expect(selection.projectPath).toBe('app/services/refund_rules.py');
  await there('[data-version]');
});
