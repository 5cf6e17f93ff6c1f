import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { stageConfiguration } from '../../../../lib/config.ts';
import { CliError } from '../../../../ops/stage/operator.ts';
import {
  accountOf,
  describeStacks,
  requireOwnAccount,
  type StageStacks,
  stackNameOf,
} from '../../../../ops/stage/stage-stacks.ts';
import { findTarget, outputsOf, requireOutput, type TargetFacts } from '../../../../ops/stage/target.ts';
import { thisWorld } from '../../../../ops/stage/world.ts';
import { closeNow, listen } from '../../../../tools/support/listen.ts';
import { runOpsInProcess } from '../../../../tools/support/ops.ts';

const account = '111122223333';

const stack = (name: 'Data' | 'Auth', isDeployed: boolean): StageStacks['stacks'][number] => ({
  name,
  stackName: stackNameOf('dev', name),
  found: isDeployed
    ? {
        StackName: stackNameOf('dev', name),
        StackId: `arn:aws:cloudformation:sa-east-1:${account}:stack/${stackNameOf('dev', name)}/1`,
        CreationTime: new Date(0),
        StackStatus: 'CREATE_COMPLETE',
      }
    : undefined,
});

describe('a stage', () => {
  const configuration = stageConfiguration('dev', { account, region: 'sa-east-1' });

  it('is told apart from another account by the ids of its stacks', () => {
    expect(accountOf([stack('Data', false), stack('Auth', true)])).toBe(account);
    expect(accountOf([stack('Data', false)])).toBeUndefined();
    expect(() => requireOwnAccount(configuration, account)).not.toThrow();
    expect(() => requireOwnAccount(configuration, '999999999999')).toThrow(
      new CliError(
        `stage dev is in account ${account} (stages/dev.ts), but these AWS credentials belong to account 999999999999. Set AWS_PROFILE to a profile of account ${account}.`,
      ),
    );
    expect(() => requireOwnAccount(stageConfiguration('dev'), '999999999999')).not.toThrow();
  });

  it('that is half deployed gives the outputs that are there, and names the stack that is missing', () => {
    const stacks = [stack('Data', true), stack('Auth', false)];
    const target: TargetFacts = {
      label: 'stage dev',
      outputs: { ClientsTable: 'clients' },
      unreachable: '',
      deployed: { configuration, region: 'sa-east-1', account, stacks },
    };
    expect(requireOutput(target, 'ClientsTable')).toBe('clients');
    expect(() => requireOutput(target, 'RotateKeysSettings')).toThrow(
      `stage dev is not deployed in sa-east-1 of account ${account}: stack Emissor-dev-Auth is missing`,
    );
  });
});

it('knows the time of a stage by the answers that found it', async () => {
  const time = { ...thisWorld.time, now: () => Date.now() - 3_600_000 };
  const target = await withStacks(['Data'], () => findTarget({ stage: 'dev' }, { ...thisWorld, time }));
  expect(Math.abs(target.clock.now() - Date.now())).toBeLessThan(5_000);
  expect(target.outputs).toEqual({ Region: 'sa-east-1', ClientsTable: 'Emissor-dev-Data-Clients' });
});

const all = ['Data', 'Auth', 'Webhooks', 'Delivery', 'Smoke'];
it.each([
  [
    'is not deployed, and where',
    [],
    'dev',
    `stage dev is not deployed in sa-east-1 of account ${account}: stack Emissor-dev-`,
  ],
  ['is not filled in', [], 'prod', 'Stage prod: stages/prod.ts must set account '],
  ['lacks an output of this version', all, 'dev', 'stage dev has no output "UsersTable". '],
])('ops --stage says in one line that a stage %s', async (_case, stacks, stage, said) => {
  const { code, stdout, stderr } = await withStacks(stacks, () => runOpsInProcess(['--stage', stage, 'users', 'list']));
  expect({ code, stdout, said: stderr.slice(0, said.length + 7) }).toEqual({
    code: 1,
    stdout: '',
    said: `error: ${said}`,
  });
  expect(stderr.trimEnd()).not.toContain('\n');
});

describe('the stack for smoke tests', () => {
  const elsewhere = stageConfiguration('dev', { smokeReceiverUrl: 'https://smoke.emissor.com.br' });

  it.each([
    ['asked for and missing', stageConfiguration('dev'), false, true],
    ['asked for and there', stageConfiguration('dev'), true, true],
    ['left over', elsewhere, true, true],
    ['neither', elsewhere, false, false],
  ])('is told of where it is %s', async (_case, configuration, isThere, expected) => {
    const { stacks } = await withStacks(isThere ? ['Data', 'Smoke'] : ['Data'], () =>
      describeStacks(configuration, Service => new Service({ region: 'sa-east-1', maxAttempts: 1 })),
    );
    expect(stacks.map(({ name }) => name)).toEqual([
      ...['Data', 'Auth', 'Webhooks', 'Delivery'],
      ...(expected ? ['Smoke'] : []),
    ]);
    expect(stacks.find(({ name }) => name === 'Smoke')?.found !== undefined).toBe(isThere);
  });

  it('gives the stage no outputs once it is left over: a test would be sent to its receiver', () => {
    const smoke = stack('Data', true);
    const found = { ...smoke.found, Outputs: [{ OutputKey: 'SmokeReceiverUrl', OutputValue: 'old' }] };
    const stacks = [{ ...smoke, name: 'Smoke', found }] as StageStacks['stacks'];
    const stage = { region: 'sa-east-1', stacks };
    expect(outputsOf({ ...stage, configuration: elsewhere })).toEqual({ Region: 'sa-east-1' });
    expect(outputsOf({ ...stage, configuration: stageConfiguration('dev') }).SmokeReceiverUrl).toBe('old');
  });
});

/** Runs something beside a CloudFormation that has some stacks of the stage, and no others, and an STS. */
async function withStacks<Value>(names: readonly string[], run: () => Promise<Value>): Promise<Value> {
  const server = createServer(async (request, response) => {
    const asked = new URLSearchParams(await text(request));
    const name = asked.get('StackName') ?? '';
    const isIdentity = asked.get('Action') === 'GetCallerIdentity';
    const isThere = names.includes(name.replace('Emissor-dev-', ''));
    const identity = `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>${account}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`;
    const outputs = name.endsWith('Data')
      ? `<Outputs><member><OutputKey>ClientsTable</OutputKey><OutputValue>${name}-Clients</OutputValue></member></Outputs>`
      : '';
    const found = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>${name}</StackName><StackId>arn:aws:cloudformation:sa-east-1:${account}:stack/${name}/1</StackId>${outputs}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
    const missing = `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`;
    response.writeHead(isThere || isIdentity ? 200 : 400, { 'content-type': 'text/xml' });
    response.end(isIdentity ? identity : isThere ? found : missing);
  });
  const port = await listen(server);
  for (const service of ['CLOUDFORMATION', 'STS'])
    vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, `http://127.0.0.1:${port}`);
  vi.stubEnv('AWS_REGION', 'sa-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  try {
    return await run();
  } finally {
    vi.unstubAllEnvs();
    await closeNow(server);
  }
}
