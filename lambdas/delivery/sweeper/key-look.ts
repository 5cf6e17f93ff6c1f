import { isUnavailable } from '../../platform/aws/dynamo.ts';
import type { ReadKeyState } from '../../platform/aws/key-state.ts';
import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';

/**
 * Makes the look that the sweeper takes each quarter of an hour at the KMS key that wraps the keyring. Processes keep the keys that
 * they have opened: a key that was disabled, or will be deleted, would show only when the next ones start. A key that is enabled
 * is counted by nothing; that the sweeper looks at all is told by its own metric (`SweepStopped`).
 */
export function makeKeyLook({
  keyArn,
  readKeyState,
  now,
  log,
  count,
}: {
  /** @default - a local run, where nobody can disable it */
  readonly keyArn: string | undefined;
  readonly readKeyState: ReadKeyState;
  readonly now: Clock;
} & DeliveryTelemetry): () => Promise<void> {
  return async function keyLook() {
    if (keyArn === undefined || new Date(now()).getUTCMinutes() % 15 !== 0) return;
    try {
      const { state, deletedAt } = await readKeyState(keyArn);
      if (state === 'Enabled') return;
      count('KeyNotEnabled');
      log.error('key.not_enabled', { state, deletedAt });
    } catch (error) {
      if (!isUnavailable(error)) count('KeyNotEnabled'); // a look that is refused would see nothing for ever
      log.error('key.not_read', describeError(error));
    }
  };
}
