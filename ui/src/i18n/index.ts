export * as format from './format';
export { dictionaries, dictionary, language, type Tongue } from './language.svelte';
export { words } from './words';
