import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { ACMClient, RequestCertificateCommand } from '@aws-sdk/client-acm';
import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  type MetricAlarm,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import {
  DeleteFunctionCommand,
  GetAliasCommand,
  InvokeCommand,
  LambdaClient,
  UpdateAliasCommand,
} from '@aws-sdk/client-lambda';
import { SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import { makeServiceClient, passwordGrant } from '../../tools/support/service-client.ts';
import { until } from '../support/e2e-poll.ts';
import { blocksOf, readPage } from '../support/markdown-page.ts';
import { pythonEnvironment } from '../support/python-environment.ts';
import { type CommandResult, cleanEnvironment } from '../support/run-node.ts';
import { account, type Emulator, pythonRequirements, region, startEmulator } from './emulator.ts';
import { runEndToEnd, smokeValues, trialValues } from './end-to-end.ts';
import { type Hosts, makeSteadyCalls } from './steady-calls.ts';
import { commandLimit, makeSteps } from './steps.ts';
import { makeWorkCopy, type WorkCopy } from './work-copy.ts';
import './localhost-names.ts';

// An operator's first days, in order, with the real command line of the CDK, on an emulator of AWS instead of an account. The
// stages are the committed ones; their files get what an operator writes into them, in a copy of the tree.

/** The values that an operator must write into the file of `prod`. */
const operatorValues = {
  account,
  region,
  demandsUrl: 'https://demandas.example.com',
  alarmRecipients: ['ops@example.com'],
};

let python: string;
let emulator: Emulator;
let copy: WorkCopy;
/** The resources of a destroyed `prod` that remain for good. */
let retained: readonly string[] = [];

const { step, inFolder } = makeSteps(() => emulator);

step(
  'start the emulator, installed with cfn-lint before where it is not',
  async () => {
    python = await pythonEnvironment('deployment', pythonRequirements);
    emulator = await startEmulator(python, inFolder('emulator'));
    copy = makeWorkCopy(inFolder(), emulator.environment, commandLimit);
    copy.configure('dev', { ...trialValues, ...smokeValues });
    copy.configure('prod', { ...trialValues, ...operatorValues });
    return emulator.endpoint;
  },
  660_000,
);

step('bootstrap the account', async () => {
  succeeded(await copy.cdk('bootstrap', `aws://${account}/${region}`, '--app', ''));
  return undefined;
});

step('dev: deploy', async () => {
  succeeded(await deploy('dev'));
  expect(new Set((await statesOf('dev')).values())).toEqual(new Set(['CREATE_COMPLETE']));
  return countOf(await emulator.inventory.identities());
});

step('prod: a first deployment that fails', async () => {
  const composition = 'lambdas/auth/keys/rotate-keys.composition.ts';
  const start = 'return async function runRotation(): Promise<readonly RotationResult[]> {';
  const undo = copy.edit(composition, start, `${start} if (Date.now() > 0) throw new Error('broken on purpose');`);
  const { code, output } = await deploy('prod');
  undo();
  expect(code, output).not.toBe(0);
  const states = await statesOf('prod');
  expect(states.get('Emissor-prod-Auth')).toBe('ROLLBACK_COMPLETE');
  return [...states].map(([name, state]) => `${name.replace('Emissor-prod-', '')} ${state}`).join(', ');
});

step('prod: preflight: the next deployment may come', async () => {
  const { code, findings, problems } = await preflight('prod');
  expect({ code, problems }).toEqual({ code: 0, problems: [] });
  return findings.get('protection');
});

step('prod: deploy, with nothing cleared away by hand', async () => {
  succeeded(await deploy('prod'));
  const states = await statesOf('prod');
  expect(states.get('Emissor-prod-Auth')).toBe('CREATE_COMPLETE');
  expect([...states.values()].filter(state => !/^(CREATE|UPDATE)_COMPLETE$/.test(state ?? ''))).toEqual([]);
  return countOf(await emulator.inventory.identities());
});

step(
  'prod: nothing that was not heard yet pages, what is no longer heard does, and mails that are not sent',
  async () => {
    const { PagesTopicArn = '', TicketsTopicArn = '' } = outputsOf('prod') as Record<string, string>;
    const [pages, tickets] = [await hear(PagesTopicArn), await hear(TicketsTopicArn)];
    const client = new CloudWatchClient(emulator.settings);
    const { MetricAlarms = [] } = await client.send(new DescribeAlarmsCommand({ AlarmNamePrefix: 'Emissor-prod-' }));
    const change = async (alarms: readonly MetricAlarm[], StateValue: 'ALARM' | 'OK') => {
      for (const { AlarmName } of alarms)
        await client.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason: 'the drill' }));
    };
    const silent = MetricAlarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching');
    const others = MetricAlarms.filter(alarm => !silent.includes(alarm));
    // What CloudWatch does after a first deployment.
    await change(silent, 'ALARM');
    await change(others, 'OK');
    await change(silent, 'OK');
    const once = ['Rings KeysNotRotated', 'Rings SweepStopped'];
    expect(await tickets.heard()).toEqual(['Over SweepStopped', ...once]);
    expect(await pages.heard()).toEqual([]);

    await change([...silent, ...others.filter(({ AlarmName }) => AlarmName?.includes('MailsFail'))], 'ALARM');
    expect(await pages.heard()).toEqual(['MailsFail', 'Rings SweepStopped']);
    expect(await tickets.heard()).toEqual(['Rings KeysNotRotated']);
    await pages.stop();
    await tickets.stop();
    return undefined;
  },
);

