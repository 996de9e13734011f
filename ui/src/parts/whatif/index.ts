export { default } from './Part.svelte';
