import { expect, test } from 'vitest';
import { composeDeliveriesApi } from '../../../lambdas/base-api/deliveries-api.composition.ts';
import { composeDeliver } from '../../../lambdas/delivery/consumer/deliver.composition.ts';
import { composeSweep } from '../../../lambdas/delivery/sweeper/sweep.composition.ts';
import { runSeed } from '../../world/run-seed.ts';
import { type Compositions, requestLimits } from '../../world/stage.ts';
import {
  apisWith,
  calling,
  consumersWith,
  failingAfter,
  hideUndelivered,
  ignoreOperatorSuspensions,
  keepingItems,
  publishNothing,
  publishTwice,
  readInconsistently,
  reading,
  readingStaleWebhooks,
  recording,
  repeatReads,
  replacingInResponses,
  reportingInternalErrors,
  respondingWith,
  roundDueTimes,
  sending,
  storing,
  sweepingWith,
  withoutDelays,
  withoutHeaders,
  withoutMetrics,
  withoutReasons,
} from './faulty-delivery.ts';

/** A faulty product, and the violations that its world must report. */
interface Faulty {
  readonly fault: string;
  readonly product: Partial<Compositions>;
  readonly expected: readonly RegExp[];
  /** The seed of the world. @default 1 */
  readonly seed?: number;
}

