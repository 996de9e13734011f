/** What the window runs on. */
class Platform {
  version = $state('');
  name = $state('linux');
  /** The bundled demo is shown, since nothing else was found. */
  demo = $state(false);

  readonly mac = $derived(this.name === 'macos');
  /** Name of the main modifier, for key hints. */
  readonly mod = $derived(this.mac ? '⌘' : 'Ctrl');

  take(version: string, name: string, demo: boolean): void {
    this.version = version;
    this.name = name;
    this.demo = demo;
  }
}

export const platform = new Platform();
