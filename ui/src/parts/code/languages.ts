// Grammars for code, loaded when first met: a language's name (as the engine gives it, by file name) → a Lezer
// parser. Leaves out: what the tokens look like (highlight.ts) and guessing a language from content.
import type { Parser } from '@lezer/common';

type Load = () => Promise<Parser>;

async function legacy(mode: Promise<unknown>, name: string): Promise<Parser> {
  const [{ StreamLanguage }, found] = await Promise.all([import('@codemirror/language'), mode]);
  const spec = (found as Record<string, unknown>)[name];
  return StreamLanguage.define(spec as Parameters<typeof StreamLanguage.define>[0]).parser;
}

const clike = () => import('@codemirror/legacy-modes/mode/clike');

const loaders: Record<string, Load> = {
  javascript: async () => (await import('@lezer/javascript')).parser,
  jsx: async () => (await import('@lezer/javascript')).parser.configure({ dialect: 'jsx' }),
  typescript: async () => (await import('@lezer/javascript')).parser.configure({ dialect: 'ts' }),
  tsx: async () => (await import('@lezer/javascript')).parser.configure({ dialect: 'jsx ts' }),
  python: async () => (await import('@lezer/python')).parser,
  rust: async () => (await import('@lezer/rust')).parser,
  json: async () => (await import('@lezer/json')).parser,
  css: async () => (await import('@lezer/css')).parser,
  sass: async () => (await import('@lezer/sass')).parser,
  go: async () => (await import('@lezer/go')).parser,
  java: async () => (await import('@lezer/java')).parser,
  cpp: async () => (await import('@lezer/cpp')).parser,
  php: async () => (await import('@lezer/php')).parser,
  xml: async () => (await import('@lezer/xml')).parser,
  yaml: async () => (await import('@lezer/yaml')).parser,
  markdown: async () => {
    const { parser, GFM } = await import('@lezer/markdown');
    return parser.configure(GFM);
  },
  html: async () => {
    const [{ parser, configureNesting }, js, css] = await Promise.all([
      import('@lezer/html'),
      import('@lezer/javascript'),
      import('@lezer/css'),
    ]);
    const ts = js.parser.configure({ dialect: 'ts' });
    return parser.configure({
      wrap: configureNesting([
        { tag: 'script', attrs: (a) => a['lang'] === 'ts', parser: ts },
        { tag: 'script', parser: js.parser },
        { tag: 'style', parser: css.parser },
      ]),
    });
  },
  shell: () => legacy(import('@codemirror/legacy-modes/mode/shell'), 'shell'),
  toml: () => legacy(import('@codemirror/legacy-modes/mode/toml'), 'toml'),
  ruby: () => legacy(import('@codemirror/legacy-modes/mode/ruby'), 'ruby'),
  sql: () => legacy(import('@codemirror/legacy-modes/mode/sql'), 'standardSQL'),
  lua: () => legacy(import('@codemirror/legacy-modes/mode/lua'), 'lua'),
  perl: () => legacy(import('@codemirror/legacy-modes/mode/perl'), 'perl'),
  r: () => legacy(import('@codemirror/legacy-modes/mode/r'), 'r'),
  swift: () => legacy(import('@codemirror/legacy-modes/mode/swift'), 'swift'),
  haskell: () => legacy(import('@codemirror/legacy-modes/mode/haskell'), 'haskell'),
  clojure: () => legacy(import('@codemirror/legacy-modes/mode/clojure'), 'clojure'),
  powershell: () => legacy(import('@codemirror/legacy-modes/mode/powershell'), 'powerShell'),
  dockerfile: () => legacy(import('@codemirror/legacy-modes/mode/dockerfile'), 'dockerFile'),
  cmake: () => legacy(import('@codemirror/legacy-modes/mode/cmake'), 'cmake'),
  properties: () => legacy(import('@codemirror/legacy-modes/mode/properties'), 'properties'),
  protobuf: () => legacy(import('@codemirror/legacy-modes/mode/protobuf'), 'protobuf'),
  nginx: () => legacy(import('@codemirror/legacy-modes/mode/nginx'), 'nginx'),
  diff: () => legacy(import('@codemirror/legacy-modes/mode/diff'), 'diff'),
  kotlin: () => legacy(clike(), 'kotlin'),
  csharp: () => legacy(clike(), 'csharp'),
  scala: () => legacy(clike(), 'scala'),
  dart: () => legacy(clike(), 'dart'),
  objectivec: () => legacy(clike(), 'objectiveC'),
};

const aliases: Record<string, string> = {
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  javascriptreact: 'jsx',
  ts: 'typescript',
  mts: 'typescript',
  cts: 'typescript',
  typescriptreact: 'tsx',
  py: 'python',
  pyi: 'python',
  rs: 'rust',
  jsonc: 'json',
  json5: 'json',
  jsonl: 'json',
  scss: 'sass',
  less: 'css',
  golang: 'go',
  c: 'cpp',
  h: 'cpp',
  hpp: 'cpp',
  cc: 'cpp',
  cxx: 'cpp',
  'c++': 'cpp',
  svg: 'xml',
  yml: 'yaml',
  md: 'markdown',
  mdx: 'markdown',
  htm: 'html',
  vue: 'html',
  svelte: 'html',
  sh: 'shell',
  bash: 'shell',
  zsh: 'shell',
  fish: 'shell',
  rb: 'ruby',
  pl: 'perl',
  ps1: 'powershell',
  docker: 'dockerfile',
  ini: 'properties',
  conf: 'properties',
  env: 'properties',
  proto: 'protobuf',
  patch: 'diff',
  kt: 'kotlin',
  cs: 'csharp',
  'c#': 'csharp',
  objc: 'objectivec',
};

/** Languages whose property names carry the structure and deserve a colour of their own. */
const dataLanguages = new Set(['json', 'yaml', 'css', 'sass', 'toml', 'properties']);

const loaded = new Map<string, Promise<Parser | null>>();

function canonical(language: string): string {
  const name = language.toLowerCase();
  return aliases[name] ?? name;
}

export function isDataLanguage(language: string): boolean {
  return dataLanguages.has(canonical(language));
}

/** The names that have a grammar, for tests. */
export function knownLanguages(): string[] {
  return [...Object.keys(loaders), ...Object.keys(aliases)];
}

/** The parser of a language; `null` where there is none or its grammar could not be loaded. */
export function parserFor(language: string): Promise<Parser | null> {
  const name = canonical(language);
  const known = loaded.get(name);
  if (known) return known;
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  const parser = load ? load().catch(() => null) : Promise.resolve(null);
  loaded.set(name, parser);
  return parser;
}
