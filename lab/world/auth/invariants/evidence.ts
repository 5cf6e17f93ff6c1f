import { faultTime } from '../../fault-classes.ts';
import { second } from '../../times.ts';
import type { TokenRequest } from '../journal.ts';
import { makeLockModel } from '../lock-model.ts';
import type { TokenWorld } from '../make-token-world.ts';
import { makeSessionEnds } from '../session-ends.ts';
import { makeStates } from '../states.ts';
import { makeVerdicts } from '../verdicts.ts';

/** The history of a finished world, for the invariant checks. */
export type Evidence = ReturnType<typeof makeEvidence>;

export function makeEvidence(world: TokenWorld, startedAt: number) {
  const { watched, journal, faultClass } = world;
  const states = makeStates(watched);
  const locks = makeLockModel(watched, journal);
  const verdicts = makeVerdicts(states, locks, makeSessionEnds(watched, journal));
  const reasons = readReasons(world);
  const reasonOf = ({ id }: TokenRequest) => reasons.get(id);
  return { world, states, locks, verdicts, requests: journal.all(), isFaultFree, reasonOf };

  /** Returns whether no faults occurred during a request or shortly before it. */
  function isFaultFree({ sentAt }: TokenRequest): boolean {
    return faultClass === 'none' || sentAt > startedAt + faultTime + 10 * second;
  }
}

/** Returns the reason for each rejected request from the audit log, by request id. */
function readReasons({ cloud }: TokenWorld): ReadonlyMap<string, string> {
  const lines = cloud.logs({ text: /"message":"\w+\.refused"/ });
  return new Map(
    lines.flatMap(({ text }) => {
      const line: Readonly<Record<string, unknown>> = JSON.parse(text);
      return line.reason === undefined ? [] : [[String(line.requestId), String(line.reason)] as const];
    }),
  );
}
