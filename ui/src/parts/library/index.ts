export { default } from './Library.svelte';
