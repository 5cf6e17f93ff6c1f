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

/** A product with faults that affect people, and the violations that one world must find. */
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
    found: [/POSTed to another URL|while an operator suspends/],
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
    found: [/POSTed before its time/],
  },
  {
    that: 'has another schedule',
    altered: { deliver: (stage, ...rest) => composeDeliver({ ...stage, retrySchedule: [1_000] }, ...rest) },
    found: [/before its schedule was over/],
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
    that: 'uses other waits',
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
    found: [/stays in the slow lane/],
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
    found: [/its webhook is slow/, /first lane, but it keeps failing/, /long failures have no consequence/],
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
    that: 'signs with another secret, drops answers, holds tests, and skips numbers',
    altered: consumersWith(
      sending({ 'webhook-signature': 'v1,AAAA' }),
      storing(item => {
        if (String(item.part).startsWith('answer#')) return { part: 'answer#0#other' };
        if (String(item.id).startsWith('teste_') && item.state === 'failed') return { state: 'held' };
        return item.attempt === 3 ? { attempt: 4 } : undefined;
      }),
    ),
    found: [/signed by other secrets/, /attempt \d+ is not stored/, /a test was held/, /number is missing or repeated/],
  },
  {
    that: 'signs at another time, never charges, and leaves orphans',
    altered: consumersWith(
      sending({ 'webhook-timestamp': '1767225600' }),
      storing(item => {
        if (String(item.part).startsWith('answer#')) return { part: 'reply#1' };
        return item.charged === 2 ? { charged: 1 } : undefined;
      }),
    ),
    found: [/its timestamp/, /charged incorrectly/, /without an owner/],
  },
  {
    that: 'keeps ended deliveries in the index and for ever, sends no notices, and counts no event without a webhook',
    altered: countingNone(
      ['EventWithoutWebhook'],
      consumersWith(
        withoutReasons,
        storing(item => (item.state === 'delivered' ? { dueShard: '0', dueAt: '3', ttl: 9e12 } : undefined)),
        () => ({ publish: silently() }),
      ),
    ),
    found: [
      /ended, and in the index/,
      /kept for \d+ ms/,
      /: 0 notices of \d+ events in calm/,
      /0 × EventWithoutWebhook/,
      /without all attributes/,
    ],
  },
  {
    that: 'holds deliveries that it may send',
    altered: consumersWith(reading((table, item) => (table === 'Webhooks' ? { ...item, status: 'suspended' } : item))),
    found: [/held with an active/],
  },
  {
    that: 'cancels deliveries that it may send, and leaves other items of a deleted account',
    seed: 26,
    altered: {
      operators: leaving('limit#tests'),
      ...consumersWith(reading((table, item) => (table === 'Webhooks' ? { ...item, webhookId: 'other' } : item))),
    },
    found: [/cancelled during/, /limit#tests.* is left of .*, which was deleted/],
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
    that: 'undoes changes, publishes no announcements, and forgets suspensions by operators',
    altered: {
      ...apisWith(forgetHolds),
      ...consumersWith(
        storing(({ charged, version }) => (charged && version ? { version: Number(version) - 1 } : undefined)),
      ),
      ...sweepingWith(silently),
    },
    found: [/undone by another/, /announcement missing/, /an operator had suspended/],
  },
  {
    that: 'announces twice, incompletely, and a 410 that no receiver returned',
    altered: {
      ...sweepingWith(publish =>
        twice((topic, { Subject, Message }) =>
          publish(topic, { Subject, Message: Message?.replace('"deliveryId":"evt_', '$&other_') }),
        ),
      ),
    },
    found: [/no receiver answered 410/, /announced twice in calm/, /announcement incomplete/],
  },
  {
    that: 'records only the latest attempt, treats a 503 as a success, and failed deliveries as delivered',
    altered: consumersWith(
      recording(records => records.slice(-1)),
      recording(records => records.map(record => record.replace(',1503,', ',0503,'))),
      storing(({ state }) => (state === 'failed' ? { state: 'delivered' } : undefined)),
    ),
    found: [/a recorded attempt is gone/, /delivered without a successful answer/, /delivered without a success/],
  },
  {
    that: 'renumbers recorded attempts at each write',
    altered: consumersWith(
      recording(records => records.map(record => record.replace(/^\d+/, number => `${Number(number) + 1}`))),
    ),
    found: [/a recorded attempt was changed/, /recorded under another number/],
  },
  {
    that: 'sends notices twice, treats refused connections as internal errors, and ignores `Retry-After`',
    altered: countingNone(
      ['InternalError'],
      consumersWith(({ publish }) => ({ publish: twice(publish) }), blamingItself, readingNoHeaders),
    ),
    found: [/two notices of one event in calm/, /an internal error in calm/, /0 × InternalError/, /wait is shorter/],
  },
  {
    that: 'answers without reading, first set',
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
      /though it existed/,
      /but it is not stored/,
      /no attempt followed/,
      /reenvio of .*never active/,
      /404 .*though it exists/,
      /not in the list/,
    ],
  },
  {
    that: 'answers without reading, second set',
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
      /it was never so/,
      /never the secret/,
      /though no operator had/,
      /was accepted but not stored/,
      /reenvios.*though it does not exist/,
      /shown with other attempts/,
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
    found: [/^GET .* makes \d+ calls/, /refused below the limit/, /another Authorization/],
  },
  {
    that: 'overcounts a replay by one, shows it as running for ever, and fails after each sweep',
    altered: {
      ...showing([/"enviadas":/, '$&1'], [/"estado":"c[a-z]*o"/, '"estado":"em_andamento"']),
      sweep: (...given) => failingAfter(composeSweep(...given)),
    },
    found: [/is shown with \d+ sent/, /is shown as em_andamento/, /in calm an invocation failed/],
  },
  {
    that: 'shows other results, other answers, no waits, no failures, and no events without a webhook',
    seed: 11,
    altered: showing(
      [/"resultado":"http"/g, '"resultado":"interno"'],
      [/("resposta":"evt_\S+) 2"/g, '$1 1"'],
      [/"proxima_tentativa_em":"[^"]*"/g, '"proxima_tentativa_em":null'],
      [/"falhando_desde":"[^"]*"/g, '"falhando_desde":null'],
      [/"eventos_sem_webhook":\[[^\]]+\]/, '"eventos_sem_webhook":[]'],
    ),
    found: [/with other results/, /^the answer to/, /listed incorrectly/, /that never existed/, /sees too few events/],
  },
  {
    that: 'completes replays without finding their deliveries',
    seed: 2,
    altered: apisWith(findNoUndelivered),
    found: [/replay \S+ left it out/],
  },
  {
    that: 'sends all deliveries of a replay at once, and resends up to ten minutes late',
    seed: 2,
    altered: apisWith(sendOtherwise),
    found: [/sends more than 2 deliveries within 100 ms/, /resent with a delay/],
  },
];

test.each(products)('The world detects a product that $that', async ({ altered, found, seed = 1 }) => {
  const { violations } = await runSeed(seed, 'calm', altered);
  for (const what of found) expect([what, violations.some(broken => what.test(broken.what))]).toEqual([what, true]);
});