step('status finds nothing to do in dev, and asks for protection in prod', async () => {
  const status = async (stage: string) => succeeded(await copy.program('ops', ['--stage', stage, 'status'])).output;
  expect(await status('dev')).toContain('Nothing needs you.');
  expect(await status('prod')).toContain('set protection to true in stages/prod.ts');
  return undefined;
});

// The suites wait for their deliveries: meanwhile the templates are read.
step(
  'dev: end-to-end, and cfn-lint: the templates of both stages',
  async () => {
    const templates = ['dev', 'prod'].flatMap(templatesOf);
    const [told] = await Promise.all([endToEnd('dev'), lint(templates)]);
    return `${told}; ${templates.length} templates`;
  },
  500_000,
);

step('dev: a second deployment, synthesised from the start, changes nothing', async () => {
  const { output } = succeeded(await deploy('dev'));
  expect(output.match(/\(no changes\)/g)).toHaveLength(stacksOf('dev').length);
  return undefined;
});

step('prod: a changed value and a changed function, in place', async () => {
  const [client, user] = await createAccounts('prod');
  const before = await emulator.inventory.identities();
  const undo = copy.edit('lambdas/auth/endpoints/discovery.ts', "'public, max-age=300'", "'public, max-age=299'");
  copy.configure('prod', { accessTokenLifetime: '30s' });
  succeeded(await deploy('prod'));
  undo();
  expect(await emulator.inventory.identities()).toEqual(before);
  expect(await cacheControl('prod')).toBe('public, max-age=299');
  const tokens = await makeServiceClient(outputsOf('prod')).getTokens(passwordGrant(client, user));
  expect(tokens.expires_in).toBe(30);
  return 'the same tables, keys, queues, logs and APIs; who was there logs in';
});

