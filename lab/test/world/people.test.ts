import { expect, test } from 'vitest';
import { composeDeliveriesApi } from '../../../lambdas/base-api/deliveries-api.composition.ts';
import { composeDeliver } from '../../../lambdas/delivery/consumer/deliver.composition.ts';
import { composeSweep } from '../../../lambdas/delivery/sweeper/sweep.composition.ts';
import { runSeed } from '../../world/run-seed.ts';
import { type Compositions, requestLimits } from '../../world/stage.ts';
import {
  answering,
  apisWith,
  askAgain,
  blamingItself,
  calling,
  consumersWith,
  countingNone,
  failingAfter,
  findNoUndelivered,
  forgetHolds,
  leaving,
  readCarelessly,
  reading,
  readingNoHeaders,
  recording,
  remembering,
  sending,
  sendOtherwise,
  showing,
  silently,
  storing,
  sweepingWith,
  twice,
  withoutDelays,
  withoutReasons,
} from './faulty-delivery.ts';

/** A faulty product, and the violations that its world must report. */
interface Faulty {
  readonly that: string;
  readonly altered: Partial<Compositions>;
  readonly found: readonly RegExp[];
  /** The seed of the world. @default 1 */
  readonly seed?: number;
}

const products: readonly Faulty[] = [
  {
    that: 'uses old versions of webhooks',
    altered: consumersWith(remembering()),
    found: [/POSTed to the wrong URL|although an operator suspended the webhook/],
  },
  {
    that: 'reads webhooks without consistency',
    altered: consumersWith(calling(readCarelessly)),
    found: [/an inconsistent read/, /overdue by more than/],
  },
  {
    that: 'does not delay retries',
    altered: consumersWith(withoutDelays, runtime => {
      return reading((_, item) => ({ ...item, nextAttemptAt: runtime.time.now() }))(runtime);
    }),
    found: [/POSTed before the due time/],
  },
  {
    that: 'uses a shorter retry schedule',
    altered: { deliver: (stage, ...rest) => composeDeliver({ ...stage, retrySchedule: [1_000] }, ...rest) },
    found: [/before the end of the retry schedule/],
  },
  {
    that: 'defers for ten minutes',
    altered: consumersWith(
      storing(({ state, charged, nextAttemptAt }) =>
        state === 'pending' && !charged ? { nextAttemptAt: Number(nextAttemptAt) + 600_000 } : undefined,
      ),
    ),
    found: [/deferred for longer/],
  },
  {
    that: 'uses longer waits',
    seed: 2,
    altered: {
      deliver: (stage, ...rest) => composeDeliver({ ...stage, retrySchedule: [9e3, 9e3, 9e3, 9e3] }, ...rest),
    },
    found: [/wait is longer/],
  },
  {
    that: 'does not release a quick webhook from the slow lane',
    seed: 3,
    altered: consumersWith(reading((_, item) => (item.slowSince ? { ...item, hold: 60_000_000 } : item))),
    found: [/remains in the slow lane/],
  },
  {
    that: 'releases a webhook from the slow lane too early',
    seed: 3,
    altered: consumersWith(reading((_, item) => (item.slowSince ? { ...item, hold: 0 } : item))),
    found: [/left the slow lane too early/],
  },
  {
    that: 'ignores slowness and failures',
    altered: consumersWith(reading((_, item) => ({ ...item, slowSince: undefined, failingSince: undefined }))),
    found: [/its webhook is slow/, /first lane, but its webhook keeps failing/, /neither announced nor suspended/],
  },
  {
    that: 'forgets the due time of resent deliveries',
    seed: 6,
    altered: consumersWith(
      reading((_, item) => {
        const { expedited } = item;
        return expedited ? { ...item, expedited: { ...expedited, originalDueAt: 9e12 } } : item;
      }),
    ),
    found: [/a resend moved/],
  },
  {
    that: 'attempts tests in the retry lane',
    altered: { deliver: (stage, ...rest) => composeDeliver({ ...stage, lane: 'slow' }, ...rest) },
    found: [/a test was attempted in a quick lane/],
  },
  {
    that: 'signs with another secret, loses responses, holds tests, and skips attempt numbers',
    altered: consumersWith(
      sending({ 'webhook-signature': 'v1,AAAA' }),
      storing(item => {
        if (String(item.part).startsWith('answer#')) return { part: 'answer#0#other' };
        if (String(item.id).startsWith('teste_') && item.state === 'failed') return { state: 'held' };
        return item.attempt === 3 ? { attempt: 4 } : undefined;
      }),
    ),
    found: [/signed with the wrong secrets/, /attempt \d+ is not stored/, /a test was held/, /number is missing/],
  },
  {
    that: 'signs a wrong timestamp, does not charge attempts, and leaves orphaned items',
    altered: consumersWith(
      sending({ 'webhook-timestamp': '1767225600' }),
      storing(item => {
        if (String(item.part).startsWith('answer#')) return { part: 'reply#1' };
        return item.charged === 2 ? { charged: 1 } : undefined;
      }),
    ),
    found: [/the timestamp/, /charged incorrectly/, /without an owner/],
  },
  {
    that: 'never deletes deliveries, leaves them in the index, sends no notices, and omits EventWithoutWebhook',
    altered: countingNone(
      ['EventWithoutWebhook'],
      consumersWith(
        withoutReasons,
        storing(item => (item.state === 'delivered' ? { dueShard: '0', dueAt: '3', ttl: 9e12 } : undefined)),
        () => ({ publish: silently() }),
      ),
    ),
    found: [
      /ended, but still in the index/,
      /retained for \d+ ms/,
      /: 0 notices of \d+ events without faults/,
      /EventWithoutWebhook is 0/,
      /without all attributes/,
    ],
  },
  {
    that: 'holds deliveries of active webhooks',
    altered: consumersWith(reading((table, item) => (table === 'Webhooks' ? { ...item, status: 'suspended' } : item))),
    found: [/held although its webhook was active/],
  },
  {
    that: 'cancels deliveries of registered webhooks, and does not delete all items of an account',
    seed: 26,
    altered: {
      operators: leaving('limit#tests'),
      ...consumersWith(reading((table, item) => (table === 'Webhooks' ? { ...item, webhookId: 'other' } : item))),
    },
    found: [/cancelled although/, /limit#tests.* remains after the deletion/],
  },
  {
    that: 'treats copies of an event as other events',
    seed: 4,
    altered: consumersWith(
      reading((_, item) => (item.body ? { ...item, body: String(item.body).replace('{', '{"link2":1,') } : item)),
    ),
    found: [/logged as event.conflicting_copy/],
  },
  {
    that: 'overwrites changes, publishes no announcements, and ignores suspensions by operators',
    altered: {
      ...apisWith(forgetHolds),
      ...consumersWith(
        storing(({ charged, version }) => (charged && version ? { version: Number(version) - 1 } : undefined)),
      ),
      ...sweepingWith(silently),
    },
    found: [/overwrote another change/, /announcement missing/, /although an operator suspended it/],
  },
  {
    that: 'publishes announcements twice, without all fields, and for a 410 that no receiver returned',
    altered: {
      ...sweepingWith(publish =>
        twice((topic, { Subject, Message }) =>
          publish(topic, { Subject, Message: Message?.replace('"deliveryId":"evt_', '$&other_') }),
        ),
      ),
    },
    found: [/no receiver returned 410/, /announced twice without faults/, /announcement incomplete/],
  },
  {
    that: 'records only the latest attempt, treats a 503 as a success, and stores failed deliveries as delivered',
    altered: consumersWith(
      recording(records => records.slice(-1)),
      recording(records => records.map(record => record.replace(',1503,', ',0503,'))),
      storing(({ state }) => (state === 'failed' ? { state: 'delivered' } : undefined)),
    ),
    found: [/a recorded attempt is missing/, /without a successful response/, /without a successful attempt/],
  },
  {
    that: 'renumbers recorded attempts at each write',
    altered: consumersWith(
      recording(records => records.map(record => record.replace(/^\d+/, number => `${Number(number) + 1}`))),
    ),
    found: [/a recorded attempt was changed/, /recorded with the wrong number/],
  },
  {
    that: 'sends notices twice, treats refused connections as internal errors, and ignores `Retry-After`',
    altered: countingNone(
      ['InternalError'],
      consumersWith(({ publish }) => ({ publish: twice(publish) }), blamingItself, readingNoHeaders),
    ),
    found: [/two notices of one event/, /an internal error without faults/, /InternalError is 0/, /wait is shorter/],
  },
  {
    that: 'returns invented responses (first set)',
    altered: answering(
      ['DELETE', /criada$/, 204, {}],
      ['PUT', /criada$/, 404, { code: 'webhook_not_found' }],
      ['POST', /teste$/, 202, { id: 'teste_' }],
      ['POST', /reenvio$/, 202, { id: 'evt_' }],
      ['GET', /reenvio_/, 404, { code: 'replay_not_found' }],
      ['GET', /entregas$/, 200, { entregas: [], proximo_cursor: null }],
    ),
    found: [
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
    that: 'returns invented responses (second set)',
    altered: answering(
      ['POST', /webhooks$/, 201, {}],
      ['PUT', /criada$/, 200, {}],
      ['POST', /segredo$/, 201, { segredo: 'whsec_' }],
      ['POST', /reativacao$/, 409, { code: 'suspended_by_operator' }],
      ['POST', /reenvios$/, 202, { id: 'reenvio_' }],
      ['GET', /reenvio_/, 200, {}],
      ['GET', /evt_[^/]*$/, 200, { tentativas: [] }],
    ),
    found: [
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
    that: 'reads the store repeatedly, limits resends too early, and sends another credential',
    altered: {
      ...consumersWith(sending({ Authorization: 'other' })),
      ...apisWith(askAgain),
      deliveriesApi: (environment, runtime, telemetry) =>
        composeDeliveriesApi(environment, runtime, telemetry, { ...requestLimits, resendLimit: 1 }),
    },
    found: [/^GET .* makes \d+ calls/, /rejected below the limit/, /wrong Authorization header/],
  },
  {
    that: 'returns a wrong count for replays, never returns their final state, and fails after each sweep',
    altered: {
      ...showing([/"enviadas":/, '$&1'], [/"estado":"c[a-z]*o"/, '"estado":"em_andamento"']),
      sweep: (...given) => failingAfter(composeSweep(...given)),
    },
    found: [/reports \d+ resent/, /reports the state em_andamento/, /an invocation failed without faults/],
  },
  {
    that: 'returns wrong results and responses, and omits waits, failures and events without a webhook',
    seed: 11,
    altered: showing(
      [/"resultado":"http"/g, '"resultado":"interno"'],
      [/("resposta":"evt_\S+) 2"/g, '$1 1"'],
      [/"proxima_tentativa_em":"[^"]*"/g, '"proxima_tentativa_em":null'],
      [/"falhando_desde":"[^"]*"/g, '"falhando_desde":null'],
      [/"eventos_sem_webhook":\[[^\]]+\]/, '"eventos_sem_webhook":[]'],
    ),
    found: [/wrong results/, /^the response to/, /listed incorrectly/, /that never existed/, /webhook is empty/],
  },
  {
    that: 'completes replays without finding their deliveries',
    seed: 2,
    altered: apisWith(findNoUndelivered),
    found: [/replay \S+ skipped it/],
  },
  {
    that: 'resends all deliveries of a replay at once, and delays resends by up to ten minutes',
    seed: 2,
    altered: apisWith(sendOtherwise),
    found: [/sends more than 2 deliveries within 100 ms/, /resent with a delay/],
  },
];

test.each(products)('The world detects a product that $that', async ({ altered, found, seed = 1 }) => {
  const { violations } = await runSeed(seed, 'calm', altered);
  for (const what of found) expect([what, violations.some(broken => what.test(broken.what))]).toEqual([what, true]);
});
