import type { IAMClient } from '@aws-sdk/client-iam';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRecord, writeRecord } from '../../../../lambdas/platform/deployment/rollback-record.ts';
import { moveAll, raiseNumber } from '../../../../ops/deployment/alias-moves.ts';
import { publishedByLatest, refuseWhileDeploying } from '../../../../ops/deployment/latest-deployment.ts';
import { findRolledBack } from '../../../../ops/deployment/live-functions.ts';
import { readMissingGrants } from '../../../../ops/deployment/missing-grants.ts';
import { type Candidate, type Choice, planRollback } from '../../../../ops/deployment/rollback-plan.ts';
import type { DeployedStack } from '../../../../ops/stage/stage-stacks.ts';

const moment = Date.parse('2026-11-20T12:00:00.000Z');
const candidate = (name: string, changes: Partial<Candidate> = {}): Candidate => ({
  name,
  functionName: `Emissor-dev-${name}`,
  stackName: 'Emissor-dev-Auth',
  version: 3,
  sharing: [],
  revisionId: 'r',
  record: undefined,
  versions: [1, 2, 3].map(version => ({ version, publishedAt: moment + version })),
  isOfLatest: true,
  ...changes,
});
const rolledBackTo2 = { version: 2, record: { from: [3], to: 2, at: 'then' } };
const plan = (functions: readonly Candidate[], choice: Partial<Choice> = {}) =>
  planRollback(functions, { names: [], again: false, ...choice });
const waysOf = ({ moves }: ReturnType<typeof planRollback>) =>
  moves.map(({ function: { name }, from, to }) => [name, from.version, to.version]);

describe('the plan of a roll-back', () => {
  it('takes back what the latest deployment published, and nothing else', () => {
    const found = plan([candidate('Token'), candidate('Sweep', { isOfLatest: false })]);
    expect(waysOf(found)).toEqual([['Token', 3, 2]]);
  });

  it('takes back those that are named, whatever deployment published them', () => {
    const found = plan([candidate('Token'), candidate('Sweep', { isOfLatest: false })], { names: ['Sweep'] });
    expect(waysOf(found)).toEqual([['Sweep', 3, 2]]);
  });

  it('leaves what is rolled back where it is, unless it is to go further', () => {
    const back = candidate('Token', rolledBackTo2);
    expect(plan([back])).toMatchObject({ moves: [], already: [back] });
    expect(waysOf(plan([back], { again: true }))).toEqual([['Token', 2, 1]]);
  });

  it('passes over a version that was taken back, where a deployment that failed brought it again', () => {
    const returned = candidate('Token', { version: 3, isOfLatest: false, record: { from: [3], to: 2, at: 'then' } });
    expect(waysOf(plan([returned]))).toEqual([['Token', 3, 2]]);
    const mended = candidate('Token', {
      version: 5,
      versions: [2, 3, 5].map(version => ({ version, publishedAt: moment })),
      record: { from: [3], to: 2, at: 'then' },
    });
    expect(waysOf(plan([mended]))).toEqual([['Token', 5, 2]]);
  });

  it('ends a release that CodeDeploy is shifting: the newest version that gets requests is taken back', () => {
    const shifting = candidate('Token', { version: 2, sharing: [3], isOfLatest: false });
    expect(waysOf(plan([shifting]))).toEqual([['Token', 3, 2]]);
  });

  it('tells what has no version to go back to', () => {
    const first = candidate('Token', { version: 1, versions: [{ version: 1, publishedAt: moment }] });
    expect(plan([first])).toEqual({ moves: [], already: [], stuck: [first] });
  });

  it('never goes forward, to what was taken back, or to a version that is gone', () => {
    const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
    fc.assert(
      fc.property(numbers, numbers, fc.boolean(), fc.nat(8), (kept, takenBack, again, at) => {
        const version = kept[at % kept.length] ?? 1;
        const one = candidate('Token', {
          version,
          versions: kept.map(number => ({ version: number, publishedAt: moment })),
          record: { from: takenBack, to: takenBack[0] ?? 1, at: 'then' },
        });
        for (const { to, from } of plan([one], { names: ['Token'], again }).moves) {
          expect(kept).toContain(to.version);
          expect(takenBack).not.toContain(to.version);
          expect(to.version).toBeLessThan(from.version);
        }
      }),
    );
  });
});

