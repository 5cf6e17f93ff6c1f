import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Delivery, type DeliveryState, settled } from '../../../../lambdas/delivery/delivery.ts';
import { failureCauses } from '../../../../lambdas/delivery/failure-causes.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';
import { aDelivery, aRecord, aWebhook, noon } from '../../delivery/builders.ts';

const operated = await startOperatedTables();
afterAll(() => operated.stop());
const { json, run, put } = operated;

beforeAll(async () => {
  await put('Webhooks', aWebhook({ accountId: 'acme' }));
  await fill(4_500, 'acme', 'failed'); // more than a page of the index
  await fill(30, 'acme', 'delivered');
  await fill(3, 'acme', 'pending');
  await fill(7, 'bolt', 'failed', { eventName: 'demanda.cancelada' });
  await fill(9, 'bolt', 'held');
});

/** Stores deliveries of events that were accepted once a second from noon. */
const fill = async (count: number, accountId: string, state: DeliveryState, changes: Partial<Delivery> = {}) => {
  const deliveries = Array.from({ length: count }, (_, number) => {
    const id = `evt_${accountId}${state.slice(0, 4)}${String(number).padStart(19, '0')}`;
    const delivery = aDelivery({ id, accountId, createdAt: noon + number * 1_000, ...changes });
    if (state !== 'pending') return settled(delivery, state, noon);
    return { ...delivery, wait: { nextAttemptAt: noon, sweepAt: noon, overdueCount: 0 } };
  });
  await put('Deliveries', ...deliveries.map(delivery => itemFromDelivery(delivery)));
};

const listed = (options: string) => json(`deliveries list ${options}`);
const list = async (options: string) => (await run(`deliveries list ${options}`)).stdout;

const at = (second: number) => new Date(noon + second * 1_000).toISOString();
const countOf = (accountId: string, evento: string, state: string, count: number, newest = count - 1) => {
  return { accountId, evento, state, count, newestAcceptedAt: at(newest) };
};
const failedOf = (...counts: readonly [acme: number, bolt: number, newest?: number]) => [
  countOf('acme', 'demanda.criada', 'falhou', counts[0], counts[2]),
  countOf('bolt', 'demanda.cancelada', 'falhou', counts[1], counts[2]),
];
const [failing, cancelled] = failedOf(4_500, 7);
const held = countOf('bolt', 'demanda.criada', 'retida', 9);
const pending = countOf('acme', 'demanda.criada', 'pendente', 3);

describe('ops deliveries list', () => {
  it.each([
    ['', [failing, held, cancelled, pending]],
    ['--limit 2', [failing, held]],
    ['--state failed', [failing, cancelled]],
    ['--event demanda.criada --state held', [held]],
    ['--event mensagem.recebida', []],
    [`--state failed --since ${at(5)} --until ${at(7)}`, failedOf(2, 2, 6)],
  ])('counts undelivered deliveries of all accounts, largest counts first: %s', async (options, counts) => {
    expect(await json(`deliveries list ${options}`.trim())).toEqual(counts);
  });

  const ofWebhook = '--account acme --event demanda.criada';
  const created = (seconds: readonly number[]) => seconds.map(second => at(second));
  it.each([
    [`${ofWebhook} --state pending`, [2, 1, 0]],
    [`${ofWebhook} --state delivered`, Array.from({ length: 30 }, (_, back) => 29 - back)],
    [`${ofWebhook} --state failed --limit 300`, Array.from({ length: 300 }, (_, back) => 4_499 - back)],
    ['--account bolt', [8, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0]],
    ['--account bolt --limit 5', [8, 7, 6, 6, 5]],
    ['--account bolt --state held', [8, 7, 6, 5, 4, 3, 2, 1, 0]],
    [`--account bolt --since ${at(2)} --until ${at(4)}`, [3, 3, 2, 2]],
    ['--account nobody', []],
  ])('lists each delivery of an account or a webhook once, newest first: %s', async (options, seconds) => {
    const found: { id: string; createdAt: string }[] = await listed(options);
    expect(found.map(({ createdAt }) => createdAt)).toEqual(created(seconds));
    expect(new Set(found.map(({ id }) => id)).size).toBe(seconds.length);
  });

  it('prints a table with headings, or a sentence if there are no deliveries', async () => {
    expect((await list('--state failed')).split('\n').slice(0, 2)).toEqual([
      'ACCOUNT  EVENT              STATE            DELIVERIES  NEWEST ACCEPTED',
      'acme     demanda.criada     failed (falhou)  4500        2026-11-20T13:14:59.000Z',
    ]);
    expect(await list('--account bolt --limit 1')).toMatch(/^DELIVERY +EVENT +STATE +ACCEPTED /);
    for (const none of ['--event mensagem.recebida', '--account nobody'])
      expect(await list(none)).toBe('No such deliveries.\n');
  });

  it('merges the deliveries of several events by time', async () => {
    const found: { evento: string }[] = await listed('--account bolt --limit 4');
    const [own, other] = ['demanda.criada', 'demanda.cancelada'];
    expect(found.map(({ evento }) => evento)).toEqual([own, own, own, other]);
  });

  it.each(Object.entries({ '--account bolt ': 16, '': 4 }))(
    'reports that it does not show all deliveries or counts: %s',
    async (options, all) => {
      const more = `\n\nOnly the first ${all - 1} are shown. Use a larger --limit to see more.\n`;
      expect((await list(`${options}--limit ${all - 1}`)).endsWith(more)).toBe(true);
      expect(await list(`${options}--limit ${all}`)).not.toContain('--limit');
    },
  );
});

