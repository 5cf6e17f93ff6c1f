import { randomBytes } from 'node:crypto';
import { KMSClient } from '@aws-sdk/client-kms';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { startLogs } from '@emissor/cloud/logs';
import { type Interceptor, startKms, startSqs } from '@emissor/cloud/testing';
import { makeKeyRotation } from '../../lambdas/auth/keys/key-rotation.ts';
import { makeLockout } from '../../lambdas/auth/protection/lockout.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../lambdas/platform/keyring.ts';
import { systemTime, type Time } from '../../lambdas/platform/timer.ts';
import type { CommandWithTargets } from '../../ops/audit/audit-log.ts';
import type { AwsClient } from '../../ops/stage/aws-clock.ts';
import { type OpsRuntime, opsRuntime } from '../../ops/stage/ops-runtime.ts';
import { sqsClientOf } from '../../tools/support/engines.ts';
import { type OpsResult, parseOutput, runOpsOn } from '../../tools/support/ops.ts';
import { tableNames } from '../../tools/support/tables.ts';
import { startDatabase } from './database/database.ts';
import { putAll } from './database/put-all.ts';
import { quickHashing } from './password-hashing.ts';

/** The operators' CLI with the tables, queues, logs and keys of a stage, but without functions. */
export type OperatedTables = Awaited<ReturnType<typeof startOperatedTables>>;

/** The conditions for a command. */
export interface Conditions {
  /** The outputs that replace outputs of the stage. `undefined` removes an output. */
  readonly outputs?: Readonly<Record<string, string | undefined>>;
  /** The standard input. @default - a password */
  readonly input?: string;
  /** Runs `act` before the nth call to an operation, or to one of several (`Put|Delete`). If it throws, the call fails. `again` repeats the call. */
  readonly before?: readonly [call: string, nth: number, act: (again: () => Promise<unknown>) => unknown];
  readonly time?: Partial<Time>;
  /** True if responses have a date. Without a date, a command uses the time of the test. */
  readonly hasDates?: boolean;
  readonly runtime?: Partial<OpsRuntime>;
}

export interface Operator {
  /** Runs a command. The arguments are separate words or one line. */
  run(...words: readonly string[]): Promise<OpsResult>;
  /** Runs a command with `--yes` and returns its `--json` output. @throws if the command fails */
  // biome-ignore lint/suspicious/noExplicitAny: tests read outputs of every type
  json(...words: readonly string[]): Promise<any>;
}

const password = 'a password of enough characters';

/** The `MaximumMessageSize` of a stage's queues. */
export const maxMessageSize = 1_040_384;

