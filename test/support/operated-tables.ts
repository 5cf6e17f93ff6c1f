import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KMSClient } from '@aws-sdk/client-kms';
import { startLogs } from '@emissor/cloud/logs';
import { startKms, startSqs } from '@emissor/cloud/testing';
import { makeKeyRotation } from '../../lambdas/auth/keys/key-rotation.ts';
import { makeLockout } from '../../lambdas/auth/protection/lockout.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../lambdas/platform/keyring.ts';
import { systemTime } from '../../lambdas/platform/timer.ts';
import { type OpsResult, runOpsInProcess } from '../../tools/support/ops.ts';
import { tableNames } from '../../tools/support/tables.ts';
import { type Database, startDatabase } from './database/database.ts';
import { receiveAtOnce } from './receive-at-once.ts';

/** All tables with a keyring, and the operator's command line over them, without a run of the service. */
export interface OperatedTables {
  readonly database: Database;
  readonly outputs: Readonly<Record<string, string>>;
  readonly lockout: ReturnType<typeof makeLockout>;
  /** Runs a command as it is typed. */
  run(...args: string[]): Promise<OpsResult>;
  /** Runs a command, confirmed. Returns its `--json` answer. @throws when it fails. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  ask(args: readonly string[], input?: string): Promise<any>;
  stop(): Promise<void>;
}

/** Starts the tables; stop them in `afterAll`. */
export async function startOperatedTables(): Promise<OperatedTables> {
  const names = tableNames();
  const database = await startDatabase(...names);
  const { dynamo } = database;
  const [logs, keys] = [await startLogs(), await startKms(randomBytes(32))];
  const queues = await startSqs({ interceptors: [receiveAtOnce] });
  for (const name of ['dead', 'events']) queues.ensureQueue({ name });
  keys.ensureKey('test');
  const kms = new KMSClient({
    endpoint: keys.endpoint,
    region: database.region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const keyring = { ...systemTime, dynamo, kms, table: 'Keyring' };
  const settings = { keyArn: 'arn:aws:kms:us-east-1:000000000000:key/test', algorithm: 'ES256' } as const;
  await makeKeyRotation({
    ...keyring,
    ...settings,
    makeId: randomId,
  }).rotateKeys();
  const lockout = makeLockout({
    ...systemTime,
    dynamo,
    table: 'Lockouts',
    keyring: makeKeyring(keyring),
    makeId: randomId,
  });

  const directory = mkdtempSync(join(tmpdir(), 'emissor-operated-'));
  const file = join(directory, 'outputs.json');
  const outputs = {
    ...Object.fromEntries(names.map(name => [`${name}Table`, name])),
    DynamoDbEndpoint: database.endpoint,
    KmsEndpoint: keys.endpoint,
    LogsEndpoint: logs.endpoint,
    SqsEndpoint: queues.endpoint,
    DeadLetterQueueUrl: queues.urlOf('dead'),
    EventsQueueUrl: queues.urlOf('events'),
    AuditLogGroup: 'audit',
    PasswordMinimumLength: '15',
    RotateKeysSettings: JSON.stringify({
      KEYRING_TABLE: 'Keyring',
      KEY_ARN: settings.keyArn,
      SIGNING_ALGORITHM: settings.algorithm,
    }),
    Region: database.region,
  };
  writeFileSync(file, JSON.stringify(outputs));
  return {
    database,
    outputs,
    lockout,
    run: (...args) => runOpsInProcess(['--outputs', file, ...args]),
    ask: async (args, input) => {
      const { code, stdout, stderr } = await runOpsInProcess(['--outputs', file, '--json', '--yes', ...args], input);
      if (code !== 0) throw new Error(`ops ${args.slice(0, 2).join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    stop: async () => {
      rmSync(directory, { recursive: true });
      kms.destroy();
      await Promise.all([logs.stop(), keys.stop(), queues.stop()]);
      await database.stop();
    },
  };
}
