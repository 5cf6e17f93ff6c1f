import { buildApp } from 'fauxqs';
import { account } from '../assembly/identities.ts';

/** One queue of the engine. */
export type EngineQueue = NonNullable<ReturnType<QueueStore['getQueueByName']>>;

/** The engine's web server (Fastify). */
export type QueueApp = ReturnType<typeof buildApp>;

/** The engine, not yet listening. */
export interface QueueEngine {
  readonly app: QueueApp;
  readonly queues: QueueStore;
  readonly topics: TopicStore;
  /**
   * Loads the kept state and keeps every change from now on. The URLs of queues get the port.
   *
   * @returns what closes the store; the server must be closed before.
   */
  keepIn(directory: string, port: number): () => void;
}

/** Returns the URL of a queue: the SDK follows its host, whatever endpoint it was given. */
export function queueUrl(port: number, name: string): string {
  return `http://127.0.0.1:${port}/${account}/${name}`;
}

/**
 * Corrects the message counts of a queue. The engine counts a message as delayed or in flight until the next receipt, even
 * when its time has passed: while all consumers are busy, a full queue seems to be empty.
 */
export function correctCounts(queue: EngineQueue): void {
  const { getAllAttributes } = queue;
  queue.getAllAttributes = names => {
    queue.processTimers();
    return getAllAttributes.call(queue, names);
  };
}

/** Makes the queue engine. The package's own `startFauxqs` would listen on all interfaces. */
export async function makeQueueEngine(region: string): Promise<QueueEngine> {
  const { SqsStore, SnsStore, S3Store, PersistenceManager, INVALID_MESSAGE_BODY_CHAR } = await importInternals();
  allowWideCharacters(INVALID_MESSAGE_BODY_CHAR);
  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
  const { sqsStore: queues, snsStore: topics } = stores;
  const app = buildApp({ logger: false, stores, defaultRegion: region });
  queues.buildQueueUrl = (name, port) => queueUrl(Number(port), name);

  return {
    app,
    queues,
    topics,
    keepIn: (directory, port) => {
      const persistence = new PersistenceManager(directory);
      correctVisibilityZero(persistence);
      persistence.loadSqsAndSns(queues, topics);
      queues.persistence = persistence;
      topics.persistence = persistence;
      for (const queue of queues.allQueues()) {
        Object.assign(queue, { persistence, url: queueUrl(port, queue.name) }); // kept URLs have the last run's port
      }
      return () => persistence.close();
    },
  };
}

/** The engine's queues. */
type QueueStore = Stores['sqsStore'];

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>;

/** The engine's topics. */
type TopicStore = Stores['snsStore'];

/** The package exports only its app factory. Its stores and its persistence are imported by their files. */
async function importInternals(): Promise<Internals> {
  const main = import.meta.resolve('fauxqs');
  const files = ['./sqs/sqsStore.js', './sns/snsStore.js', './s3/s3Store.js', './persistence.js', './sqs/sqsTypes.js'];
  const modules = await Promise.all(files.map(file => import(new URL(file, main).href)));
  return Object.assign({}, ...modules);
}

/** Accepts characters beyond U+FFFF, as SQS does. The engine refuses both halves of their surrogate pairs. */
function allowWideCharacters(invalid: RegExp): void {
  const refused = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;
  invalid.test = text => refused.test(text);
}

/**
 * Corrects setting a message's visibility to 0. The engine overwrites the receive count with NULL, which its own schema
 * refuses; the message is then lost until a restart.
 */
function correctVisibilityZero(persistence: Persistence): void {
  const { db } = persistence as unknown as { db: { prepare(sql: string): { run(...values: string[]): unknown } } };
  const statement = db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = messageId => void statement.run(messageId);
}

interface Internals {
  readonly SqsStore: new () => QueueStore;
  readonly SnsStore: new () => TopicStore;
  readonly S3Store: new () => Stores['s3Store'];
  readonly PersistenceManager: new (directory: string) => Persistence;
  readonly INVALID_MESSAGE_BODY_CHAR: RegExp;
}

type Persistence = NonNullable<QueueStore['persistence']>;
