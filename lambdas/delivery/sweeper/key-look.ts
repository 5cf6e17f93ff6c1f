import { isUnavailable } from '../../platform/aws/dynamo.ts';
import type { ReadKeyState } from '../../platform/aws/key-state.ts';
import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';

/**
 * Makes the look that the sweeper takes each quarter of an hour at the stage's KMS key. Processes keep the keys of the keyring that they
 * have opened: a KMS key that was disabled, or will be deleted, would show only when the next ones start. One that is enabled is counted
 * by nothing.
 */
export function makeKeyLook({
  keyArn,
  readKeyState,
  now,
  log,
  count,
}: {
  /** `undefined`: there is none to look at. */
  readonly keyArn: string | undefined;
  readonly readKeyState: ReadKeyState;
  readonly now: Clock;
} & DeliveryTelemetry): () => Promise<void> {
  return async function keyLook() {
    if (keyArn !== undefined && new Date(now()).getUTCMinutes() % 15 === 0) await lookAt(keyArn);
  };

  async function lookAt(keyArn: string): Promise<void> {
    try {
      const { state, deletedAt } = await readKeyState(keyArn);
      if (state === 'Enabled') return;
      count('KeyNotEnabled');
      log.error('key.not_enabled', { keyArn, state, deletedAt });
    } catch (error) {
      if (!isUnavailable(error)) count('KeyNotEnabled'); // a look that is refused would see nothing for ever
      log.error('key.not_read', { keyArn, ...describeError(error) });
    }
  }
}