/** Starts the tables. The caller must stop them in `afterAll`. */
export async function startOperatedTables() {
  const names = tableNames();
  const database = await startDatabase(...names);
  const { dynamo } = database;
  const [logs, keys] = [await startLogs(), await startKms(randomBytes(32))];
  // Otherwise each receive from an empty queue would wait for a second.
  const receiveWithoutWaiting: Interceptor = ({ operation, input }) => {
    if (operation === 'ReceiveMessage') Object.assign(input, { WaitTimeSeconds: 0 });
    return undefined;
  };
  const queues = await startSqs({ interceptors: [receiveWithoutWaiting] });
  for (const name of ['events', 'retry', 'slow', 'dead']) queues.ensureQueue({ name, maxMessageSize });
  keys.ensureKey('test');
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const kms = new KMSClient({ endpoint: keys.endpoint, region: database.region, credentials });
  const keyring = { ...systemTime, dynamo, kms, table: 'Keyring' };
  const settings = { keyArn: 'arn:aws:kms:us-east-1:000000000000:key/test', algorithm: 'ES256' } as const;
  await makeKeyRotation({ ...keyring, ...settings, makeId: randomId }).rotateKeys();
  const stored = { ...systemTime, dynamo, table: 'Lockouts' };
  const lockout = makeLockout({ ...stored, keyring: makeKeyring(keyring), makeId: randomId });
  const outputs: Readonly<Record<string, string>> = {
    ...Object.fromEntries(names.map(name => [`${name}Table`, name])),
    DynamoDbEndpoint: database.endpoint,
    KmsEndpoint: keys.endpoint,
    LogsEndpoint: logs.endpoint,
    SqsEndpoint: queues.endpoint,
    EventsQueueUrl: queues.urlOf('events'),
    RetryQueueUrl: queues.urlOf('retry'),
    SlowQueueUrl: queues.urlOf('slow'),
    DeadLetterQueueUrl: queues.urlOf('dead'),
    AuditLogGroup: 'audit',
    DeliveryLogGroups: 'delivery',
    PasswordMinimumLength: '15',
    RotateKeysSettings: JSON.stringify({
      KEYRING_TABLE: 'Keyring',
      KEY_ARN: settings.keyArn,
      SIGNING_ALGORITHM: settings.algorithm,
    }),
    Region: database.region,
  };
  const sqs = sqsClientOf(outputs);
  const operator = under({});
  return {
    ...operator,
    ...{ database, outputs, lockout, logs },
    ...{ under, put, item, items, trail, createUser, createClient, send, receive },
    stop: async () => {
      for (const client of [kms, sqs]) client.destroy();
      await Promise.all([logs.stop(), keys.stop(), queues.stop()]);
      await database.stop();
    },
  };

  /** Returns the CLI under other conditions. Pauses take no time unless `time` is set. */
  function under({ outputs: replaced, input = password, before, time, hasDates, runtime }: Conditions): Operator {
    const run = (words: readonly string[]) =>
      runOpsOn({ ...outputs, ...replaced }, words, input, {
        ...opsRuntime,
        ...makeClients(before, hasDates),
        hashPassword: quickHashing.hash,
        time: { ...systemTime, pause: () => systemTime.turn(), ...time },
        ...runtime,
      });
    return {
      run: (...words) => run(split(words)),
      json: async (...words) => parseOutput(split(words), await run(['--json', '--yes', ...split(words)])),
    };
  }

  async function put(table: string, ...items: readonly object[]): Promise<void> {
    await putAll(dynamo, table, items);
  }

  async function item(TableName: string, Key: object) {
    return (await dynamo(new GetCommand({ TableName, Key: { ...Key } }))).Item;
  }

  async function items(TableName: string) {
    return (await dynamo(new ScanCommand({ TableName }))).Items ?? [];
  }

  /** Returns the latest entries of the audit log, newest first. */
  function trail(limit = 1): Promise<readonly CommandWithTargets[]> {
    return operator.json('audit', 'list', '--since', '10m', '--limit', `${limit}`);
  }

  async function createUser(account = 'acme', email = `${randomId(12).toLowerCase()}@example.com`) {
    const words = `users create --email ${email} --account ${account} --role admin`;
    const { userId }: { userId: string } = await operator.json(words);
    return { userId, email };
  }

  /** Creates a client. Returns the output of the command, which contains the secret. */
  function createClient(name = 'Acme', account = '--any-account') {
    return operator.json(...`clients create --grant password ${account} --name`.split(' '), name);
  }

  /** Sends a message to a queue. Returns its id. */
  async function send(name: 'events' | 'dead', MessageBody: string, texts: object = {}, DelaySeconds = 0) {
    const attributes = Object.entries(texts).map(([key, StringValue]) => [key, { DataType: 'String', StringValue }]);
    const MessageAttributes = Object.fromEntries(attributes);
    const message = { QueueUrl: queues.urlOf(name), MessageBody, MessageAttributes, DelaySeconds };
    const { MessageId = '' } = await sqs.send(new SendMessageCommand(message));
    return MessageId;
  }

  /** Receives up to 10 messages, which are then hidden for 30 s. */
  async function receive(name: 'events' | 'dead') {
    const all = { MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
    return (await sqs.send(new ReceiveMessageCommand({ QueueUrl: queues.urlOf(name), ...all }))).Messages ?? [];
  }
}

/** Interrupts the process as Ctrl-C does. */
export function interrupt(): void {
  process.emit('SIGINT', 'SIGINT');
}

/** Throws an error as a call without a response does. */
export function fail(): never {
  throw new Error('it ended half-way');
}

function split(words: readonly string[]): readonly string[] {
  return words.length === 1 ? (words[0] ?? '').split(' ') : words;
}

/** Creates clients that run `act` before the nth call to an operation. Responses have no date unless `hasDates` is true. */
function makeClients([names, nth, act]: NonNullable<Conditions['before']> = ['', 0, fail], hasDates = false) {
  let calls = 0;
  const matches = new RegExp(`^(?:${names})Command$`);
  const changed = <Client extends AwsClient>(original: Client): Client => {
    const client = original as Client & { send: (command: object, options?: object) => Promise<unknown> };
    const send = client.send.bind(client);
    client.send = async (command, options) => {
      if (matches.test(command.constructor.name) && ++calls === nth) await act(() => send(command, options));
      return send(command, options);
    };
    const inner = { step: 'deserialize', name: 'withoutDate', priority: 'low' } as const;
    if (!hasDates) {
      original.middlewareStack.add(
        next => async args => {
          const result = await next(args);
          delete (result.response as { headers?: { date?: string } }).headers?.date;
          return result;
        },
        inner,
      );
    }
    return original;
  };
  return {
    makeClient: (Service, settings) => changed(opsRuntime.makeClient(Service, settings)),
    makeDocumentClient: settings => changed(opsRuntime.makeDocumentClient(settings)),
  } satisfies Partial<OpsRuntime>;
}
