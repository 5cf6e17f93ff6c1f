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

/** A product with faults that people would meet, and what is found of each of them in one world. */
interface Faulty {
  readonly that: string;
  readonly altered: Partial<Compositions>;
  readonly found: readonly RegExp[];
  /** The world in which all of it happens. @default 1 */
  readonly seed?: number;
}

const products: readonly Faulty[] = [
  {
    that: 'goes by what webhooks once were',
    altered: consumersWith(remembering()),
    found: [/POSTed to another URL|while an operator suspends/],
  },
  {
    that: 'reads webhooks carelessly',
    altered: consumersWith(calling(readCarelessly)),
    found: [/a reading that may be old/, /late by more than/],
  },
  {
    that: 'does not wait',
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
    that: 'waits otherwise',
    seed: 2,
    altered: {
      deliver: (stage, ...rest) => composeDeliver({ ...stage, retrySchedule: [9e3, 9e3, 9e3, 9e3] }, ...rest),
    },
    found: [/wait is longer/],
  },
  {
    that: 'keeps a webhook in the slow lane that is quick again',
    seed: 3,
    altered: consumersWith(reading((_, item) => (item.slowSince ? { ...item, hold: 60_000_000 } : item))),
    found: [/stays in the slow lane/],
  },
  {
    that: 'lets a webhook leave the slow lane too early',
    seed: 3,
    altered: consumersWith(reading((_, item) => (item.slowSince ? { ...item, hold: 0 } : item))),
    found: [/left the slow lane too early/],
  },
  {
    that: 'sees neither slowness nor failures',
    altered: consumersWith(reading((_, item) => ({ ...item, slowSince: undefined, failingSince: undefined }))),
    found: [/its webhook is slow/, /first lane, and it keeps failing/, /fails for long, and nothing/],
  },
  {
    that: 'forgets when what is resent was due',
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
    that: 'makes tests in the retry lane',
    altered: { deliver: (stage, ...rest) => composeDeliver({ ...stage, lane: 'slow' }, ...rest) },
    found: [/a test was made in a quick lane/],
  },
  {
    that: 'signs with another secret, keeps no answers, holds tests, and leaves numbers out',
    altered: consumersWith(
      sending({ 'webhook-signature': 'v1,AAAA' }),
      storing(item => {
        if (String(item.part).startsWith('answer#')) return { part: 'answer#0#other' };
        if (String(item.id).startsWith('teste_') && item.state === 'failed') return { state: 'held' };
        return item.attempt === 3 ? { attempt: 4 } : undefined;
      }),
    ),
    found: [/signed by other secrets/, /is not kept/, /a test was held/, /a number was left out/],
  },
  {
    that: 'signs at another time, charges nothing, and leaves what belongs to nothing',
    altered: consumersWith(
      sending({ 'webhook-timestamp': '1767225600' }),
      storing(item => {
        if (String(item.part).startsWith('answer#')) return { part: 'reply#1' };
        return item.charged === 2 ? { charged: 1 } : undefined;
      }),
    ),
    found: [/its timestamp/, /charged otherwise/, /belongs to nothing/],
  },
  {
    that: 'leaves what has ended in the index and for ever, tells publishers nothing, and counts no event without a webhook',
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
      /told of 0 in calm/,
      /0 × EventWithoutWebhook/,
      /not all is told of it/,
    ],
  },
  {
    that: 'holds what it may send',
    altered: consumersWith(reading((table, item) => (table === 'Webhooks' ? { ...item, status: 'suspended' } : item))),
    found: [/held beside an active/],
  },
  {
    that: 'cancels what it may send, and leaves what stands beside the deliveries of a deleted account',
    seed: 26,
    altered: {
      operators: leaving('limit#tests'),
      ...consumersWith(reading((table, item) => (table === 'Webhooks' ? { ...item, webhookId: 'other' } : item))),
    },
    found: [/cancelled beside/, /limit#tests.* is left of .*, which was deleted/],
  },
  {
    that: 'takes copies of an event for other events',
    seed: 4,
    altered: consumersWith(
      reading((_, item) => (item.body ? { ...item, body: String(item.body).replace('{', '{"link2":1,') } : item)),
    ),
    found: [/taken for event.conflicting_copy/],
  },
  {
    that: 'undoes changes, tells operators nothing, and forgets what they have suspended',
    altered: {
      ...apisWith(forgetHolds),
      ...consumersWith(
        storing(({ charged, version }) => (charged && version ? { version: Number(version) - 1 } : undefined)),
      ),
      ...sweepingWith(silently),
    },
    found: [/undone by another/, /operators were not told/, /an operator had suspended/],
  },
  {
    that: 'tells operators twice, too little, and of a delivery that nobody answered with 410',
    altered: {
      ...sweepingWith(publish =>
        twice((topic, { Subject, Message }) =>
          publish(topic, { Subject, Message: Message?.replace('"deliveryId":"evt_', '$&other_') }),
        ),
      ),
    },
    found: [/no receiver answered 410/, /operators were told twice/, /operators were told too little/],
  },
  {
    that: 'records the latest attempt alone, takes a 503 for a success, and what failed for delivered',
    altered: consumersWith(
      recording(records => records.slice(-1)),
      recording(records => records.map(record => record.replace(',1503,', ',0503,'))),
      storing(({ state }) => (state === 'failed' ? { state: 'delivered' } : undefined)),
    ),
    found: [/a recorded attempt is gone/, /delivered, though no receiver said so/, /delivered without a success/],
  },
  {
    that: 'numbers recorded attempts anew whenever it stores them',
    altered: consumersWith(
      recording(records => records.map(record => record.replace(/^\d+/, number => `${Number(number) + 1}`))),
    ),
    found: [/a recorded attempt was changed/, /recorded under another number/],
  },
  {
    that: 'tells publishers twice, treats refused connections as its own fault, and reads no `Retry-After`',
    altered: countingNone(
      ['InternalError'],
      consumersWith(({ publish }) => ({ publish: twice(publish) }), blamingItself, readingNoHeaders),
    ),
    found: [/told twice in calm/, /a fault of ours in calm/, /0 × InternalError/, /wait is shorter/],
  },
  {
    that: 'answers without a look, one way',
    altered: answering(
      ['DELETE', /criada$/, 204, {}],
      ['PUT', /criada$/, 404, { code: 'webhook_not_found' }],
      ['POST', /teste$/, 202, { id: 'teste_' }],
      ['POST', /reenvio$/, 202, { id: 'evt_' }],
      ['GET', /reenvio_/, 404, { code: 'replay_not_found' }],
      ['GET', /entregas$/, 200, { entregas: [], proximo_cursor: null }],
    ),
    found: [
      /and it stays/,
      /though it was there/,
      /and it is not stored/,
      /nothing came of it/,
      /reenvio of .*active at no time/,
      /404 .*though it is there/,
      /not in the list/,
    ],
  },
  {
    that: 'answers without a look, the other way',
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
      /nothing of it was stored/,
      /it was so at no time/,
      /the secret at no time/,
      /though none had/,
      /was accepted, and not stored/,
      /reenvios.*though it is not there/,
      /shown with other attempts/,
    ],
  },
  {
    that: 'asks the store again and again, limits resends too early, and sends another credential',
    altered: {
      ...consumersWith(sending({ Authorization: 'other' })),
      ...apisWith(askAgain),
      deliveriesApi: (environment, runtime, telemetry) =>
        composeDeliveriesApi(environment, runtime, telemetry, { ...requestLimits, resendLimit: 1 }),
    },
    found: [/^GET .* makes \d+ calls/, /refused below the limit/, /another Authorization/],
  },
  {
    that: 'counts one more than a replay sent, shows it as running for ever, and fails once it has swept',
    altered: {
      ...showing([/"enviadas":/, '$&1'], [/"estado":"c[a-z]*o"/, '"estado":"em_andamento"']),
      sweep: (...given) => failingAfter(composeSweep(...given)),
    },
    found: [/is shown with \d+ sent/, /is shown as em_andamento/, /in calm an invocation failed/],
  },
  {
    that: 'shows other results, other answers, no waits, no failures, and nothing that came in vain',
    seed: 11,
    altered: showing(
      [/"resultado":"http"/g, '"resultado":"interno"'],
      [/("resposta":"evt_\S+) 2"/g, '$1 1"'],
      [/"proxima_tentativa_em":"[^"]*"/g, '"proxima_tentativa_em":null'],
      [/"falhando_desde":"[^"]*"/g, '"falhando_desde":null'],
      [/"eventos_sem_webhook":\[[^\]]+\]/, '"eventos_sem_webhook":[]'],
    ),
    found: [/with other results/, /is not kept/, /listed otherwise/, /webhooks shows .* at no time/, /came in vain/],
  },
  {
    that: 'completes replays whose deliveries it does not find',
    seed: 2,
    altered: apisWith(findNoUndelivered),
    found: [/replay \S+ left it out/],
  },
  {
    that: 'sends the deliveries of a replay at once, and what is resent up to ten minutes later',
    seed: 2,
    altered: apisWith(sendOtherwise),
    found: [/sends more than 2 deliveries within 100 ms/, /resent, and not at once/],
  },
];

test.each(products)('A product that $that is found out.', async ({ altered, found, seed = 1 }) => {
  const { violations } = await runSeed(seed, 'calm', altered);
  for (const what of found) expect([what, violations.some(broken => what.test(broken.what))]).toEqual([what, true]);
});
