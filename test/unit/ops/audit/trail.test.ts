import { userInfo } from 'node:os';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, describe, expect, it } from 'vitest';
import { sqsClientOf } from '../../../../tools/support/engines.ts';
import { auditedCommands } from '../../../../tools/support/ops.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';

interface AuditRecord {
  readonly command: string;
  readonly caller: string;
  readonly target: Readonly<Record<string, unknown>>;
  readonly change?: Readonly<Record<string, unknown>>;
  readonly outcome: string;
}

const operated = await startOperatedTables();
afterAll(() => operated.stop());

const answer = (args: readonly string[], input?: string) => operated.ask(args, input);
const trail = (): Promise<AuditRecord[]> => answer(['audit', 'list', '--since', '10m', '--limit', '1000']);

describe('ops audit list', () => {
  it('shows who did what to whom, by ids, the newest first', async () => {
    const email = 'ana@acme.example';
    const create = ['users', 'create', '--email', email, '--account', 'acme', '--role', 'admin', '--generate-password'];
    const { userId } = await answer(create);
    await answer(['users', 'disable', email]);
    expect((await trail()).slice(0, 2)).toMatchObject([
      { command: 'users disable', target: { user: userId }, outcome: 'done', caller: `local:${userInfo().username}` },
      { command: 'users create', target: { account: 'acme', user: userId }, outcome: 'done' },
    ]);
    const { stdout } = await operated.run('audit', 'list', '--limit', '1');
    expect(stdout).toMatch(/^BEGUN +CALLER +COMMAND +TARGET +CHANGE +OUTCOME\n/);
    expect(stdout).toContain(`user ${userId}`);
    expect(stdout).toContain('These are the first 1: --limit shows more.');
  });

  it('tells what was changed: roles, scopes, accounts, keys and ranges', async () => {
    const email = 'eva@acme.example';
    await answer(['users', 'create', '--email', email, '--account', 'acme', '--role', 'member', '--generate-password']);
    await answer(['users', 'set-role', email, 'admin']);
    await answer(['users', 'set-role', email, 'member']);
    const { clientId } = await answer(['clients', 'create', '--name', 'N', '--grant', 'password', '--any-account']);
    await answer(['clients', 'update', clientId, '--scope', 'webhooks:read']);
    await answer(['clients', 'update', clientId, '--account', 'acme']);
    await answer(['clients', 'update', clientId, '--no-account']);
    await answer(['clients', 'rotate-secret', clientId, '--overlap-seconds', '0']);
    await answer(['clients', 'rotate-secret', clientId]);
    await answer(['keys', 'rotate', '--kind', 'signing', '--now']);
    await answer(['keys', 'rotate', '--kind', 'signing', '--revoke']);
    const lines = (await trail()).slice(0, 11).toReversed();
    expect(lines.map(({ command, change }) => [command, change])).toEqual([
      ['users create', { role: 'member' }],
      ['users set-role', { role: 'admin' }],
      ['users set-role', { role: 'member' }],
      ['clients create', { grants: ['password'], anyAccount: true }],
      ['clients update', { scopes: ['webhooks:read'] }],
      ['clients update', { account: 'acme' }],
      ['clients update', { noAccount: true }],
      ['clients rotate-secret', { overlapSeconds: 0 }],
      ['clients rotate-secret', { overlapSeconds: 86_400 }],
      ['keys rotate', { now: true }],
      ['keys rotate', { now: true, revoke: true }],
    ]);
  });

  it('holds a line of every command that writes or shows a body, and no secret, e-mail address or body', async () => {
    const canary = 'canary';
    const email = `${canary}@acme.example`;
    const password = `${canary}-horse-battery`;
    const body = JSON.stringify({ id_conta: 'acme', event: 'demanda.criada', note: canary });
    const { outputs } = operated;
    const letter = new SendMessageCommand({ QueueUrl: outputs.DeadLetterQueueUrl, MessageBody: body });
    const { MessageId: messageId = '' } = await sqsClientOf(outputs).send(letter);

    const { clientId, clientSecret } = await answer([
      ...['clients', 'create', '--name', canary, '--grant', 'password', '--grant', 'refresh_token', '--any-account'],
    ]);
    const webhook = ['--account', 'acme', '--event', 'demanda.criada'];
    const commands: readonly (readonly string[])[] = [
      ['users', 'create', '--email', email, '--account', 'acme', '--role', 'admin'],
      ['users', 'import', '/dev/null'],
      ['accounts', 'export', 'nobody', '--out', '/dev/null'],
      ['accounts', 'delete', 'nobody'],
      ['webhooks', 'suspend', ...webhook],
      ['users', 'set-role', email, 'member'],
      ['users', 'set-password', email],
      ['users', 'unlock', email],
      ['users', 'disable', email],
      ['users', 'enable', email],
      ['users', 'set-email', email, `new-${email}`],
      ['sessions', 'end', '--user', `new-${email}`],
      ['users', 'delete', `new-${email}`],
      ['clients', 'update', clientId, '--name', `${canary} too`],
      ['clients', 'disable', clientId],
      ['clients', 'enable', clientId],
      ['clients', 'rotate-secret', clientId],
      ['clients', 'delete', clientId],
      ['publish', ...webhook, '--demand', '1', '--id', email],
      ['webhooks', 'reactivate', ...webhook],
      ['webhooks', 'test', ...webhook],
      ['deliveries', 'resend', `evt_${'x'.repeat(27)}`],
      ['deliveries', 'show', `evt_${'x'.repeat(27)}`, '--body'],
      ['deliveries', 'replay', ...webhook, '--state', 'falhou', '--since', '1h'],
      ['deliveries', 'replay', '--state', 'retida', '--since', '1h'],
      ['keys', 'rotate'],
      ['support', 'nobody'],
      ['dlq', 'list'],
      ['dlq', 'show', messageId],
      ['dlq', 'redrive'],
      ['dlq', 'discard', messageId],
      ['rollback'],
      ['tables', 'copy', 'users', 'nothing'],
      ['smoke', '--timeout', '5'],
      ['smoke', 'rotate-credentials'],
      ['smoke', 'remove'],
      // A secret that was pasted where an id belongs.
      ...['show', 'update', 'disable', 'rotate-secret', 'delete'].map(verb => ['clients', verb, clientSecret]),
      ...['show', 'disable', 'unlock', 'set-password', 'delete'].map(verb => ['users', verb, clientSecret]),
      ['sessions', 'end', clientSecret],
      ['dlq', 'show', clientSecret],
      ['dlq', 'discard', clientSecret],
    ];
    for (const args of commands) await operated.ask(args, password).catch(() => {}); // many have nothing to work on

    const records = await trail();
    expect([...new Set(records.map(({ command }) => command))].sort()).toEqual(await auditedCommands());
    expect(records.filter(({ outcome }) => outcome === 'begun')).toEqual([]);
    const told = JSON.stringify(records);
    for (const secret of [canary, password, clientSecret, email]) expect(told).not.toContain(secret);
    expect(told).toContain(clientId);
  });
});