// In a surge that takes every place of the function no version can be invoked, and a stack whose roll-back fails is stuck. Here the
// version before is gone: the emulator has no quota.
step(
  'dev: a token function whose new version fails is rolled back, though none can be invoked, and the next deployment works',
  async () => {
    const lambda = new LambdaClient(emulator.settings);
    const FunctionName = await tokenFunction();
    const live = { FunctionName, Name: 'live' };
    const { FunctionVersion } = await lambda.send(new GetAliasCommand(live));
    await lambda.send(new UpdateAliasCommand({ ...live, FunctionVersion: '$LATEST' })); // what an alias leads to cannot be deleted
    await lambda.send(new DeleteFunctionCommand({ FunctionName, Qualifier: FunctionVersion }));
    const broken = "throw new Error('the new version is broken');";
    const undo = copy.edit('lambdas/auth/endpoints/token.composition.ts', selfCheck, broken);
    const { code, output } = await deploy('dev');
    undo();
    expect(code, output).not.toBe(0);
    expect(output).toContain('the new version is broken');
    const rolledBack = (await statesOf('dev')).get('Emissor-dev-Auth');
    expect(rolledBack, output).toBe('UPDATE_ROLLBACK_COMPLETE');
    copy.configure('dev', { accessTokenLifetime: '30s' }); // the change of domains waits until tokens have ended
    return `${rolledBack}, then ${await nextDeployment('a repair')}`;
  },
);

step('dev: a bad version is taken back by one command, and the next deployment leads all functions on', async () => {
  const before = await liveVersions();
  const undo = copy.edit('lambdas/auth/endpoints/discovery.ts', "'public, max-age=300'", "'public, max-age=1'");
  succeeded(await deploy('dev'));
  undo();
  expect(await cacheControl('dev')).toBe('public, max-age=1');
  const bad = await liveVersions();

  expect((await copy.program('ops', ['--stage', 'dev', 'rollback'])).output).toContain('add --yes');
  expect(await liveVersions()).toEqual(bad);
  const began = Date.now();
  const { moved } = await ops<{ moved: { function: string; from: number; to: number }[] }>('dev', [
    'rollback',
    '--yes',
  ]);
  const seconds = ((Date.now() - began) / 1_000).toFixed(1);
  // The token function is among them, too, where a step before deployed a marked one.
  const published = [...bad].filter(([name, version]) => version !== before.get(name)).sort();
  expect(published.map(([name]) => name)).toContain('Discovery');
  expect(moved).toMatchObject(published.map(([name, from]) => ({ function: name, from, to: before.get(name) })));
  expect(await cacheControl('dev')).toBe('public, max-age=300');
  expect(await ops('dev', ['rollback', '--yes'])).toMatchObject({
    moved: [],
    already: published.map(([name]) => name),
  });
  const status = await copy.program('ops', ['--stage', 'dev', 'status']);
  expect(status.output).toMatch(/rolled back: Discovery \(\d+ to \d+\)/);
  expect((await preflight('dev')).findings.get('roll-backs')).toContain('Discovery');
  const [line] = await ops<{ command: string; outcome: string }[]>('dev', ['audit', 'list', '--limit', '2']);
  expect(line).toMatchObject({ command: 'rollback', outcome: 'done' });

  const back = await liveVersions();
  await nextDeployment('a mended one'); // changes the token function alone
  for (const [name, version] of await liveVersions()) {
    expect([name, version > Math.max(back.get(name) ?? 0, bad.get(name) ?? 0)]).toEqual([name, true]);
  }
  expect((await copy.program('ops', ['--stage', 'dev', 'status'])).output).not.toContain('rolled back:');
  return `${moved.map(({ function: name, from, to }) => `${name} ${from} to ${to}`).join(', ')} in ${seconds} s, the start of the command with it`;
});

