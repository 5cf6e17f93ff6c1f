import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  type MetricAlarm,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import { makeServiceClient, passwordGrant } from '../../tools/support/service-client.ts';
import { blocksOf, readPage } from '../support/markdown-page.ts';
import { cleanEnvironment } from '../support/run-node.ts';
import { subscribeQueue } from '../support/topic-queue.ts';
import { commandLimit, makeDrill, succeeded } from './drill.ts';
import { account, region } from './emulator.ts';
import { runEndToEnd, smokeValues, trialValues } from './end-to-end.ts';

// The first days of an operator, in order. The operator deploys, tests, changes and destroys two stages.

/** The values that an operator must set in the file of `prod`. */
const operatorValues = {
  account,
  region,
  demandsUrl: 'https://demandas.example.com',
  alarmRecipients: ['ops@example.com'],
};

/** The resources that remain after the destruction of `prod`. */
let retainedNames: readonly string[] = [];

const drill = makeDrill({ dev: { ...trialValues, ...smokeValues }, prod: { ...trialValues, ...operatorValues } });
const { step, emulator, copy, python, deploy, assemblyOf, outputsFileOf, outputsOf, stacksOf, statesOf } = drill;
const { preflight, ops, createAccounts, cacheControl } = drill;

step('dev: deploy', async () => {
  succeeded(await deploy('dev'));
  expect(new Set((await statesOf('dev')).values())).toEqual(new Set(['CREATE_COMPLETE']));
  return countOf(await emulator().inventory.identities());
});

step('prod: the first deployment fails, and the Auth stack rolls back', async () => {
  const composition = 'lambdas/auth/keys/rotate-keys.composition.ts';
  const start = 'return async function runRotation(): Promise<readonly RotationResult[]> {';
  const undo = copy().edit(composition, start, `${start} if (Date.now() > 0) throw new Error('broken on purpose');`);
  const { code, output } = await deploy('prod');
  undo();
  expect(code, output).not.toBe(0);
  const states = await statesOf('prod');
  expect(states.get('Emissor-prod-Auth')).toBe('ROLLBACK_COMPLETE');
  return [...states].map(([name, state]) => `${name.replace('Emissor-prod-', '')} ${state}`).join(', ');
});

step('prod: preflight allows the next deployment, and reports the missing domains', async () => {
  const { problems, unread } = await preflight('prod');
  expect({ checks: [...problems.keys()], unread }).toEqual({ checks: ['domains'], unread: [] });
  return problems.get('domains');
});

step('prod: the deployment succeeds without manual clean-up', async () => {
  succeeded(await deploy('prod'));
  const states = await statesOf('prod');
  expect(states.get('Emissor-prod-Auth')).toBe('CREATE_COMPLETE');
  expect([...states.values()].filter(state => !/^(CREATE|UPDATE)_COMPLETE$/.test(state ?? ''))).toEqual([]);
  return countOf(await emulator().inventory.identities());
});

step('prod: an alarm notifies the topic of its severity only when it fires', async () => {
  const { PagesTopicArn = '', TicketsTopicArn = '' } = outputsOf('prod') as Record<string, string>;
  const [pages, tickets] = [await subscribe(PagesTopicArn), await subscribe(TicketsTopicArn)];
  const client = new CloudWatchClient(emulator().settings);
  const { MetricAlarms = [] } = await client.send(new DescribeAlarmsCommand({ AlarmNamePrefix: 'Emissor-prod-' }));
  const change = async (alarms: readonly MetricAlarm[], StateValue: 'ALARM' | 'OK') => {
    for (const { AlarmName } of alarms)
      await client.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason: 'drill' }));
  };
  const withoutData = MetricAlarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching');
  const others = MetricAlarms.filter(alarm => !withoutData.includes(alarm));
  // After the first deployment, CloudWatch changes the alarm states in this order.
  await change(withoutData, 'ALARM');
  await change(others, 'OK');
  await change(withoutData, 'OK');
  expect(await pages.alarms()).toEqual(['RetriesLate']);
  expect(await tickets.alarms()).toEqual(['KeysNotRotated']);

  await change(
    others.filter(({ AlarmName }) => /LoginsFail|DeadLetters/.test(AlarmName ?? '')),
    'ALARM',
  );
  expect(await pages.alarms()).toEqual(['LoginsFail']);
  expect(await tickets.alarms()).toEqual(['DeadLetters']);
  await pages.stop();
  await tickets.stop();
  return undefined;
});

step('status reports no problems for dev, and the missing protection of prod', async () => {
  const status = async (stage: string) => succeeded(await copy().program('ops', ['--stage', stage, 'status'])).output;
  expect(await status('dev')).toContain('No problems found.');
  expect(await status('prod')).toContain('set protection to true in stages/prod.ts');
  return undefined;
});

// cfn-lint runs while the end-to-end tests wait for deliveries.
step(
  'dev: the end-to-end tests pass, and cfn-lint accepts the templates of both stages',
  async () => {
    const templates = ['dev', 'prod'].flatMap(templatesOf);
    const [summary] = await Promise.all([endToEnd('dev'), lint(templates)]);
    return `${summary}; ${templates.length} templates`;
  },
  500_000,
);

