import { expect, it } from 'vitest';
import { pathTail } from './paths';

it('keeps the last names of a path, and all of a short one', () => {
  expect(pathTail('/home/li/billing-api/app/x.py')).toBe('…/billing-api/app/x.py');
  expect(pathTail('/a/b/c')).toBe('/a/b/c');
  expect(pathTail('src/x.py')).toBe('src/x.py');
  expect(pathTail('C:\\Users\\li\\x\\y.rs', 2)).toBe('…/x/y.rs');
  expect(pathTail('')).toBe('');
});