// Seen twice: after a roll-back, a repair that failed brought the bad version back to users.
step(
  'dev: after a roll-back no trial that fails moves an alias, and what fails later is taken back again',
  async () => {
    const undo = copy.edit('lambdas/auth/endpoints/discovery.ts', "'public, max-age=300'", "'public, max-age=1'");
    succeeded(await deploy('dev'));
    undo();
    await ops('dev', ['rollback', '--yes']);
    const [good, bad] = ['public, max-age=300', 'public, max-age=1'];
    const told: string[] = [];
    /** Deploys what fails, and returns its output. What users get is told. */
    const fail = async (undoEdit: () => void) => {
      const { code, output } = await deploy('dev');
      undoEdit();
      expect(code, output).not.toBe(0);
      told.push((await cacheControl('dev')) ?? 'nothing');
      return output;
    };

    copy.configure('dev', { gradual: true });
    expect((await preflight('dev')).problems).toContain('roll-backs');
    expect(await fail(() => copy.configure('dev', { gradual: false }))).toContain(
      'set gradual: false in stages/dev.ts',
    );
    const broken = "throw new Error('the new version is broken');";
    expect(await fail(copy.edit('lambdas/auth/endpoints/token.composition.ts', selfCheck, broken))).toContain(
      'the new version is broken – after a roll-back: type "npm run ops -- --stage dev rollback" now',
    );
    // The end of a release comes after all aliases.
    const atEnd = "return { Data: { Release: stack?.release ?? '' } };";
    await fail(
      copy.edit(
        'lambdas/platform/deployment/release-end.ts',
        atEnd,
        `${atEnd} if (StackId.includes('-Auth')) throw new Error('broken on purpose');`,
      ),
    );
    expect(told).toEqual([good, good, bad]);
    const status = await copy.program('ops', ['--stage', 'dev', 'status']);
    expect(status.output).toMatch(/^the versions that were taken back are in use again, .*Discovery \(\d+ to \d+\)/);
    expect((await preflight('dev')).findings.get('roll-backs')).toMatch(/Discovery is at \d+ again/);
    const { moved } = await ops<{ moved: { function: string }[] }>('dev', ['rollback', '--yes']);
    expect(await cacheControl('dev')).toBe(good);
    await nextDeployment('a mended one, at last');
    return `users got ${[...told, good].join(', then ')}; ${moved.length} functions were taken back again`;
  },
);

step('dev: users who were lost come back from a restored table, by the commands of the runbook', async () => {
  const [client, user] = await createAccounts('dev', 'lost');
  const kinds = ['users', 'credentials'];
  const [block = ''] = blocksOf(readPage('docs/runbook.md'), 'Restoring');
  const [restore, wait, compare, copyBack, remove, ...none] = block.split('\n');
  expect(none).toEqual([]);
  const run = async (command = '', kind: string) => {
    const outputs = outputsOf('dev') as Record<string, string>;
    const table = outputs[`${kind.charAt(0).toUpperCase()}${kind.slice(1)}Table`] ?? '';
    const words = command.replaceAll('TABLE', table).replace('prod', 'dev').replace(' users ', ` ${kind} `).split(' ');
    if (words[0] === 'aws') return aws(words.slice(1));
    expect(words.slice(0, 4)).toEqual(['npm', 'run', 'ops', '--']);
    return succeeded(await copy.program('ops', [...words.slice(4), '--yes'])).output;
  };

  for (const kind of kinds) {
    await run(restore, kind);
    await run(wait, kind);
  }
  await ops('dev', ['users', 'delete', user.email, '--yes']);
  for (const kind of kinds) {
    expect(await run(compare, kind)).toMatch(/ 0 were changed since, 1 are missing, and 0 /);
    expect(await run(copyBack, kind)).toMatch(/^Copied 1\./m);
    await run(remove, kind);
  }
  const tokens = await makeServiceClient(outputsOf('dev')).getTokens(passwordGrant(client, user));
  expect(tokens.token_type).toBe('Bearer');
  return undefined;
});

step('prod: a recipient of alarms is subscribed anew, by the commands of the runbook', async () => {
  const [block = ''] = blocksOf(readPage('docs/runbook.md'), 'A recipient who never confirmed');
  const [list = '', subscribe = '', ...none] = block.split('\n');
  expect(none).toEqual([]);
  const topic = (outputsOf('prod') as Record<string, string>).PagesTopicArn ?? '';
  const run = (command: string) => aws(command.replace('TOPIC', topic).replace('ops@', 'new@').split(' ').slice(1));
  expect(await run(list)).toContain('ops@example.com');
  expect(await run(list)).not.toContain('new@example.com');
  await run(subscribe);
  expect(await run(list)).toContain('new@example.com');
  return undefined;
});

