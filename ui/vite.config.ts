import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { defineConfig } from 'vitest/config';

// `vite` and `vite build --mode fixture` give a page that runs in any browser on the fixture host; a plain
// `vite build` is what the desktop embeds, and holds no fixture.
export default defineConfig({
  plugins: [svelte(), svelteTesting()],
  clearScreen: false,
  server: { port: 5173, strictPort: true },
  build: {
    target: ['safari17.5', 'chrome123'],
    sourcemap: false,
    // A data: URL would need its own line in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  test: {
    environment: 'happy-dom',
    // Else the texts of style sheets are empty, and what is held of them holds of nothing.
    css: true,
    include: ['src/**/*.test.ts'],
  },
});