describe('the record of a roll-back', () => {
  it('is read as it was written', () => {
    const versions = fc.array(fc.integer({ min: 1, max: 9_999 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(versions, fc.integer({ min: 1, max: 9_999 }), (from, to) => {
        const text = writeRecord({ from, to }, moment);
        expect(readRecord(text)).toEqual({ from, to, at: '2026-11-20T12:00:00.000Z' });
        expect(text.length).toBeLessThanOrEqual(256); // AWS takes no longer description of an alias
      }),
    );
  });

  it('is none in another description', () => {
    for (const text of [undefined, '', 'rolled back', 'the live version']) expect(readRecord(text)).toBeUndefined();
  });

  it('holds as long as the alias leads there, and tells of a version that came again', () => {
    const record = { from: [3], to: 2, at: 'then' };
    const states = [2, 3, 4].map(version =>
      findRolledBack([{ name: 'Token', version, record }]).map(({ state }) => state),
    );
    expect(states).toEqual([['rolled back'], ['returned'], []]);
  });
});

describe('the latest deployment', () => {
  const stack = (stackName: string, Release: string, minute: number, StackStatus = 'UPDATE_COMPLETE') =>
    ({
      stackName,
      found: {
        StackStatus,
        LastUpdatedTime: new Date(moment + minute * 60_000),
        Outputs: [{ OutputKey: 'Release', OutputValue: Release }],
      },
    }) as DeployedStack;

  it('is of all stacks that have its release, and of the functions that each published', () => {
    const stacks = [stack('Auth', 'r2 token,revoke', 1), stack('Delivery', 'r2 ', 3), stack('Smoke', 'r1 receiver', 0)];
    expect([...publishedByLatest(stacks)].filter(name => name !== '')).toEqual(['token', 'revoke']);
  });

  it('is not one that was undone: its stack names the release before', () => {
    const stacks = [stack('Auth', 'r2 token', 1), stack('Delivery', 'r1 first', 5, 'UPDATE_ROLLBACK_COMPLETE')];
    expect([...publishedByLatest(stacks)]).toEqual(['token']);
  });

  it('is waited for: a roll-back meanwhile is refused, with what to type', () => {
    const deploying = { stacks: [stack('Auth', 'r1 token', 0, 'UPDATE_IN_PROGRESS')], region: 'sa-east-1' };
    expect(() => refuseWhileDeploying(deploying as never)).toThrow(
      /under way.*cancel-update-stack --region sa-east-1 --stack-name Auth/,
    );
    const ended = { stacks: [stack('Auth', 'r1 token', 0)], region: 'sa-east-1' };
    expect(() => refuseWhileDeploying(ended as never)).not.toThrow();
  });
});

describe('the moves of a roll-back', () => {
  const [move] = plan([candidate('Token')]).moves;

  it('lead the alias back, take its weights, and are recorded, by one call under the revision that was read', async () => {
    const sent: object[] = [];
    const lambda = { send: async (command: { input: object }) => void sent.push(command.input) };
    await moveAll(lambda as never, move ? [move] : [], { again: false, now: moment });
    expect(sent).toEqual([
      {
        FunctionName: 'Emissor-dev-Token',
        Name: 'live',
        FunctionVersion: '2',
        RoutingConfig: { AdditionalVersionWeights: {} },
        Description: 'rolled back from 3 to 2 at 2026-11-20T12:00:00.000Z',
        RevisionId: 'r',
      },
    ]);
  });

  it('go on where one fails, and tell which', async () => {
    const moves = plan([candidate('Token'), candidate('Revoke')]).moves;
    let calls = 0;
    const lambda = {
      send: async ({ input }: { input: { FunctionName: string } }) => {
        calls += 1;
        if (input.FunctionName.endsWith('Token')) throw new Error('somebody else');
      },
    };
    await expect(moveAll(lambda as never, moves, { again: false, now: moment })).rejects.toThrow(
      /^1 of 2 functions were not led back: Token .*same command/,
    );
    expect(calls).toBe(2);
  });

  it('are numbered: the next deployment publishes every function anew', async () => {
    const sent: object[] = [];
    const ssm = {
      send: async ({ input }: { input: object }) => (sent.push(input) === 1 ? { Parameter: { Value: '4' } } : {}),
    };
    await raiseNumber(ssm as never, '/emissor/dev/rollback-number');
    expect(sent[1]).toMatchObject({ Name: '/emissor/dev/rollback-number', Value: '5', Overwrite: true });
  });
});

describe('the grants that an older version would miss', () => {
  const roleArn = 'arn:aws:iam::111122223333:role/Emissor-dev-Token';
  const iam = (...resources: string[]) =>
    ({
      send: async (command: { input: { PolicyName?: string } }) =>
        command.input.PolicyName === undefined
          ? { PolicyNames: ['own'] }
          : {
              PolicyDocument: encodeURIComponent(
                JSON.stringify({
                  Statement: [
                    { Effect: 'Allow', Resource: resources },
                    { Effect: 'Deny', Resource: '*' },
                  ],
                }),
              ),
            },
    }) as unknown as Pick<IAMClient, 'send'>;
  const wants = (environment: Record<string, string>) => ({ roleArn, region: 'sa-east-1', environment });

  it.each([
    [
      'a table that the role may use',
      { USERS_TABLE: 'users' },
      ['arn:aws:dynamodb:sa-east-1:111122223333:table/users'],
      [],
    ],
    [
      'one that it may not',
      { USERS_TABLE: 'old' },
      ['arn:aws:dynamodb:sa-east-1:111122223333:table/users'],
      ['USERS_TABLE old'],
    ],
    ['a table under a wildcard', { USERS_TABLE: 'users' }, ['arn:aws:dynamodb:*:111122223333:table/us?rs'], []],
    [
      'a queue',
      { QUEUE_URL: 'https://sqs.sa-east-1.amazonaws.com/111122223333/q' },
      [],
      ['QUEUE_URL https://sqs.sa-east-1.amazonaws.com/111122223333/q'],
    ],
    [
      'an ARN',
      { KEY_ARN: 'arn:aws:kms:sa-east-1:111122223333:key/1' },
      ['arn:aws-us-gov:kms:sa-east-1:111122223333:key/1'],
      [],
    ],
    ['a setting that names nothing', { LOG_LEVEL: 'INFO' }, [], []],
  ])('%s', async (_case, environment, resources, missing) => {
    expect(await readMissingGrants(iam(...resources), wants(environment as Record<string, string>), {})).toEqual(
      missing,
    );
  });

  it('are read of a policy whose statement stands in no list, as AWS takes it, too', async () => {
    const Resource = 'arn:aws:dynamodb:sa-east-1:111122223333:table/users';
    const PolicyDocument = JSON.stringify({ Statement: { Effect: 'Allow', Resource } });
    const send = async () => ({ PolicyNames: ['one'], PolicyDocument: encodeURIComponent(PolicyDocument) });
    const environment = wants({ USERS_TABLE: 'users', CLIENTS_TABLE: 'clients' });
    expect(await readMissingGrants({ send } as never, environment, {})).toEqual(['CLIENTS_TABLE clients']);
  });

  it('are not told of what the version in use names in the same way', async () => {
    expect(await readMissingGrants(iam(), wants({ USERS_TABLE: 'users' }), { USERS_TABLE: 'users' })).toEqual([]);
  });

  it('are unknown where the policies cannot be read, and all where the role is gone', async () => {
    const failing = (name: string) => ({ send: async () => Promise.reject(Object.assign(new Error('no'), { name })) });
    expect(await readMissingGrants(failing('AccessDenied') as never, wants({}), {})).toHaveProperty('unread');
    expect(await readMissingGrants(failing('NoSuchEntityException') as never, wants({}), {})).toEqual([
      expect.stringContaining('gone'),
    ]);
  });
});