step('prod: smoke', async () => {
  emulator.mapHost(new URL(outputsOf('prod').SmokeReceiverUrl).hostname);
  const { output } = succeeded(await copy.program('ops', ['--stage', 'prod', 'smoke']));
  return output.trimEnd().split('\n').at(-1);
});

step('dev: the scheduled smoke test', async () => {
  await ops('dev', ['smoke', 'rotate-credentials']);
  const [test] = (await emulator.inventory.resources('Emissor-dev-Smoke')).filter(
    ({ LogicalResourceId = '', ResourceType }) =>
      ResourceType === 'AWS::Lambda::Alias' && LogicalResourceId.startsWith('ScheduledTest'),
  );
  const client = new LambdaClient(emulator.settings);
  const { FunctionError, Payload } = await client.send(
    new InvokeCommand({ FunctionName: test?.PhysicalResourceId, Payload: '{}' }),
  );
  expect(FunctionError, Payload?.transformToString()).toBeUndefined();
  return undefined;
});

step(
  'dev: custom domains are switched on, made the only ones and switched off, and no caller is refused',
  async () => {
    const gateway = hostsOf('dev');
    const own = { auth: 'auth.domain.example.com', base: 'base.domain.example.com' };
    const [client, user] = await createAccounts('dev', 'domain');
    const acm = new ACMClient(emulator.settings);
    const request = new RequestCertificateCommand({ DomainName: '*.domain.example.com', ValidationMethod: 'DNS' });
    const { CertificateArn: certificate } = await acm.send(request);
    const configure = (role: string) =>
      copy.configure('dev', {
        ...{ authDomain: own.auth, authCertificateArn: certificate, authDomainRole: role },
        ...{ baseDomain: own.base, baseCertificateArn: certificate, baseDomainRole: role },
      });
    const check = async () => (await preflight('dev', '--yes')).findings.get('custom domains') ?? '';
    const take = async (role: string) => {
      configure(role);
      succeeded(await deploy('dev'));
    };

    const calls = makeSteadyCalls(Number(new URL(emulator.endpoint).port), { ...client, ...user });
    calls.begin(gateway);
    await take('prepared');
    expect(hostsOf('dev')).toEqual(gateway);
    configure('primary');
    expect(await check()).toMatch(/auth\.domain\.example\.com.* is not answered/); // no DNS record yet
    for (const name of Object.values(own)) emulator.mapHost(name);
    calls.begin(own);
    await take('primary');
    expect(hostsOf('dev')).toEqual(own);
    expect(await metadataAt(gateway)).toEqual([`http://${gateway.auth}`, `http://${gateway.base}`]);
    expect(await metadataAt(own)).toEqual([`https://${own.auth}`, `https://${own.base}`]);

    calls.end(gateway);
    configure('only');
    const isNamed = async () => (await check()).includes('access tokens');
    await until(
      'the end of tokens with the host that goes',
      async () => ((await isNamed()) ? undefined : true),
      60_000,
    );
    await take('only');
    await take('primary');
    calls.begin(gateway);
    await take('prepared');
    expect(hostsOf('dev')).toEqual(gateway);
    const { calls: count, failures } = await calls.stop();
    expect(failures).toEqual([]);
    expect(count).toBeGreaterThan(500);
    return `${count} calls of old and new hosts in five deployments, all answered with 200`;
  },
  900_000,
);

step('prod: destroy leaves what must outlive it, and dev as it was', async () => {
  await ops('prod', ['smoke', 'remove', '--yes']);
  const mustStay = await statefulNames('prod');
  const before = await emulator.inventory.identities();
  succeeded(await copy.cdk('destroy', '--all', '--force', '--app', assemblyOf('prod')));
  expect(new Set((await statesOf('prod')).values())).toEqual(new Set([undefined]));
  const after = await emulator.inventory.identities();
  for (const [name, identity] of after) expect([name, identity]).toEqual([name, before.get(name)]);
  const devNames = [...before.keys()].filter(name => name.includes('Emissor-dev-'));
  expect([...after.keys()]).toEqual(expect.arrayContaining([...devNames, ...mustStay]));
  expect([...after.keys()].filter(name => name.includes('Emissor-prod-') && !mustStay.includes(name))).toEqual([]);
  expect((await fetch(`${outputsOf('dev').AuthUrl}/.well-known/jwks.json`)).status).toBe(200);
  retained = mustStay;
  return `${mustStay.length} tables, queues, keys and log groups stay`;
});