const products: readonly Faulty[] = [
  {
    fault: 'uses old versions of webhooks',
    product: consumersWith(readingStaleWebhooks()),
    expected: [/POSTed to the wrong URL|although an operator suspended the webhook/],
  },
  {
    fault: 'reads webhooks with eventual consistency',
    product: consumersWith(calling(readInconsistently)),
    expected: [/an eventually consistent read/, /overdue by more than/],
  },
  {
    fault: 'does not delay retries',
    product: consumersWith(withoutDelays, runtime => {
      return reading((_, item) => ({ ...item, nextAttemptAt: runtime.time.now() }))(runtime);
    }),
    expected: [/POSTed before the due time/],
  },
  {
    fault: 'uses a shorter retry schedule',
    product: { deliver: (stage, ...rest) => composeDeliver({ ...stage, retrySchedule: [1_000] }, ...rest) },
    expected: [/before the end of the retry schedule/],
  },
  {
    fault: 'defers deliveries for ten minutes',
    product: consumersWith(
      storing(({ state, charged, nextAttemptAt }) =>
        state === 'pending' && !charged ? { nextAttemptAt: Number(nextAttemptAt) + 600_000 } : undefined,
      ),
    ),
    expected: [/deferred for longer/],
  },
  {
    fault: 'waits for longer than the retry schedule',
    seed: 2,
    product: {
      deliver: (stage, ...rest) => composeDeliver({ ...stage, retrySchedule: [9e3, 9e3, 9e3, 9e3] }, ...rest),
    },
    expected: [/wait is longer/],
  },
  {
    fault: 'does not release a quick webhook from the slow lane',
    seed: 3,
    product: consumersWith(reading((_, item) => (item.slowSince ? { ...item, hold: 60_000_000 } : item))),
    expected: [/remains in the slow lane/],
  },
  {
    fault: 'releases a webhook from the slow lane too early',
    seed: 3,
    product: consumersWith(reading((_, item) => (item.slowSince ? { ...item, hold: 0 } : item))),
    expected: [/left the slow lane too early/],
  },
  {
    fault: 'ignores slowness and failures',
    product: consumersWith(reading((_, item) => ({ ...item, slowSince: undefined, failingSince: undefined }))),
    expected: [/its webhook is slow/, /first lane, but its webhook keeps failing/, /neither announced nor suspended/],
  },
  {
    fault: 'forgets the due time of resent deliveries',
    seed: 6,
    product: consumersWith(
      reading((_, item) => {
        const { expedited } = item;
        return expedited ? { ...item, expedited: { ...expedited, originalDueAt: 9e12 } } : item;
      }),
    ),
    expected: [/a resend moved/],
  },
  {
    fault: 'attempts tests in the retry lane',
    product: { deliver: (stage, ...rest) => composeDeliver({ ...stage, lane: 'slow' }, ...rest) },
    expected: [/a test was attempted in a quick lane/],
  },
  {
    fault: 'signs with another secret, loses responses, holds tests, and skips attempt numbers',
    product: consumersWith(
      sending({ 'webhook-signature': 'v1,AAAA' }),
      storing(item => {
        if (String(item.part).startsWith('answer#')) return { part: 'answer#0#other' };
        if (String(item.id).startsWith('teste_') && item.state === 'failed') return { state: 'held' };
        return item.attempt === 3 ? { attempt: 4 } : undefined;
      }),
    ),
    expected: [/signed with the wrong secrets/, /attempt \d+ is not stored/, /a test was held/, /number is missing/],
  },
  {
    fault: 'signs a wrong timestamp, does not charge attempts, and leaves orphaned items',
    product: consumersWith(
      sending({ 'webhook-timestamp': '1767225600' }),
      storing(item => {
        if (String(item.part).startsWith('answer#')) return { part: 'reply#1' };
        return item.charged === 2 ? { charged: 1 } : undefined;
      }),
    ),
    expected: [/the timestamp/, /charged incorrectly/, /without an owner/],
  },
  {
    fault: 'never deletes deliveries, leaves them in the index, sends no notices, and omits EventWithoutWebhook',
    product: withoutMetrics(
      ['EventWithoutWebhook'],
      consumersWith(
        withoutReasons,
        storing(item => (item.state === 'delivered' ? { dueShard: '0', dueAt: '3', ttl: 9e12 } : undefined)),
        () => ({ publish: publishNothing() }),
      ),
    ),
    expected: [
      /ended, but still in the index/,
      /retained for \d+ ms/,
      /: 0 notices for \d+ events without faults/,
      /EventWithoutWebhook is 0/,
      /without all attributes/,
    ],
  },
  {
    fault: 'holds deliveries of active webhooks',
    product: consumersWith(reading((table, item) => (table === 'Webhooks' ? { ...item, status: 'suspended' } : item))),
    expected: [/held although its webhook was active/],
  },
  {
    fault: 'cancels deliveries of registered webhooks, and does not delete all items of an account',
    seed: 26,
    product: {
      operators: keepingItems('limit#tests'),
      ...consumersWith(reading((table, item) => (table === 'Webhooks' ? { ...item, webhookId: 'other' } : item))),
    },
    expected: [/cancelled although/, /limit#tests.* remains after the deletion/],
  },
  {
    fault: 'treats copies of an event as other events',
    seed: 4,
    product: consumersWith(
      reading((_, item) => (item.body ? { ...item, body: String(item.body).replace('{', '{"link2":1,') } : item)),
    ),
    expected: [/logged as event.conflicting_copy/],
  },
  {
    fault: 'overwrites changes, publishes no announcements, and ignores suspensions by operators',
    product: {
      ...apisWith(ignoreOperatorSuspensions),
      ...consumersWith(
        storing(({ charged, version }) => (charged && version ? { version: Number(version) - 1 } : undefined)),
      ),
      ...sweepingWith(publishNothing),
    },
    expected: [/overwrote another change/, /announcement missing/, /although an operator suspended it/],
  },
  {
    fault: 'publishes announcements twice, without all fields, and for a 410 that no receiver returned',
    product: {
      ...sweepingWith(publish =>
        publishTwice((topic, { Subject, Message }) =>
          publish(topic, { Subject, Message: Message?.replace('"deliveryId":"evt_', '$&other_') }),
        ),
      ),
    },
    expected: [/no receiver returned 410/, /announced twice without faults/, /announcement incomplete/],
  },
  {
    fault: 'records only the latest attempt, treats a 503 as a success, and stores failed deliveries as delivered',
    product: consumersWith(
      recording(records => records.slice(-1)),
      recording(records => records.map(record => record.replace(',1503,', ',0503,'))),
      storing(({ state }) => (state === 'failed' ? { state: 'delivered' } : undefined)),
    ),
    expected: [/a recorded attempt is missing/, /without a successful response/, /without a successful attempt/],
  },
  {
    fault: 'renumbers recorded attempts at each write',
    product: consumersWith(
      recording(records => records.map(record => record.replace(/^\d+/, number => `${Number(number) + 1}`))),
    ),
    expected: [/a recorded attempt was changed/, /recorded with the wrong number/],
  },
  {
    fault: 'sends notices twice, treats refused connections as internal errors, and ignores `Retry-After`',
    product: withoutMetrics(
      ['InternalError'],
      consumersWith(({ publish }) => ({ publish: publishTwice(publish) }), reportingInternalErrors, withoutHeaders),
    ),
    expected: [
      /two notices for one event/,
      /an internal error without faults/,
      /InternalError is 0/,
      /wait is shorter/,
    ],
  },
  {
    fault: 'returns invented responses (first set)',
    product: respondingWith(
      ['DELETE', /criada$/, 204, {}],
      ['PUT', /criada$/, 404, { code: 'webhook_not_found' }],
      ['POST', /teste$/, 202, { id: 'teste_' }],
      ['POST', /reenvio$/, 202, { id: 'evt_' }],
      ['GET', /reenvio_/, 404, { code: 'replay_not_found' }],
      ['GET', /entregas$/, 200, { entregas: [], proximo_cursor: null }],
    ),
    expected: [
      /but it still exists/,
      /although it existed/,
      /but it is not stored/,
      /no attempt followed/,
      /reenvio of .*never active/,
      /404 .*although it exists/,
      /not in the list/,
    ],
  },
  {
    fault: 'returns invented responses (second set)',
    product: respondingWith(
      ['POST', /webhooks$/, 201, {}],
      ['PUT', /criada$/, 200, {}],
      ['POST', /segredo$/, 201, { segredo: 'whsec_' }],
      ['POST', /reativacao$/, 409, { code: 'suspended_by_operator' }],
      ['POST', /reenvios$/, 202, { id: 'reenvio_' }],
      ['GET', /reenvio_/, 200, {}],
      ['GET', /evt_[^/]*$/, 200, { tentativas: [] }],
    ),
    expected: [
      /but it was not stored/,
      /this state was never stored/,
      /the secret was never stored/,
      /although no operator suspended it/,
      /was accepted but not stored/,
      /reenvios.*although it does not exist/,
      /with the wrong attempts/,
    ],
  },
  {
    fault: 'reads the store repeatedly, limits resends too early, and sends another credential',
    product: {
      ...consumersWith(sending({ Authorization: 'other' })),
      ...apisWith(repeatReads),
      deliveriesApi: (environment, runtime, telemetry) =>
        composeDeliveriesApi(environment, runtime, telemetry, { ...requestLimits, resendLimit: 1 }),
    },
    expected: [/^GET .* makes \d+ calls/, /rejected below the limit/, /wrong Authorization header/],
  },
  {
    fault: 'returns a wrong count for replays, never returns their final state, and fails after each sweep',
    product: {
      ...replacingInResponses([/"enviadas":/, '$&1'], [/"estado":"c[a-z]*o"/, '"estado":"em_andamento"']),
      sweep: (...args) => failingAfter(composeSweep(...args)),
    },
    expected: [/reports \d+ resent/, /reports the state em_andamento/, /an invocation failed without faults/],
  },
  {
    fault: 'returns wrong results and responses, and omits waits, failures and events without a webhook',
    seed: 11,
    product: replacingInResponses(
      [/"resultado":"http"/g, '"resultado":"interno"'],
      [/("resposta":"evt_\S+) 2"/g, '$1 1"'],
      [/"proxima_tentativa_em":"[^"]*"/g, '"proxima_tentativa_em":null'],
      [/"falhando_desde":"[^"]*"/g, '"falhando_desde":null'],
      [/"eventos_sem_webhook":\[[^\]]+\]/, '"eventos_sem_webhook":[]'],
    ),
    expected: [
      /wrong results/,
      /^the response to/,
      /listed incorrectly/,
      /a state that they never had/,
      /webhook is empty/,
    ],
  },
  {
    fault: 'completes replays without finding their deliveries',
    seed: 2,
    product: apisWith(hideUndelivered),
    expected: [/replay \S+ skipped a delivery/],
  },
  {
    fault: 'resends all deliveries of a replay at once, and delays resends by up to ten minutes',
    seed: 2,
    product: apisWith(roundDueTimes),
    expected: [/sends more than 2 deliveries within 100 ms/, /resent with a delay/],
  },
];

test.each(products)('The world detects a product that $fault', async ({ product, expected, seed = 1 }) => {
  const { violations } = await runSeed(seed, 'none', product);
  for (const pattern of expected)
    expect([pattern, violations.some(violation => pattern.test(violation.message))]).toEqual([pattern, true]);
});
