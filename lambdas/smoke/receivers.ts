import type { Clock } from '../platform/clock.ts';
import type { MakeId } from '../platform/identifiers.ts';
import { useLimitMs } from './ending.ts';
import { makeRunKey } from './run-key.ts';
import type { TestReceiver } from './smoke-test.ts';
import { TestFinding } from './step-record.ts';

/**
 * The receiver of the stage's own, which knows the keys of tests by a secret that it shares with them.
 *
 * @param readSecret - gives the secret; `undefined` where there is none yet.
 */
export function ownReceiver({
  url,
  readSecret,
  now,
  makeId,
}: {
  readonly url: string;
  readonly readSecret: () => Promise<string | undefined>;
  readonly now: Clock;
  readonly makeId: MakeId;
}): TestReceiver {
  return {
    url,
    givesReceipts: true,
    makeKey: async () => {
      const secret = await readSecret();
      if (secret !== undefined) return makeRunKey(secret, now() + useLimitMs, makeId(22));
      throw new TestFinding('the receiver has no key yet', '"smoke": the first one from the command line makes it');
    },
  };
}

/** A receiver of somebody else. It is sent a random key, which it need not check. */
export function otherReceiver(url: string, givesReceipts: boolean, makeId: MakeId): TestReceiver {
  return { url, givesReceipts, makeKey: async () => `Bearer ${makeId(43)}` };
}
