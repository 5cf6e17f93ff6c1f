import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { Time } from '../../platform/timer.ts';
import type { Lane } from '../lane-routing.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { makeAdmission } from './admission.ts';
import { attemptsPerProcess, fastLanePlaces, makeConcurrencyLimit, slowLanePlaces } from './concurrency-limit.ts';
import { makeRecentCounts } from './recent-counts.ts';
import { makeSlownessStore } from './slowness-store.ts';
import { makeSlownessTracker } from './slowness-tracker.ts';

export type Isolation = ReturnType<typeof makeIsolation>;

/** Makes the bulkheads of one process, which remembers slow receivers as long as it lives. */
export function makeIsolation(
  parts: {
    readonly dynamo: Dynamo;
    /** The table `Deliveries`. */
    readonly table: string;
    readonly lane: Lane;
    /** The batches that the slow lane processes at once. */
    readonly slowConcurrency: number;
  } & Pick<Time, 'now' | 'elapsed'> &
    DeliveryTelemetry,
) {
  const { lane, slowConcurrency, elapsed } = parts;
  const placesOf = lane === 'slow' ? slowLanePlaces(slowConcurrency) : fastLanePlaces;
  const limit = makeConcurrencyLimit(placesOf, attemptsPerProcess[lane], elapsed);
  return {
    admit: makeAdmission({ limit, lane }),
    hasRoomFor: limit.hasRoomFor,
    tracker: makeSlownessTracker({ ...parts, store: makeSlownessStore(parts), quickCounts: makeRecentCounts() }),
  };
}