step('prod: preflight tells of what outlived it', async () => {
  const { code, findings, problems } = await preflight('prod');
  expect({ code, problems }).toEqual({ code: 1, problems: ['left-overs'] });
  return findings.get('left-overs');
});

step('dev: destroy leaves nothing behind', async () => {
  await ops('dev', ['smoke', 'remove', '--yes']);
  succeeded(await copy.cdk('destroy', '--all', '--force', '--app', assemblyOf('dev')));
  expect([...(await emulator.inventory.stacks()).keys()]).toEqual(['CDKToolkit']);
  expect([...(await emulator.inventory.identities()).keys()].sort()).toEqual([...retained].sort());
  return undefined;
});

const selfCheck = '    await checkItself();';

/** Deploys another version that works. Returns the state of its stack. */
async function nextDeployment(mark: string): Promise<string | undefined> {
  const marked = `${selfCheck} Reflect.set(globalThis, 'mark', '${mark}');`;
  const undo = copy.edit('lambdas/auth/endpoints/token.composition.ts', selfCheck, marked);
  succeeded(await deploy('dev'));
  undo();
  const state = (await statesOf('dev')).get('Emissor-dev-Auth');
  expect(state).toBe('UPDATE_COMPLETE');
  return state;
}

/** Returns the versions that the aliases of the functions of `dev` lead to, by the names in the code. */
async function liveVersions(): Promise<ReadonlyMap<string, number>> {
  const lambda = new LambdaClient(emulator.settings);
  const resources = await Promise.all(stacksOf('dev').map(emulator.inventory.resources));
  const aliases = resources.flat().flatMap(({ ResourceType, LogicalResourceId = '', PhysicalResourceId = '' }) => {
    const [, name] = /^(\w+)Live[0-9A-F]{8}$/.exec(LogicalResourceId) ?? [];
    return ResourceType === 'AWS::Lambda::Alias' && name
      ? [{ name, FunctionName: PhysicalResourceId.split(':').at(-2) }]
      : [];
  });
  expect(aliases.length).toBeGreaterThan(8);
  return new Map(
    await Promise.all(
      aliases.map(async ({ name, FunctionName }) => {
        const { FunctionVersion } = await lambda.send(new GetAliasCommand({ FunctionName, Name: 'live' }));
        return [name, Number(FunctionVersion)] as const;
      }),
    ),
  );
}

async function tokenFunction(): Promise<string | undefined> {
  const resources = await emulator.inventory.resources('Emissor-dev-Auth');
  const found = resources.find(
    ({ LogicalResourceId = '', ResourceType }) =>
      ResourceType === 'AWS::Lambda::Function' && /^Token[0-9A-F]{8}$/.test(LogicalResourceId),
  );
  return found?.PhysicalResourceId;
}

function deploy(stage: string): Promise<CommandResult> {
  const files = ['--outputs-file', outputsFileOf(stage), '--output', assemblyOf(stage)];
  return copy.cdk('deploy', '--all', '-c', `stage=${stage}`, '--require-approval', 'never', ...files);
}

function outputsFileOf(stage: string): string {
  return inFolder(`${stage}-outputs.json`);
}

/** Returns where the last deployment of a stage put its synthesised templates. */
function assemblyOf(stage: string): string {
  return inFolder(`cdk.out-${stage}`);
}

