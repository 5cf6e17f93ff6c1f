import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withSlowAttempts } from '../../../../lambdas/delivery/lanes/slowness.ts';
import { makeSlownessStore } from '../../../../lambdas/delivery/lanes/slowness-store.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';
import { aWebhook, noon } from '../../delivery/builders.ts';

const operated = await startOperatedTables();
afterAll(() => operated.stop());
const { json, run, put } = operated;

describe('ops webhooks list', () => {
  const hold = { accountId: 'bolt', eventName: 'demanda.finalizada', updatedAt: noon };
  beforeAll(async () => {
    const failing = aWebhook({ accountId: 'acme', eventName: 'demanda.cancelada', failingSince: noon });
    const gone = aWebhook({ accountId: 'bolt', status: 'suspended', suspensionReason: 'gone' });
    const slow = aWebhook({ accountId: 'bolt', eventName: 'proposta.recebida' });
    await put('Webhooks', aWebhook({ accountId: 'acme' }), failing, gone, slow);
    await put('Webhooks', { ...hold, status: 'suspended', suspensionReason: 'operator' });
    const slowness = makeSlownessStore({ dynamo: operated.database.dynamo, table: 'Deliveries', now: () => noon });
    await slowness.change(slow, found => withSlowAttempts(found, { slow: 2, quick: 0 }, noon));
  });

  it.each([
    ['--failing', ['acme demanda.cancelada']],
    ['--slow', ['bolt proposta.recebida']],
    ['--suspended', ['bolt demanda.criada', 'bolt demanda.finalizada']],
    ['--suspended --account acme', []],
    ['--failing --slow', ['acme demanda.cancelada', 'bolt proposta.recebida']],
    ['--account acme', ['acme demanda.cancelada', 'acme demanda.criada']],
    ['--status suspended --slow', []],
  ])('%s lists the matching webhooks', async (options, expected) => {
    const found: { accountId: string; evento: string }[] = await json(`webhooks list ${options}`);
    expect(found.map(({ accountId, evento }) => `${accountId} ${evento}`)).toEqual(expected);
  });

  it('reads only the items of one account', async () => {
    const scans = operated.under({ before: ['Scan', 1, () => expect.unreachable()] });
    expect(await scans.run('webhooks list --account bolt')).toMatchObject({ code: 0 });
  });
});

describe('ops webhooks suspend and reactivate', () => {
  const flags = (account: string) => `--account ${account} --event demanda.criada`;

  it('suspend and reactivate a webhook without showing secrets, and explain how to resend held deliveries', async () => {
    await put('Webhooks', aWebhook({ accountId: 'held' }));
    expect(await json(`webhooks suspend ${flags('held')}`)).toMatchObject({ status: 'suspenso' });
    const webhook = await json(`webhooks show ${flags('held')}`);
    expect(webhook).toMatchObject({ host: 'receiver.example.com', status: 'suspenso', suspensionReason: 'operador' });
    expect(JSON.stringify(webhook)).not.toMatch(/encrypted|whsec/);
    const { code, stdout } = await run(`webhooks reactivate ${flags('held')}`);
    expect(code).toBe(0);
    for (const next of ['list', 'replay']) expect(stdout).toContain(`deliveries ${next} ${flags('held')} --state held`);
    expect(stdout).toMatch(/deliveries resend ID.*POST \/v1\/webhooks\/demanda\.criada\/reenvios/s);
    expect(await json(`webhooks show ${flags('held')}`)).toMatchObject({ status: 'ativo', suspensionReason: null });
  });

  it('reject an account without users and webhooks, and store no suspension', async () => {
    const stderr = expect.stringMatching(/^error: account "typo99" has no users and no webhooks/);
    expect(await run(`webhooks suspend ${flags('typo99')}`)).toEqual({ code: 1, stdout: '', stderr });
    expect(await json('webhooks list --account typo99')).toEqual([]);
    const pending = { accountId: 'left', eventName: 'demanda.cancelada', updatedAt: 1 }; // of an earlier suspension
    await put('Webhooks', { ...pending, status: 'suspended', suspensionReason: 'operator' });
    expect(await run(`webhooks suspend ${flags('left')}`)).toMatchObject({ code: 1 });
    expect(await run(`webhooks reactivate ${flags('typo99')}`)).toMatchObject({ code: 1, stdout: '' });
  });

  it('suspend the next webhook of an account with a user or a webhook for another event', async () => {
    await operated.createUser('person');
    await put('Webhooks', aWebhook({ accountId: 'other', eventName: 'demanda.cancelada' }));
    for (const account of ['person', 'other']) {
      const suspended = await json(`webhooks suspend ${flags(account)}`);
      expect(suspended).toMatchObject({ accountId: account, status: 'suspenso', webhookId: null });
    }
  });
});