describe('ops deliveries show', () => {
  const id = `evt_${'a'.repeat(27)}`;
  const show = (...args: string[]) => run('deliveries', 'show', id, ...args);

  beforeAll(async () => {
    const { dynamo } = operated.database;
    const store = makeDeliveryStore({ ...systemTime, dynamo, table: 'Deliveries', now: () => noon });
    const delivery = aDelivery({ id, body: '{"event":"demanda.criada","id_demanda":7}' });
    const answered = (number: number, response: string) =>
      aRecord({ number, startedAt: iso(number), status: 503, response });
    const iso = (minute: number) => new Date(Date.now() - (10 - minute) * 60_000).toISOString();
    const wait = { nextAttemptAt: noon, sweepAt: noon, overdueCount: 0 };
    const first = { ...delivery, wait, attempt: 2, attempts: [answered(1, 'try later')] };
    await store.create(first);
    const [stored = first] = await store.read([id]);
    const failed = aRecord({ ...answered(3, ''), result: 'tls', cause: 'self_signed', status: null, response: null });
    const others = [answered(2, 'still\u001b[31m closed'), failed, { ...failed, number: 4, startedAt: iso(4) }];
    await store.update(stored, { ...first, attempt: 5, attempts: [...first.attempts, ...others] });
  });

  it('shows the response to each attempt, and advice on each failure cause once', async () => {
    const { code, stdout } = await show();
    expect(code).toBe(0);
    expect(stdout).toContain('response to attempt 1:\ntry later');
    expect(stdout).toContain('response to attempt 2:\nstill\\u{1b}[31m closed');
    expect(stdout).toMatch(/^4 .*tls +autoassinado +-$/m);
    expect(stdout.split(`autoassinado: ${failureCauses.self_signed.en}`)).toHaveLength(2);
    const { attempts } = JSON.parse((await show('--json')).stdout);
    expect(attempts.map(({ resposta, detalhe }: Record<string, string>) => [resposta, detalhe])).toEqual([
      ['try later', null],
      ['still\u001b[31m closed', null],
      [null, 'autoassinado'],
      [null, 'autoassinado'],
    ]);
  });

  it('shows the body only with --body, and only if it can write an audit line', async () => {
    for (const asJson of [[], ['--json']]) expect((await show(...asJson)).stdout).not.toContain('id_demanda');
    expect(await operated.trail()).toEqual([]);
    expect((await show('--body')).stdout).toMatch(/\n\nbody:\n.*"id_demanda":7/);
    expect(await operated.trail()).toMatchObject([{ command: 'deliveries show', target: { delivery: id } }]);
    const unaudited = operated.under({ outputs: { AuditLogGroup: undefined } });
    const failure = { code: 1, stdout: '', stderr: expect.stringContaining('it could not write its audit line') };
    expect(await unaudited.run(`deliveries show ${id} --body`)).toEqual(failure);
  });
});

it('ops deliveries list and show report a delivery of a deleted webhook as cancelled, like the API', async () => {
  const id = `evt_${'c'.repeat(27)}`;
  const wait = { nextAttemptAt: noon, sweepAt: noon, overdueCount: 0 };
  const waiting = aDelivery({ id, accountId: 'gone', wait });
  await put('Deliveries', itemFromDelivery(waiting));
  const expectedTest = expect.objectContaining({ id, state: 'cancelada', nextAttemptAt: null });
  for (const more of ['', ' --state cancelled', ' --event demanda.criada'])
    expect(await listed(`--account gone${more}`)).toEqual([expectedTest]);
  expect(await listed('--account gone --state pending')).toEqual([]);
  expect(await json(`deliveries show ${id}`)).toEqual(expectedTest);
});

it.each([
  ['may be in flight', 0, {}, false, /was not resent, because an attempt is due/],
  ['is overdue', 120_000, {}, true, /is due for its next attempt now\.\n/],
  ['cannot be queued', 120_000, { SqsEndpoint: 'http://127.0.0.1:9' }, true, /now\. It could not be queued/],
])('ops deliveries resend reports its result if an attempt %s', async (_case, overdueBy, outputs, resent, message) => {
  const id = `evt_${'b'.repeat(27)}`;
  const operator = operated.under({ outputs });
  const store = async () => {
    const nextAttemptAt = Date.now() - overdueBy;
    const wait = { nextAttemptAt, sweepAt: nextAttemptAt + 120_000, overdueCount: 0 };
    await put('Deliveries', itemFromDelivery(aDelivery({ id, wait })));
  };
  await put('Webhooks', aWebhook());
  await store();
  expect((await operator.run(`deliveries resend ${id}`)).stdout).toMatch(message);
  await store();
  expect(await operator.json(`deliveries resend ${id}`)).toEqual({ id, resent });
});

it('ops deliveries show and resend report an unknown id', async () => {
  for (const verb of ['show', 'resend'])
    expect(await run(`deliveries ${verb} evt_${'n'.repeat(27)}`)).toMatchObject({ code: 1, stdout: '' });
});
