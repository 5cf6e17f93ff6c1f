import { readFileSync } from 'node:fs';
import {
  CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import { pythonEnvironment } from '../support/python-environment.ts';
import { account, type Emulator, pythonRequirements, region, startEmulator } from './emulator.ts';
import { type EndToEndResult, runEndToEnd, smokeValues, trialValues } from './end-to-end.ts';
import { publishByTopic } from './event-sources.ts';
import { recordedResources } from './infidelities.ts';
import { assumeSender, changePolicies, type Statement, without } from './role-policies.ts';
import { commandLimit, makeSteps } from './steps.ts';
import { makeWorkCopy, type WorkCopy } from './work-copy.ts';

// `dev` on an emulator that enforces IAM from the first command on: the CDK's command line, the triggers of the deployment and the
// functions can do what the policies of their roles allow, as `enforced_iam.py` has the emulator judge them. Who uses the
// emulator's variables is the root user of the account. The suites must pass, with nothing refused. That they would not, if a
// permission were missing, is proved with permissions that are taken away.
//
// The emulator does not ask whether a function's role may receive from its queue, nor whether an API or a schedule may call a
// function. `test/infra/permissions.test.ts` lists the former.

const stage = 'dev';

const otherAccount = '444455556666';

/** The others who may send to the events queue. */
const named = {
  publisherTopics: [`arn:aws:sns:${region}:${account}:named`],
  publisherRoles: [`arn:aws:iam::${otherAccount}:role/named`],
};

let emulator: Emulator;
let copy: WorkCopy;

const { step, inFolder } = makeSteps('enforced-iam', () => emulator);

step(
  'start the emulator, with IAM enforced',
  async () => {
    const enforced = { EMULATOR_IAM: 'enforced', AWS_ACCESS_KEY_ID: 'emulated', AWS_SECRET_ACCESS_KEY: 'emulated' };
    emulator = await startEmulator(
      await pythonEnvironment('deployment', pythonRequirements),
      inFolder('emulator'),
      recordedResources,
      enforced,
    );
    copy = makeWorkCopy(inFolder(), emulator.environment, commandLimit);
    copy.configure(stage, { ...trialValues, ...smokeValues, ...named });
    return emulator.endpoint;
  },
  660_000,
);

step('bootstrap the account', async () => cdk('bootstrap', `aws://${account}/${region}`, '--app', ''));

step('deploy', async () => {
  const words = ['-c', `stage=${stage}`, '--require-approval', 'never', '--outputs-file', outputsFile()];
  return cdk('deploy', '--all', ...words);
});

// First, while the function has read nothing: what it has of the keyring it keeps for minutes.
withheld({
  what: 'its kinds of keys in the keyring',
  of: 'Auth-Token',
  action: 'dynamodb:Query',
  change: onlyFor('dynamodb:LeadingKeys', 'another'),
  suite: 'token-grants',
});

withheld({
  what: 'its purposes of the key',
  of: 'Auth-Token',
  action: 'kms:Decrypt',
  change: onlyFor('kms:EncryptionContext:purpose', 'another'),
  suite: 'token-grants',
});

withheld({
  what: 'its tables',
  of: 'Auth-Token',
  action: 'dynamodb:BatchGetItem',
  change: without('dynamodb:BatchGetItem'),
  suite: 'token-grants',
});

step(
  'end-to-end: nothing is refused',
  async () => {
    const start = Date.now();
    const { counts, problems, output } = await endToEnd([]);
    const refused = await refusals('', start);
    if (problems.length > 0) throw new Error(`Refused: ${refused}.\n${problems.join('\n')}\n\n${output}`);
    expect(refused).toEqual([]);
    const { passed, failed, skipped } = counts;
    return `${passed} passed, ${failed} told apart as the emulator's, ${skipped} skipped`;
  },
  500_000,
);

step('a topic, and a role of another account, may send events where the stage names it, and no other', async () => {
  const { EventsQueueArn, EventsQueueUrl, DeadLetterQueueUrl } = outputs();
  // The emulator takes such an access key for the root user of that account.
  const root = { ...emulator.settings, credentials: { accessKeyId: otherAccount, secretAccessKey: 'emulated' } };
  const role = async (name: string) => {
    const client = new SQSClient(await assumeSender(root, name, otherAccount, EventsQueueArn));
    const sent = client.send(new SendMessageCommand({ QueueUrl: EventsQueueUrl, MessageBody: `of role ${name}` }));
    return sent.then(
      () => 'sent',
      error => error.name,
    );
  };
  for (const name of ['unnamed', 'named']) {
    await publishByTopic(emulator.settings, name, EventsQueueArn, {
      isRaw: true,
      message: `of topic ${name}`,
      group: stage,
    });
  }
  expect([await role('unnamed'), await role('named')]).toEqual(['AccessDenied', 'sent']);

  // The messages that came are no events: they go to the dead-letter queue.
  const queues = new SQSClient(emulator.settings);
  const came = new Set<string | undefined>();
  const deadline = Date.now() + 30_000;
  while (!(came.has('of topic named') && came.has('of role named')) && Date.now() < deadline) {
    const { Messages = [] } = await queues.send(
      new ReceiveMessageCommand({ QueueUrl: DeadLetterQueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    for (const { Body } of Messages) if (Body?.startsWith('of ')) came.add(Body);
  }
  expect([...came].sort()).toEqual(['of role named', 'of topic named']);
  return undefined;
});

// Last, since what could not be sent waits in its queue and comes back.
withheld({
  what: 'its queues',
  of: 'Delivery-DeliverFirst',
  action: 'sqs:SendMessage',
  change: without('sqs:SendMessage'),
  suite: 'retry',
  only: 'with 500 is retried',
});

/** Proves that a suite fails when a role lacks what it is allowed, and fails for that. */
function withheld(missing: {
  readonly what: string;
  /** The function, as its stack and name. */
  readonly of: string;
  readonly action: string;
  readonly change: (statement: Statement) => Statement | undefined;
  readonly suite: string;
  readonly only?: string;
}): void {
  const { what, of, action, change, suite, only } = missing;
  step(`${of} without ${what} (${action}): ${suite} fails`, async () => {
    const start = Date.now();
    const restore = await changePolicies(emulator.settings, `-${stage}-${of}`, action, change);
    const { counts, problems } = await endToEnd([suite], only);
    await restore();
    expect(counts.failed).toBeGreaterThan(0);
    expect(problems.join('\n')).toContain(`${suite}.e2e.test.ts: "`);
    expect(await refusals(of, start)).toEqual([action]);
    return `${counts.passed} passed, ${counts.failed} failed`;
  });
}

/** Puts a condition on another value. */
function onlyFor(key: string, value: string): (statement: Statement) => Statement {
  return statement => {
    const conditions = Object.entries(statement.Condition ?? {});
    if (!conditions.some(([, keys]) => key in keys)) throw new Error(`There is no condition on ${key}.`);
    const changed = conditions.map(([operator, keys]) => [operator, key in keys ? { ...keys, [key]: value } : keys]);
    return { ...statement, Condition: Object.fromEntries(changed) };
  };
}

async function cdk(...words: readonly string[]): Promise<undefined> {
  const { code, output } = await copy.cdk(...words);
  if (code !== 0) throw new Error(`cdk ${words[0]} ended with ${code}:\n${output}`);
}

function endToEnd(files: readonly string[], only?: string): Promise<EndToEndResult> {
  return runEndToEnd(emulator, outputsFile(), { files, ...(only !== undefined && { only }) });
}

function outputsFile(): string {
  return inFolder('outputs.json');
}

function outputs(): Record<'EventsQueueArn' | 'EventsQueueUrl' | 'DeadLetterQueueUrl', string> {
  return Object.assign({}, ...Object.values(JSON.parse(readFileSync(outputsFile(), 'utf8'))));
}

/**
 * The actions that functions were refused since a time, as their logs tell.
 *
 * @param of - one function, as its stack and name; empty for all.
 */
async function refusals(of: string, startTime: number): Promise<readonly string[]> {
  const client = new CloudWatchLogsClient(emulator.settings);
  const logGroupNamePrefix = `/aws/cloudformation/Emissor-${stage}-${of.replace('-', '/')}${of && 'Logs'}`;
  const actions = new Set<string>();
  let groups = 0;
  for await (const page of paginateDescribeLogGroups({ client }, { logGroupNamePrefix })) {
    for (const { logGroupName } of page.logGroups ?? []) {
      groups++;
      for await (const { events = [] } of paginateFilterLogEvents({ client }, { logGroupName, startTime })) {
        for (const { message = '' } of events) {
          if (/"errorName":"AccessDenied(Exception)?"/.test(message)) actions.add(JSON.parse(message).action);
        }
      }
    }
  }
  expect(groups, logGroupNamePrefix).toBeGreaterThan(0);
  return [...actions];
}
