import { setTimeout as pause } from 'node:timers/promises';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { isSlow } from '../../lambdas/delivery/isolation/slowness.ts';
import { slownessId, slownessOf } from '../../lambdas/delivery/isolation/slowness-store.ts';
import { fewestSlowAttempts } from '../../lambdas/delivery/limits.ts';
import type { Kind } from './kinds.ts';
import { documentsOf, type Registration } from './population.ts';
import { accountsOf, startSettledRun } from './settled-run.ts';

/** How the attempts of a quiet account fared beside a hanging one. */
export interface IsolationCheck {
  /** Attempts of the quiet account that arrived while the first hanging attempt was under way. */
  readonly arrivedMeanwhile: number;
  readonly wanted: number;
}

/**
 * Checks, by order and not by time, that nobody waits for a receiver that is known to hang: once its first attempts have shown
 * that it does, far more of its events than there are places are published, then the events of another account. The first
 * attempts and the retries of all of those must arrive while those first attempts are still under way.
 */
export async function checkIsolation(): Promise<IsolationCheck> {
  let ended = 0;
  let arrivedMeanwhile = 0;
  const quick: Kind = {
    name: 'quick, and failing once',
    state: 'delivered',
    results: ['http', 'delivered'],
    answer: ({ response, earlier }) => {
      if (ended === 0) arrivedMeanwhile += 1;
      response.writeHead(earlier === 0 ? 500 : 204).end();
    },
  };
  const hanging: Kind = {
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
  const settled = await startSettledRun(
    [quick, hanging],
    [...accountsOf('quiet', 1, quick), ...accountsOf('hanging', 1, hanging)],
    ...['first', 'retry', 'slow'].flatMap(lane => ['--set', `${lane}Concurrency=${places}`]),
    ...['--set', 'attemptTimeout=20s', '--retry-schedule', '1s'],
  );
  const { run, publish, registrationsOf, receivers } = settled;
  const dynamo = documentsOf(run.outputs);
  const [quietOne, hangingOne] = [...registrationsOf('quiet'), ...registrationsOf('hanging')] as [
    Registration,
    Registration,
  ];
  const isKnownToHang = async () => {
    const owner = { accountId: hangingOne.account, eventName: hangingOne.eventName };
    const Key = { id: slownessId(owner) };
    const { Item } = await dynamo.send(new GetCommand({ TableName: run.outputs.DeliveriesTable, Key }));
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
    dynamo.destroy();
    await settled.stop();
  }
}

/** What ends sooner was given up in a quick lane, which is how nobody waits for it. Milliseconds. */
const longestGivenUp = 10_000;

/** The fewest that a lane can have: the first hanging attempt has one of them in the first lane. */
const places = 2;

/** Enough to take every place that is left, several times. */
const hangingEvents = 4 * 10;
const quietEvents = 10;

/** Each of these fails once. */
const quietAttempts = 2 * quietEvents;
