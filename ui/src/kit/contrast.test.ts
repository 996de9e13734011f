/**
 * WCAG 2 contrast of the tokens, in both themes: text 4.5 to 1, lines and shapes that carry meaning 3 to 1, each on the
 * worst of the surfaces that it stands on, states laid over them included.
 */
import { describe, expect, it } from 'vitest';

const css = Object.values(
  import.meta.glob('./tokens.css', { query: '?raw', import: 'default', eager: true }),
).join('') as string;

type Rgba = [number, number, number, number];
const THEMES = ['light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

/** CSS Color 4: oklch to gamma-encoded sRGB, clipped. */
function oklch(l: number, c: number, h: number, alpha: number): Rgba {
  const a = c * Math.cos((h * Math.PI) / 180);
  const b = c * Math.sin((h * Math.PI) / 180);
  const [x, y, z] = [
    (l + 0.3963377774 * a + 0.2158037573 * b) ** 3,
    (l - 0.1055613458 * a - 0.0638541728 * b) ** 3,
    (l - 0.0894841775 * a - 1.291485548 * b) ** 3,
  ];
  const encode = (v: number) => {
    const u = Math.min(1, Math.max(0, v));
    return u <= 0.0031308 ? 12.92 * u : 1.055 * u ** (1 / 2.4) - 0.055;
  };
  return [
    encode(4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z),
    encode(-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z),
    encode(-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z),
    alpha,
  ];
}

/** Every token that is a pair of colours. */
const tokens = new Map<string, Record<Theme, Rgba>>();
const COLOUR = /oklch\(\s*([\d.]+)\s+([\d.]+)\s+([\d.]+)(?:\s*\/\s*([\d.]+))?\s*\)/g;
for (const [, name, pair] of css.matchAll(/--([\w-]+):\s*light-dark\(((?:[^()]|\([^()]*\))*)\)/g)) {
  const found = [...(pair ?? '').matchAll(COLOUR)].map(([, l, c, h, a]) =>
    oklch(Number(l), Number(c), Number(h), a === undefined ? 1 : Number(a)),
  );
  const [light, dark] = found;
  if (name && light && dark) tokens.set(name, { light, dark });
}

function token(name: string, theme: Theme): Rgba {
  const found = tokens.get(name)?.[theme];
  if (!found) throw new Error(`no colour --${name}`);
  return found;
}
const over = (top: Rgba, under: Rgba): Rgba => {
  const mix = (i: 0 | 1 | 2) => top[i] * top[3] + under[i] * (1 - top[3]);
  return [mix(0), mix(1), mix(2), 1];
};
function luminance([r, g, b]: Rgba): number {
  const linear = (v: number) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}
function ratio(a: Rgba, b: Rgba): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** `surface+select`: a state over a surface. */
function paint(where: string, theme: Theme): Rgba {
  const [base = '', ...layers] = where.split('+');
  return layers.reduce((under, layer) => over(token(layer, theme), under), token(base, theme));
}

const SURFACES = ['bg', 'surface', 'sunken', 'raised'];
const STATES = SURFACES.flatMap((one) => [one, `${one}+hover`, `${one}+select`]);
const DIFF = ['surface', 'add', 'del'];
const WORDS = ['add-word', 'del-word'];
const TRACKS = ['dialogue', 'tools', 'files', 'chips', 'memory', 'errors', 'marks', 'branch'];

const TEXT: [string, string[]][] = [
  ['ink', [...STATES, ...DIFF, ...WORDS, 'bg+press', 'raised+press']],
  ['ink-2', [...STATES, ...DIFF]],
  // The quietest text: never on a selected row but as a count, where it is drawn in ink-2.
  ['ink-3', [...SURFACES, ...SURFACES.map((one) => `${one}+hover`), ...DIFF]],
  ['accent-text', [...SURFACES, 'surface+select']],
  ['accent-ink', ['accent', 'accent-hover', 'playhead']],
  ['error', [...SURFACES, 'surface+select', 'bg+select', 'error-bg']],
  ['warn', [...SURFACES, 'surface+select', 'bg+select']],
  ['ok', [...SURFACES, 'surface+select', 'bg+select']],
  ['add-mark', ['add', 'surface']],
  ['del-mark', ['del', 'surface']],
  ['bg', ['ink']],
  ...['kw', 'str', 'num', 'fn', 'type', 'com'].map((one): [string, string[]] => [
    `c-${one}`,
    [...DIFF, ...WORDS, 'sunken', 'bg', 'raised'],
  ]),
];
const SHAPES: [string, string[]][] = [
  ['focus', STATES],
  ['playhead', ['sunken', 'bg']],
  ['add-mark', ['add', 'sunken']],
  ['del-mark', ['del', 'sunken']],
  ...TRACKS.map((one): [string, string[]] => [`t-${one}`, ['sunken', 'bg']]),
];

describe.each(THEMES)('in the %s theme', (theme) => {
  it('has every colour that is measured', () => {
    expect(tokens.size).toBeGreaterThan(40);
  });

  it.each(TEXT)('the text --%s is read on each of its grounds', (name, grounds) => {
    const poor = grounds
      .map((ground) => [ground, ratio(token(name, theme), paint(ground, theme))] as const)
      .filter(([, found]) => found < 4.5)
      .map(([ground, found]) => `${ground} ${found.toFixed(2)}`);
    expect(poor).toEqual([]);
  });

  it.each(SHAPES)('the shape --%s is seen on each of its grounds', (name, grounds) => {
    const poor = grounds
      .map((ground) => [ground, ratio(token(name, theme), paint(ground, theme))] as const)
      .filter(([, found]) => found < 3)
      .map(([ground, found]) => `${ground} ${found.toFixed(2)}`);
    expect(poor).toEqual([]);
  });
});

it('black on white is 21 to 1, so the measure is right', () => {
  expect(ratio([0, 0, 0, 1], [1, 1, 1, 1])).toBeCloseTo(21, 5);
  // The reference of the specification: oklch(0.5 0.2 240) is about rgb(0 105 199) once clipped.
  expect(
    oklch(1, 0, 0, 1)
      .slice(0, 3)
      .every((v) => Math.abs(v - 1) < 1e-3),
  ).toBe(true);
});