/** Returns the outputs of all stacks of a stage. */
function outputsOf(stage: string): Record<'AuthUrl' | 'BaseUrl' | 'EventsQueueArn' | 'SmokeReceiverUrl', string> {
  return Object.assign({}, ...Object.values(JSON.parse(readFileSync(outputsFileOf(stage), 'utf8'))));
}

/** @throws with all output, when the command failed. */
function succeeded(result: CommandResult): CommandResult {
  if (result.code !== 0) throw new Error(`It ended with ${result.code}:\n${result.output}`);
  return result;
}

async function statesOf(stage: string): Promise<ReadonlyMap<string, string | undefined>> {
  const stacks = await emulator.inventory.stacks();
  return new Map(stacksOf(stage).map(name => [name, stacks.get(name)]));
}

/** Returns the names of the stacks that the last synthesis of a stage made. */
function stacksOf(stage: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(path.join(assemblyOf(stage), 'manifest.json'), 'utf8')) as {
    artifacts: Record<string, { type: string }>;
  };
  const stacks = Object.entries(manifest.artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
  expect(stacks.length).toBeGreaterThanOrEqual(4);
  return stacks.map(([name]) => name);
}

function countOf(names: ReadonlyMap<string, unknown>): string {
  return `${names.size} tables, queues, log groups, keys, topics and functions`;
}

/** Returns the hosts of the URLs that name a stage. */
function hostsOf(stage: string): Hosts {
  const { AuthUrl, BaseUrl } = outputsOf(stage);
  return { auth: new URL(AuthUrl).host, base: new URL(BaseUrl).host };
}

/** Returns the issuer and the resource that the metadata at these hosts name. */
async function metadataAt({ auth, base }: Hosts): Promise<readonly unknown[]> {
  const { port } = new URL(emulator.endpoint);
  const read = async (host: string, path: string) => {
    const [answer] = await once(get({ host: '127.0.0.1', port, path, headers: { host } }), 'response');
    return json(answer) as Promise<Record<string, unknown>>;
  };
  const [server, resource] = await Promise.all([
    read(auth, '/.well-known/oauth-authorization-server'),
    read(base, '/.well-known/oauth-protected-resource'),
  ]);
  return [server.issuer, resource.resource];
}

/** Returns the findings of preflight: its exit code, its texts by check, and the checks that found a problem. */
async function preflight(stage: string, ...words: string[]) {
  const { code, output } = await copy.program(
    'preflight',
    ['--stage', stage, '--json', ...words],
    '',
    emulator.internetEnvironment,
  );
  const { findings } = JSON.parse(output) as { findings: { check: string; state: string; text: string }[] };
  return {
    code,
    findings: new Map(findings.map(({ check, text }) => [check, text])),
    problems: findings.filter(({ state }) => state !== 'ok').map(({ check }) => check),
  };
}

/** Returns the names, as the inventory has them, of what a stage keeps for good. */
async function statefulNames(stage: string): Promise<readonly string[]> {
  const resources = await Promise.all(stacksOf(stage).map(emulator.inventory.resources));
  return resources.flat().flatMap(({ ResourceType = '', PhysicalResourceId = '' }) => {
    const kind = statefulKinds[ResourceType];
    return kind === undefined
      ? []
      : [`${kind} ${kind === 'queue' ? PhysicalResourceId.split('/').at(-1) : PhysicalResourceId}`];
  });
}

const statefulKinds: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::GlobalTable': 'table',
  'AWS::SQS::Queue': 'queue',
  'AWS::Logs::LogGroup': 'log group',
  'AWS::KMS::Key': 'key',
};

/** Returns how long the key set of a stage may be kept, which a changed function says otherwise. */
async function cacheControl(stage: string): Promise<string | null> {
  return (await fetch(`${outputsOf(stage).AuthUrl}/.well-known/jwks.json`)).headers.get('cache-control');
}

