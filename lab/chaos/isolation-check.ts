import { setTimeout as pause } from 'node:timers/promises';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { slownessId } from '../../lambdas/delivery/isolation/slow-since.ts';
import { isSlow } from '../../lambdas/delivery/isolation/slowness.ts';
import { slownessOf } from '../../lambdas/delivery/isolation/slowness-store.ts';
import { fewestSlowAttempts } from '../../lambdas/delivery/limits.ts';
import { headKey } from '../../lambdas/delivery/store/head-key.ts';
import { documentClientOf } from '../../tools/support/engines.ts';
import { startPreparedRun } from './prepared-run.ts';
import type { ReceiverBehaviour } from './receiver-behaviours.ts';
import { accountsOf, type Registration } from './registrations.ts';

/** The attempts of an account beside one whose receiver hangs. */
export interface IsolationCheck {
  /** Attempts of the quiet account that arrived while the first hanging attempt was under way. */
  readonly arrivedMeanwhile: number;
  readonly wanted: number;
}

/**
 * Checks, by order and not by time, that nobody waits for a receiver that is known to hang. Once its first attempts have shown
 * that it hangs, far more of its events are published than there are places, then the events of another account. All first
 * attempts and retries of the other account must arrive while those first attempts are still under way.
 */
export async function checkIsolation(): Promise<IsolationCheck> {
  let ended = 0;
  let arrivedMeanwhile = 0;
  const quick: ReceiverBehaviour = {
    name: 'quick, and failing once',
    state: 'delivered',
    results: ['http', 'delivered'],
    answer: ({ response, earlier }) => {
      if (ended === 0) arrivedMeanwhile += 1;
      response.writeHead(earlier === 0 ? 500 : 204).end();
    },
  };
  const hanging: ReceiverBehaviour = {
    name: 'hanging',
    state: 'failed',
    results: ['timeout'],
    answer: ({ request }) => {
      const begunAt = Date.now();
      request.socket.once('close', () => {
        if (Date.now() - begunAt > longestGivenUp) ended += 1;
      });
    },
  };
  const prepared = await startPreparedRun(
    [quick, hanging],
    [...accountsOf('quiet', 1, quick), ...accountsOf('hanging', 1, hanging)],
    ...['first', 'retry', 'slow'].flatMap(lane => ['--set', `${lane}Concurrency=${places}`]),
    ...['--set', 'attemptTimeout=20s', '--retry-schedule', '1s'],
  );
  const { run, publish, registrationsOf, receivers } = prepared;
  const client = documentClientOf(run.outputs);
  const [quietOne, hangingOne] = [...registrationsOf('quiet'), ...registrationsOf('hanging')] as [
    Registration,
    Registration,
  ];
  const isKnownToHang = async () => {
    const owner = { accountId: hangingOne.account, eventName: hangingOne.eventName };
    const { table: TableName, key: Key } = headKey(String(run.outputs.DeliveriesTable), slownessId(owner));
    const { Item } = await client.send(new GetCommand({ TableName, Key }));
    return isSlow(slownessOf(owner, Item));
  };
  try {
    await publish(hangingOne, fewestSlowAttempts);
    while (!(await isKnownToHang()) && ended === 0) await pause(100);
    for (let sent = 0; sent < hangingEvents; sent += 10) await publish(hangingOne, 10);
    const ids = new Set(await publish(quietOne, quietEvents));
    const arrived = () => receivers.arrivals.filter(({ headers }) => ids.has(String(headers['webhook-id']))).length;
    while (arrived() < quietAttempts && ended === 0) await pause(100);
    return { arrivedMeanwhile, wanted: quietAttempts };
  } finally {
    client.destroy();
    await prepared.stop();
  }
}

/** An attempt that ends sooner was given up in a quick lane, as it should be. Milliseconds. */
const longestGivenUp = 10_000;

/** The fewest that a lane can have: the first hanging attempt has one of them in the first lane. */
const places = 2;

/** Enough to take every place that is left, several times. */
const hangingEvents = 4 * 10;
const quietEvents = 10;

/** Each of these fails once. */
const quietAttempts = 2 * quietEvents;
