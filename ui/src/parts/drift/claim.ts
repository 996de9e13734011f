/** A claim of the dialogue beside what the execution says, in words. */
import type { DriftRow } from '../../api';
import { statusName } from '../../i18n/sentences';
import { words } from './words';

type Claim = Pick<DriftRow, 'dialogue' | 'execution'>;

export function claimWords(claim: Claim): string {
  const said = statusName(claim.dialogue);
  return claim.execution === null ? words.saysNone(said) : words.says(said, statusName(claim.execution));
}

/** The same as the end of a line. */
export function claimShort(claim: Claim): string {
  const said = statusName(claim.dialogue);
  return claim.execution === null
    ? words.saysShortNone(said)
    : words.saysShort(said, statusName(claim.execution));
}