/** Subscribes a queue to a topic. Of each mail since the last time it tells whether an alarm rings or that is over, and which; sorted. */
async function hear(TopicArn: string) {
  const sqs = new SQSClient(emulator.settings);
  const { QueueUrl } = await sqs.send(
    new CreateQueueCommand({
      QueueName: `hears-${TopicArn.split(':').at(-1)}`,
      Attributes: { VisibilityTimeout: '3600' },
    }),
  );
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }));
  const subscription = {
    TopicArn,
    Protocol: 'sqs',
    Endpoint: Attributes?.QueueArn,
    Attributes: { RawMessageDelivery: 'true' },
  };
  await new SNSClient(emulator.settings).send(new SubscribeCommand(subscription));
  return { heard, stop: () => sqs.send(new DeleteQueueCommand({ QueueUrl })) };

  async function heard(): Promise<readonly string[]> {
    const texts: string[] = [];
    for (let quiet = 0; quiet < 2; ) {
      const ask = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 });
      const { Messages = [] } = await sqs.send(ask);
      quiet = Messages.length === 0 ? quiet + 1 : 0;
      texts.push(...Messages.map(({ Body = '' }) => Body));
    }
    const form = /^(?:"(?<word>\w+) since )?[\s\S]*?\] prod (?<alarm>\w+):/; // what the alarm itself sends has no word
    return texts
      .map(text => Object.values({ ...form.exec(text)?.groups }).filter(part => part !== undefined))
      .map(parts => parts.join(' '))
      .sort();
  }
}

/** Runs the command line of AWS on the emulator. @throws with its output, when it fails. */
async function aws(words: readonly string[]): Promise<string> {
  const env = { ...cleanEnvironment(), ...emulator.environment, AWS_DEFAULT_REGION: region, AWS_PAGER: '' };
  const { stdout } = await promisify(execFile)(python, ['-m', 'awscli', ...words], { env, timeout: commandLimit });
  return stdout;
}

/** Returns the templates of an assembly, of which there are some. */
function templatesOf(stage: string): readonly string[] {
  const templates = readdirSync(assemblyOf(stage)).filter(file => file.endsWith('.template.json'));
  expect(templates.length, stage).toBeGreaterThanOrEqual(4);
  return templates.map(file => path.join(assemblyOf(stage), file));
}

/** @throws with what cfn-lint found. W3005 is about dependencies that the CDK names twice, W6001 about outputs that nobody imports. */
async function lint(templates: readonly string[]): Promise<void> {
  const program = 'import sys; from cfnlint.runner import main; sys.exit(main())';
  const words = ['-c', program, '-i', 'W3005', 'W6001', '--', ...templates];
  try {
    await promisify(execFile)(python, words, { env: cleanEnvironment(), timeout: commandLimit });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`cfn-lint found:\n${stdout}${stderr}`);
  }
}

/** Makes a client and a user by the operator's command line. */
async function createAccounts(stage: string, name = 'release') {
  const email = `${name}@test.example.com`;
  const password = 'uma senha que ninguém mais usa';
  const client = ['clients', 'create', '--name', name, '--grant', 'password', '--grant', 'refresh_token'];
  const user = ['users', 'create', '--email', email, '--account', name, '--role', 'admin'];
  return [
    await ops<{ clientId: string; clientSecret: string }>(stage, client),
    { ...(await ops<{ userId: string }>(stage, user, `${password}\n`)), email, password },
  ] as const;
}

/** Returns the answer of the operator's command line. @throws when it fails. */
async function ops<Answer>(stage: string, words: readonly string[], input?: string): Promise<Answer> {
  const { output } = succeeded(await copy.program('ops', ['--stage', stage, '--json', ...words], input));
  return JSON.parse(output);
}

async function endToEnd(stage: string): Promise<string> {
  const { counts, again, problems, output } = await runEndToEnd(emulator, outputsFileOf(stage));
  if (problems.length > 0) throw new Error(`${problems.join('\n')}\n\n${output}`);
  const { passed, failed, skipped } = counts;
  return `${passed} passed, ${failed} told apart as the emulator's, ${skipped} skipped${again > 0 ? `; ${again} at the second attempt` : ''}`;
}
