import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { stageConfiguration } from '../../../../lib/config.ts';
import { CliError } from '../../../../ops/stage/operator.ts';
import { type Connect, opsRuntime } from '../../../../ops/stage/ops-runtime.ts';
import { accountOf, describeStacks, requireOwnAccount, stackNames } from '../../../../ops/stage/stage-stacks.ts';
import { findTarget, outputsOf, requireOutput } from '../../../../ops/stage/target.ts';
import { closeNow, listen } from '../../../../tools/support/listen.ts';
import { runOpsInProcess } from '../../../../tools/support/ops.ts';
import { aStage, noStacks } from '../a-stage.ts';

// `--stage NAME` finds the stacks of a stage in the stage's account, and reports missing stacks (contract, section 7).

const account = '111122223333';
const StackId = `arn:aws:cloudformation:sa-east-1:${account}:stack/Emissor-dev-Auth/1`;

describe('a stage', () => {
  it('is rejected if its stacks or the credentials belong to another account', () => {
    expect(accountOf(aStage({}, { ...noStacks, Auth: { StackId } }).stacks)).toBe(account);
    expect(accountOf(aStage({}, noStacks).stacks)).toBeUndefined();
    const { configuration } = aStage();
    expect(() => requireOwnAccount(configuration, account)).not.toThrow();
    expect(() => requireOwnAccount(configuration, '999999999999')).toThrow(
      new CliError(
        `stage dev is in account ${account} (stages/dev.ts), but these AWS credentials belong to account 999999999999. Set AWS_PROFILE to a profile of account ${account}.`,
      ),
    );
    expect(() => requireOwnAccount(stageConfiguration('dev'), '999999999999')).not.toThrow();
  });

  it('returns the available outputs if it is partly deployed, and reports the missing stack', () => {
    const deployed = aStage({}, { Auth: undefined });
    const target = { label: 'stage dev', outputs: { ClientsTable: 'clients' }, unreachable: '', deployed };
    expect(requireOutput(target, 'ClientsTable')).toBe('clients');
    expect(() => requireOutput(target, 'RotateKeysSettings')).toThrow(
      `stage dev is not deployed in sa-east-1 of account ${account}: stack Emissor-dev-Auth is missing`,
    );
  });
});

it('reads the time of a stage from the AWS responses', async () => {
  const time = { ...opsRuntime.time, now: () => Date.now() - 3_600_000 };
  const target = await withStacks(['Data'], () => findTarget({ stage: 'dev' }, { ...opsRuntime, time }));
  expect(Math.abs(target.clock.now() - Date.now())).toBeLessThan(5_000);
  expect(target.outputs).toEqual({ Region: 'sa-east-1', ClientsTable: 'Emissor-dev-Data-Clients' });
});

it.each([
  ['is missing', [], 'dev', /^error: stage dev is not deployed in sa-east-1 of account 111122223333: stack Emis.*\n$/],
  ['is not filled in', [], 'prod', /^error: Stage prod: stages\/prod\.ts must set account .*\n$/],
  ['lacks an output of this version', stackNames, 'dev', /^error: stage dev has no output "UsersTable"\. .*\n$/],
])('ops --stage reports in one line that a stage %s', async (_case, stacks, stage, stderr) => {
  const result = await withStacks(stacks, () => runOpsInProcess(['--stage', stage, 'users', 'list']));
  expect(result).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(stderr) });
});

describe('the stack for smoke tests', () => {
  const smokeReceiverUrl = 'https://smoke.emissor.com.br';

  it.each([
    ['configured and missing', {}, ['Data'], [false]],
    ['configured and deployed', {}, ['Data', 'Smoke'], [true]],
    ['left over', { smokeReceiverUrl }, ['Data', 'Smoke'], [true]],
    ['neither', { smokeReceiverUrl }, ['Data'], []],
  ])('is described if it is %s', async (_case, values, existing, smoke) => {
    const connect: Connect = Service => new Service({ region: 'sa-east-1', maxAttempts: 1 });
    const { stacks } = await withStacks(existing, () => describeStacks(stageConfiguration('dev', values), connect));
    const isFound = stacks.map(({ found }) => found !== undefined);
    expect(isFound).toEqual([true, false, false, false, ...smoke]);
  });

  it('adds no outputs once it is left over, because a test would use its receiver', () => {
    const Smoke = { Outputs: [{ OutputKey: 'SmokeReceiverUrl', OutputValue: 'old' }] };
    expect(outputsOf(aStage({ smokeReceiverUrl }, { Smoke }))).toEqual({ Region: 'sa-east-1' });
    expect(outputsOf(aStage({}, { Smoke })).SmokeReceiverUrl).toBe('old');
  });
});

/** Runs a function against a simulated AWS that has only the specified stacks of the stage. */
async function withStacks<Value>(names: readonly string[], run: () => Promise<Value>): Promise<Value> {
  const server = createServer(async (request, response) => {
    const parameters = new URLSearchParams(await text(request));
    const name = parameters.get('StackName') ?? '';
    const isIdentity = parameters.get('Action') === 'GetCallerIdentity';
    const exists = names.includes(name.replace('Emissor-dev-', ''));
    const identity = `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>${account}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`;
    const outputs = name.endsWith('Data')
      ? `<Outputs><member><OutputKey>ClientsTable</OutputKey><OutputValue>${name}-Clients</OutputValue></member></Outputs>`
      : '';
    const found = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>${name}</StackName><StackId>arn:aws:cloudformation:sa-east-1:${account}:stack/${name}/1</StackId>${outputs}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
    const missing = `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`;
    response.writeHead(exists || isIdentity ? 200 : 400, { 'content-type': 'text/xml' });
    response.end(isIdentity ? identity : exists ? found : missing);
  });
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${await listen(server)}`);
  vi.stubEnv('AWS_REGION', 'sa-east-1');
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, 'local');
  try {
    return await run();
  } finally {
    vi.unstubAllEnvs();
    await closeNow(server);
  }
}