step('dev: a second deployment with a new synthesis leaves every stack unchanged', async () => {
  const { output } = succeeded(await deploy('dev'));
  expect(output.match(/\(no changes\)/g)).toHaveLength(stacksOf('dev').length);
  return undefined;
});

step('prod: a deployment of a changed value and a changed function replaces no resources', async () => {
  const [client, user] = await createAccounts('prod');
  const before = await emulator().inventory.identities();
  const undo = copy().edit('lambdas/auth/endpoints/discovery.ts', "'public, max-age=300'", "'public, max-age=299'");
  const docsUrl = 'https://docs.example.com/pt/erros/';
  copy().configure('prod', { docsUrl });
  succeeded(await deploy('prod'));
  undo();
  expect(await emulator().inventory.identities()).toEqual(before);
  expect(await cacheControl('prod')).toBe('public, max-age=299');
  await makeServiceClient(outputsOf('prod')).getTokens(passwordGrant(client, user));
  const response = await fetch(`${outputsOf('prod').BaseUrl}/v1/webhooks`);
  expect(await response.json()).toMatchObject({ type: `${docsUrl}#token_missing` });
  return 'the same tables, keys, queues, logs and APIs, and a login by an existing user';
});

step('dev: the commands in the runbook restore deleted users from a restored table', async () => {
  const [client, user] = await createAccounts('dev', 'lost');
  const kinds = ['users', 'credentials'];
  const [block = ''] = blocksOf(readPage('docs/runbook.md'), 'Restoring');
  const [restore, wait, copyBack, remove, ...others] = block.split('\n');
  expect(others).toEqual([]);
  const run = async (command = '', kind: string) => {
    const outputs = outputsOf('dev') as Record<string, string>;
    const table = outputs[`${kind.charAt(0).toUpperCase()}${kind.slice(1)}Table`] ?? '';
    const words = command.replaceAll('TABLE', table).replace('prod', 'dev').replace(' users ', ` ${kind} `).split(' ');
    if (words[0] === 'aws') return aws(words.slice(1));
    expect(words.slice(0, 4)).toEqual(['npm', 'run', 'ops', '--']);
    return succeeded(await copy().program('ops', [...words.slice(4), '--yes'])).output;
  };

  for (const kind of kinds) {
    await run(restore, kind);
    await run(wait, kind);
  }
  await ops('dev', ['users', 'delete', user.email, '--yes']);
  for (const kind of kinds) {
    const copied =
      /^Copied 1 of \d+ restored items\. Not copied: .* 0 were changed since, 0 have expired, and 0 must not be restored\./m;
    expect(await run(copyBack, kind)).toMatch(copied);
    await run(remove, kind);
  }
  const tokens = await makeServiceClient(outputsOf('dev')).getTokens(passwordGrant(client, user));
  expect(tokens.token_type).toBe('Bearer');
  return undefined;
});

step('prod: the commands in the runbook subscribe an alarm recipient', async () => {
  const [block = ''] = blocksOf(readPage('docs/runbook.md'), 'A recipient who never confirmed');
  const [list = '', addRecipient = '', ...others] = block.split('\n');
  expect(others).toEqual([]);
  const topic = (outputsOf('prod') as Record<string, string>).PagesTopicArn ?? '';
  const run = (command: string) => aws(command.replace('TOPIC', topic).replace('ops@', 'new@').split(' ').slice(1));
  expect(await run(list)).toContain('ops@example.com');
  expect(await run(list)).not.toContain('new@example.com');
  await run(addRecipient);
  expect(await run(list)).toContain('new@example.com');
  return undefined;
});

step('prod: the smoke test passes', async () => {
  emulator().mapHost(new URL(outputsOf('prod').SmokeReceiverUrl).hostname);
  const { output } = succeeded(await copy().program('ops', ['--stage', 'prod', 'smoke']));
  return output.trimEnd().split('\n').at(-1);
});

step('dev: the scheduled smoke test passes', async () => {
  await ops('dev', ['smoke', 'rotate-credentials']);
  const [test] = (await emulator().inventory.resources('Emissor-dev-Smoke')).filter(
    ({ LogicalResourceId = '', ResourceType }) =>
      ResourceType === 'AWS::Lambda::Alias' && LogicalResourceId.startsWith('ScheduledTest'),
  );
  const client = new LambdaClient(emulator().settings);
  const { FunctionError, Payload } = await client.send(
    new InvokeCommand({ FunctionName: test?.PhysicalResourceId, Payload: '{}' }),
  );
  expect(FunctionError, Payload?.transformToString()).toBeUndefined();
  return undefined;
});

