export { default } from './Deck.svelte';
