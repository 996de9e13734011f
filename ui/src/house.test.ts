/** House rules that no type holds: what the content security policy would refuse, and what log text could become. */
import { describe, expect, it } from 'vitest';

const sources = import.meta.glob(['./**/*.svelte', './**/*.ts', './**/*.css', '../index.html'], {
  query: '?raw',
  import: 'default',
  eager: true,
}) as Record<string, string>;

const own = Object.entries(sources).filter(([path]) => !path.includes('/api/') && !path.endsWith('.test.ts'));

/** Lines that match, as `file:line`. */
function found(pattern: RegExp, only: (path: string) => boolean = () => true): string[] {
  return own
    .filter(([path]) => only(path))
    .flatMap(([path, text]) =>
      text
        .split('\n')
        .map((line, i) => ({ line, place: `${path}:${i + 1}` }))
        .filter(({ line }) => pattern.test(line))
        .map(({ place }) => place),
    );
}

describe('the page', () => {
  it('was read at all', () => {
    expect(own.length).toBeGreaterThan(60);
    expect(sources['./kit/tokens.css']?.length).toBeGreaterThan(1000);
  });

  it('never makes markup of a text', () => {
    expect(
      found(/\{@html|innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment/u),
    ).toEqual([]);
  });

  it('has no style attribute and no inline handler, which the policy refuses', () => {
    expect(found(/\sstyle="(?![^"]*\{)/u, (path) => path.endsWith('.svelte'))).toEqual([]);
    expect(found(/\son[a-z]+="/u, (path) => path.endsWith('.svelte') || path.endsWith('.html'))).toEqual([]);
  });

  it('asks no network for anything', () => {
    expect(found(/\bfetch\(\s*['"`]|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts/u)).toEqual(
      [],
    );
    expect(
      found(/url\(|@import\s+['"]https?:/u, (path) => path.endsWith('.css') || path.endsWith('.svelte')),
    ).toEqual([]);
  });

  it('names a colour only in the tokens', () => {
    const colour = /#[0-9a-f]{3,8}\b(?!-)|\b(?:rgb|rgba|hsl|oklch|oklab)\(/iu;
    expect(
      found(
        colour,
        (path) => (path.endsWith('.css') || path.endsWith('.svelte')) && !path.includes('tokens.css'),
      ).filter((place) => !place.includes('Sprite')),
    ).toEqual([]);
  });

  it('moves only by the times of the tokens, or says what it does where less motion is wanted', () => {
    const still = (path: string) => sources[path]?.includes('prefers-reduced-motion') === true;
    const moves = found(
      /(?:animation|transition)[^;]*\b[\d.]+m?s\b|behavior: 'smooth'|scroll-behavior/u,
      (path) => !path.includes('tokens.css') && !still(path),
    );
    expect(moves).toEqual([]);
    expect(sources['./kit/tokens.css']).toMatch(/prefers-reduced-motion: reduce\)[^}]*--d-base: 0ms/u);
  });

  it('keeps its files short', () => {
    const long = own
      .filter(([path, text]) => text.split('\n').length > 720 && !path.includes('/fixture/'))
      .map(([path]) => path);
    expect(long).toEqual([]);
  });
});