step('prod: destroy retains stateful resources and does not change dev', async () => {
  await ops('prod', ['smoke', 'remove', '--yes']);
  const stateful = await statefulNames('prod');
  const before = await emulator().inventory.identities();
  succeeded(await copy().cdk('destroy', '--all', '--force', '--app', assemblyOf('prod')));
  expect(new Set((await statesOf('prod')).values())).toEqual(new Set([undefined]));
  const after = await emulator().inventory.identities();
  for (const [name, identity] of after) expect([name, identity]).toEqual([name, before.get(name)]);
  const devNames = [...before.keys()].filter(name => name.includes('Emissor-dev-'));
  expect([...after.keys()]).toEqual(expect.arrayContaining([...devNames, ...stateful]));
  expect([...after.keys()].filter(name => name.includes('Emissor-prod-') && !stateful.includes(name))).toEqual([]);
  expect((await fetch(`${outputsOf('dev').AuthUrl}/.well-known/jwks.json`)).status).toBe(200);
  retainedNames = stateful;
  return `${stateful.length} tables, queues, keys and log groups retained`;
});

step('prod: preflight reports the retained resources', async () => {
  const { code, problems } = await preflight('prod');
  expect({ code, checks: [...problems.keys()] }).toEqual({ code: 1, checks: ['domains', 'retained resources'] });
  return problems.get('retained resources');
});

step('dev: destroy deletes all resources of dev', async () => {
  await ops('dev', ['smoke', 'remove', '--yes']);
  succeeded(await copy().cdk('destroy', '--all', '--force', '--app', assemblyOf('dev')));
  expect([...(await emulator().inventory.stacks()).keys()]).toEqual(['CDKToolkit']);
  expect([...(await emulator().inventory.identities()).keys()].sort()).toEqual([...retainedNames].sort());
  return undefined;
});

function countOf(names: ReadonlyMap<string, unknown>): string {
  return `${names.size} tables, queues, log groups, keys, topics and functions`;
}

/** Returns the names of a stage's stateful resources, in the format of the inventory. */
async function statefulNames(stage: string): Promise<readonly string[]> {
  const resources = await Promise.all(stacksOf(stage).map(emulator().inventory.resources));
  return resources.flat().flatMap(({ ResourceType = '', PhysicalResourceId = '' }) => {
    const kind = statefulKinds[ResourceType];
    return kind === undefined
      ? []
      : [`${kind} ${kind === 'queue' ? PhysicalResourceId.split('/').at(-1) : PhysicalResourceId}`];
  });
}

/** Subscribes to a topic. `alarms` returns the sorted names of the alarms that the topic published since the last call. */
async function subscribe(topicArn: string) {
  const { settings } = emulator();
  const { receive, stop } = await subscribeQueue(new SQSClient(settings), new SNSClient(settings), topicArn);
  const alarms = async (): Promise<readonly string[]> => {
    const texts: string[] = [];
    for (let emptyReceives = 0; emptyReceives < 2; ) {
      const messages = await receive();
      emptyReceives = messages.length === 0 ? emptyReceives + 1 : 0;
      texts.push(...messages.map(({ Body = '' }) => Body));
    }
    return texts.map(text => /\] prod (\w+):/.exec(text)?.[1] ?? text).sort();
  };
  return { alarms, stop };
}

/** Runs an AWS CLI command on the emulator. @throws with its output if it fails. */
async function aws(args: readonly string[]): Promise<string> {
  const env = { ...cleanEnvironment(), ...emulator().environment, AWS_DEFAULT_REGION: region, AWS_PAGER: '' };
  const { stdout } = await promisify(execFile)(python(), ['-m', 'awscli', ...args], { env, timeout: commandLimit });
  return stdout;
}

/** Returns the paths of a stage's templates. */
function templatesOf(stage: string): readonly string[] {
  const templates = readdirSync(assemblyOf(stage)).filter(file => file.endsWith('.template.json'));
  expect(templates.length, stage).toBeGreaterThanOrEqual(4);
  return templates.map(file => path.join(assemblyOf(stage), file));
}

/** Runs cfn-lint without W3005 (dependencies that the CDK repeats) and W6001 (unused outputs). @throws with its findings. */
async function lint(templates: readonly string[]): Promise<void> {
  const program = 'import sys; from cfnlint.runner import main; sys.exit(main())';
  const args = ['-c', program, '-i', 'W3005', 'W6001', '--', ...templates];
  try {
    await promisify(execFile)(python(), args, { env: cleanEnvironment(), timeout: commandLimit });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`cfn-lint reported:\n${stdout}${stderr}`);
  }
}

async function endToEnd(stage: string): Promise<string> {
  const { counts, retried, problems, output } = await runEndToEnd(emulator(), outputsFileOf(stage));
  // Problems are last, because the start of long output is truncated.
  if (problems.length > 0) throw new Error(`${output}\n\n${problems.join('\n')}`);
  const { passed, failed, skipped } = counts;
  return `${passed} passed, ${failed} failed as expected on the emulator, ${skipped} skipped${retried > 0 ? `; ${retried} passed on the second attempt` : ''}`;
}

const statefulKinds: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::GlobalTable': 'table',
  'AWS::SQS::Queue': 'queue',
  'AWS::Logs::LogGroup': 'log group',
  'AWS::KMS::Key': 'key',
};
