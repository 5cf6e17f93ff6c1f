import { type InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { STSClient } from '@aws-sdk/client-sts';
import { Command } from 'commander';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { rotateKeys } from '../../../../ops/keys/keys.command.ts';
import { localTarget, type Target } from '../../../../ops/stage/target.ts';
import { fail, startOperatedTables } from '../../../support/operated-tables.ts';
import { aTask } from '../a-task.ts';

const operated = await startOperatedTables();
afterAll(() => operated.stop());
const { json, run, under } = operated;

const keysIn = async () => (await json('keys list')).length;

describe('ops keys with one key of each kind', () => {
  it('lists the keys with their current states', async () => {
    const { stdout } = await run('keys list');
    expect(stdout).toMatch(
      /^KIND +GENERATION +KEY ID +ALGORITHM +STATE +ACTIVE FROM\nsigning +1 +\w{22} +ES256 +active /,
    );
    expect(stdout).toMatch(/\nmac +1 .* active .*\nencryption +1 .* active /);
  });

  it('rotates only keys that are due', async () => {
    const none = ['signing', 'mac', 'encryption'].map(kind => ({ kind, created: null, removed: [] }));
    expect(await json('keys rotate')).toEqual(none);
    expect(await keysIn()).toBe(3);
  });

  it.each([
    ['keys rotate --revoke', /Add --yes to confirm\.\n$/],
    ['--yes keys rotate --now --revoke --kind encryption', /^error: Encryption keys cannot be revoked/],
  ])('rejects %s, and has no effect', async (words, problem) => {
    expect(await run(words)).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(problem) });
    expect(await keysIn()).toBe(3);
  });

  it('revokes keys even if the local clock is ahead', async () => {
    const ahead = under({ hasDates: true, time: { now: () => Date.now() + 120_000 } });
    const { stdout, stderr } = await ahead.run('--yes keys rotate --revoke --kind signing');
    expect(stderr).toMatch(/^warning: this machine's clock is \d+ seconds ahead of the clock of .*\n$/);
    expect(stdout).toMatch(/^signing: key \w{22} is active, .*; deleted generation 1\.\n/);
    expect(await json('keys list --kind signing')).toMatchObject([{ generation: 2, state: 'active' }]);
  });

  it('revokes all kinds, but only retires encryption keys', async () => {
    const results: { removed: number[] }[] = await json('keys rotate --revoke');
    expect(results.map(({ removed }) => removed)).toEqual([[2], [1], []]);
    const encryption: { state: string }[] = await json('keys list --kind encryption');
    expect(encryption.map(({ state }) => state)).toEqual(['retiring', 'active']);
  });
});

// In a stage, the function rotates the keys.
describe('ops keys rotate on a stage', () => {
  const functionArn = 'arn:aws:lambda:sa-east-1:111122223333:function:RotateKeys:live';
  const invoked: (string | undefined)[] = [];
  const warnings: string[] = [];
  beforeEach(() => void [invoked, warnings].map(list => list.splice(0)));

  /** Returns a deployed stage with these tables. Its function returns `response`. */
  const stageReturning = (response: unknown, FunctionError?: string): Target => {
    const local = localTarget({ ...operated.outputs, RotateKeysFunction: functionArn });
    const send = async ({ input }: InvokeCommand) => {
      if ('FunctionName' in input) invoked.push(input.FunctionName);
      return { FunctionError, Payload: Buffer.from(JSON.stringify(response)), Arn: 'arn:aws:iam::1:user/ana' };
    };
    const fakeClients: readonly string[] = [LambdaClient.name, STSClient.name];
    const connect: Target['connect'] = (Service, endpoint) =>
      fakeClients.includes(Service.name) ? ({ send } as never) : local.connect(Service, endpoint);
    return { ...local, connect, deployed: { configuration: { stage: 'dev' } } as never };
  };
  const rotate = (target: Target, args: Parameters<typeof rotateKeys.act>[1] = {}) =>
    rotateKeys.act(aTask(target, { warn: text => void warnings.push(text) }), args);
  const denied = { errorType: 'AccessDeniedException', errorMessage: 'not authorized to perform: dynamodb:Query' };
  const failed = `the daily rotation failed: ${denied.errorType}: ${denied.errorMessage} (docs/runbook.md, "KeysNotRotated").`;
  const noRotations = ['signing', 'mac', 'encryption'].map(kind => ({ kind, removed: [] }));

  it('invokes the function, and reports its results', async () => {
    const before = await keysIn();
    const response = [{ kind: 'signing', created: 3, removed: [7] }, ...noRotations.slice(1)];
    expect(await rotate(stageReturning(response))).toMatchObject([
      { kind: 'signing', created: { generation: 3, state: 'active' }, removed: [7] },
      { kind: 'mac', created: undefined },
      { kind: 'encryption', created: undefined },
    ]);
    expect([invoked, await keysIn()]).toEqual([[functionArn], before]);
    await expect(rotate(stageReturning(denied, 'Unhandled'))).rejects.toThrow(failed);
  });

  it('reports a created key that no longer exists', async () => {
    const target = stageReturning([{ kind: 'signing', created: 99, removed: [] }, ...noRotations.slice(1)]);
    const texts: string[] = [];
    const noun = new Command('keys');
    rotateKeys.addTo(noun, async (act, report) => void texts.push(report(await act(aTask(target)), target).text));
    await noun.parseAsync(['rotate'], { from: 'user' });
    expect(texts).toEqual([
      expect.stringMatching(/^signing: created generation 99, .* since\.\nmac: no key was due\./),
    ]);
  });

  it.each([
    ['runs the function', undefined, []],
    ['warns if the function fails', 'Unhandled', [`the keys were created, but ${failed}`]],
  ])('--now creates keys with the operator’s permissions, and %s', async (_case, error, expected) => {
    const before = await keysIn();
    const created = await rotate(stageReturning(error ? denied : noRotations, error), { now: true, kind: 'mac' });
    expect(created).toMatchObject([{ kind: 'mac', created: { state: 'active' } }]);
    expect({ invoked, warnings }).toEqual({ invoked: [functionArn], warnings: expected });
    expect(await keysIn()).toBe(before + 1);
  });

  it('shows the commands for the same stage if it fails half-way', async () => {
    const target = { ...stageReturning(noRotations), dynamo: async () => fail() };
    const next = 'Run "npm run ops -- --stage dev keys rotate --revoke --kind signing" and "npm run ops -- --st';
    await expect(rotate(target, { now: true, revoke: true })).rejects.toThrow(next);
  });
});

