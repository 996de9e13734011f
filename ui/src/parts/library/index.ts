export { default } from './Library.svelte';
export { default as Sessions } from './Sessions.svelte';
