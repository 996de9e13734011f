// Types, Svelte's own rules, no import circles, and the tiers: a room imports only from rooms below it.
//   api < kit, i18n < host < state < parts < views < App
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import imports from 'eslint-plugin-import-x';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

const rooms = {
  api: [],
  kit: [],
  i18n: ['api'],
  host: ['api'],
  state: ['api', 'host', 'i18n'],
  parts: ['api', 'host', 'state', 'kit', 'i18n', 'parts'],
  views: ['api', 'host', 'state', 'kit', 'i18n', 'parts'],
};
const zones = Object.entries(rooms).map(([room, below]) => ({
  target: `./src/${room}`,
  from: './src',
  except: [...new Set([room, ...below])].map((name) => `./${name}`),
  message: `${room} may import only from: ${below.join(', ') || 'itself'}`,
}));

export default ts.config(
  { ignores: ['dist', 'dist-fixture', 'node_modules', 'src/api'] },
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    // The inner parser stands here too, for files that import a component.
    languageOptions: { globals: { ...globals.browser }, parserOptions: { parser: ts.parser } },
    plugins: { 'import-x': imports },
    settings: {
      'import-x/resolver-next': [createTypeScriptImportResolver({ project: './tsconfig.json' })],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'], 'svelte-eslint-parser': ['.svelte'] },
      'import-x/extensions': ['.ts', '.svelte'],
    },
    rules: {
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      'import-x/no-restricted-paths': ['error', { zones }],
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['@tauri-apps/*'], message: 'Only host/tauri.ts speaks to the desktop.' }] },
      ],
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-console': 'error',
      eqeqeq: 'error',
      'svelte/no-at-html-tags': 'error',
      'svelte/button-has-type': 'error',
      // Maps and sets that nothing draws from are plain on purpose.
      'svelte/prefer-svelte-reactivity': 'off',
      'svelte/no-target-blank': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
  { files: ['src/host/tauri.ts'], rules: { 'no-restricted-imports': 'off' } },
);
