/** Code on screen: text by windows, diffs, JSON trees, with token colours. Text nodes only. */
export { default as Code } from './Code.svelte';
export { default as Diff } from './Diff.svelte';
export { default as JsonTree } from './JsonTree.svelte';
export { line, plain, text } from './draw';
export { default as FormChoice } from './FormChoice.svelte';
export { diffForm } from './form.svelte';
export { highlight, keepBreaks, plainSegments, segments, type Segment, type Span } from './highlight';
