/** Whether values that look like keys are hidden on screen. They are, until a person asks for them; then for this session. */
class Mask {
  on = $state(true);

  toggle(): void {
    this.on = !this.on;
  }
}

export const mask = new Mask();
