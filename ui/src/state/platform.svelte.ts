/** What the window runs on. */
class Platform {
  version = $state('');
  name = $state('linux');
  /** The log of the bundled demo, while it is open. */
  demo = $state<string | null>(null);
  /** The next log that opens is the demo. */
  demoAsked = false;

  readonly mac = $derived(this.name === 'macos');
  /** Name of the main modifier, for key hints. */
  readonly mod = $derived(this.mac ? '⌘' : 'Ctrl');

  take(version: string, name: string, demo: string | null): void {
    this.version = version;
    this.name = name;
    this.demo = demo;
  }
}

export const platform = new Platform();
