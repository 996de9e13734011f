/**
 * What the engine says has changed, as counters: read one in an `$effect` to ask again when it moves.
 */
import type { Notice } from '../api';

class News {
  library = $state(0);
  chips = $state(0);
  snapshots = $state(0);
  history = $state(0);
  /** A file that an open log names changed on disk, or a restore wrote one. */
  disk = $state(0);
  /** Targets of a chip were found. */
  targets = $state(0);
  /** More is known of a project's files or of one file's history. */
  gathered = $state(0);

  hear(notice: Notice): void {
    switch (notice.type) {
      case 'libraryChanged':
        this.library++;
        break;
      case 'chipsChanged':
        this.chips++;
        break;
      case 'snapshotsChanged':
        this.snapshots++;
        break;
      case 'historyChanged':
        this.history++;
        this.disk++;
        break;
      case 'diskChanged':
        this.disk++;
        break;
      case 'chipTargets':
        this.targets++;
        break;
      case 'gathered':
        this.gathered++;
        break;
    }
  }
}

export const news = new News();