describe('keys rotate --revoke that fails half-way', () => {
  const pair = 'GenerateDataKeyPairWithoutPlaintext';
  const secret = 'GenerateDataKeyWithoutPlaintext';
  const kinds = ['signing', 'mac', 'encryption'] as const;
  type Generations = Readonly<Record<(typeof kinds)[number], readonly number[]>>;

  const generations = async (): Promise<Generations> => {
    const listed: { kind: string; generation: number }[] = await json('keys list');
    const of = (keyKind: string) => listed.filter(({ kind }) => kind === keyKind).map(({ generation }) => generation);
    return { signing: of('signing'), mac: of('mac'), encryption: of('encryption') };
  };
  const failAt = async (call: string, nth: number) => {
    const expired = () => {
      const error = new Error('The security token included in the request is expired');
      throw Object.assign(error, { name: 'ExpiredTokenException' });
    };
    const failed = await under({ before: [call, nth, expired] }).run('--json --yes keys rotate --revoke');
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    return JSON.parse(failed.stderr);
  };
  const expectRevoked = async (before: Generations) => {
    const after = await generations();
    for (const kind of ['signing', 'mac'] as const) {
      expect(after[kind]).toHaveLength(1);
      expect(before[kind]).not.toContain(after[kind][0]);
    }
    expect(after.encryption.at(-1)).toBeGreaterThan(before.encryption.at(-1) ?? 0);
  };

  const steps: [step: string, nth: number, rotated: number, deletes: string][] = [
    ['Query', 1, 0, ''],
    [pair, 1, 0, ''],
    ['Put', 1, 0, ''],
    ['Delete', 1, 0, 'signing'],
    ['Query', 2, 1, ''],
    [secret, 1, 1, ''],
    ['Put', 2, 1, ''],
    ['Delete', 2, 1, 'mac'],
    ['Query', 3, 2, ''],
    [secret, 2, 2, ''],
    ['Put', 3, 2, ''],
    ['Query', 4, 3, ''],
  ];

  it.each(steps)(
    'at %s %i reports the finished and remaining steps, and can be completed with the reported commands or by a repetition',
    async (step, nth, rotated, deletes) => {
      const before = await generations();
      const failure = await failAt(step, nth);
      const now = await generations();
      expect(failure.error).toContain('no usable AWS credentials');
      const left = kinds.slice(rotated);
      expect(failure).toMatchObject({ left });
      for (const kind of kinds) {
        const created = now[kind].filter(generation => !before[kind].includes(generation));
        if (created.length > 0) expect(failure.error).toContain(`${kind} created ${created}`);
        const kept = now[kind].filter(generation => before[kind].includes(generation)).join(' and ');
        if (kind === deletes) expect(failure.error).toContain(`${kind} generation ${kept} is still valid`);
        else if (left.includes(kind)) expect(failure.error).toContain(`${kind} is not rotated`);
        else if (kind !== 'encryption') expect(kept).toBe('');
      }
      const [line] = await operated.trail();
      expect(line).toMatchObject({ command: 'keys rotate', outcome: 'failed' });
      expect(failure.error).toContain(`Done: ${Object(line).target.keys?.join('; ') || 'nothing'}. Left:`);

      const matches: RegExpMatchArray[] = [...failure.error.matchAll(/"npm run ops -- (keys rotate [^"]+)"/g)];
      const commands = matches.map(([, words = '']) => words);
      expect(commands).toHaveLength(left.length);
      if (left.length === 0) expect(failure.error).toContain('"npm run ops -- keys list" shows the keys');
      for (const words of commands) await json(words);
      await expectRevoked(before);

      const completed = await generations();
      await failAt(step, nth);
      await json('keys rotate --revoke');
      await expectRevoked(completed);
    },
  );

  it('deletes the other keys if one key cannot be deleted', async () => {
    await json('keys rotate --now --kind signing');
    const { signing } = await generations();
    expect(signing).toHaveLength(2);
    const { error } = await failAt('Delete', 1);
    const [kept, created] = (await generations()).signing;
    expect(error).toContain(
      `Done: signing created ${created}, deleted ${signing[1]}. Left: signing generation ${kept} is`,
    );
    await json('keys rotate --revoke');
  });
});
