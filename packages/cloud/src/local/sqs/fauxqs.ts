import { buildApp } from 'fauxqs';
import { account } from '../assembly/identities.ts';

// SQS and SNS are fauxqs, whose package exports its web server alone: `startFauxqs`, which listens on all interfaces, and `buildApp`,
// which keeps nothing and hands no queue out. So its stores are imported by their files, and given to `buildApp`. Where it does
// otherwise than SQS, the rest of this file corrects it: one function for each fault, which says what the fault is. A new version may
// name its files otherwise, or lack a fault: `engine.test.ts` tries each.

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

/** Makes the queue engine. */
export async function makeQueueEngine(region: string): Promise<QueueEngine> {
  const { SqsStore, SnsStore, S3Store, PersistenceManager, INVALID_MESSAGE_BODY_CHAR } = await importInternals();
  const queues = new SqsStore();
  const topics = new SnsStore();
  const stores = { sqsStore: queues, snsStore: topics, s3Store: new S3Store() };
  const app = buildApp({ logger: false, stores, defaultRegion: region });
  queues.buildQueueUrl = (name, port) => queueUrl(Number(port), name);
  acceptWideCharacters(INVALID_MESSAGE_BODY_CHAR);
  const { createQueue } = queues;
  queues.createQueue = (...words) => {
    const queue = createQueue.apply(queues, words);
    correctCounts(queue);
    correctVisibilityZero(queue);
    return queue;
  };

  return {
    app,
    queues,
    topics,
    keepIn: (directory, port) => {
      const persistence = new PersistenceManager(directory);
      persistence.updateMessageReady = () => {}; // see correctVisibilityZero
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

type QueueStore = Stores['sqsStore'];

type TopicStore = Stores['snsStore'];

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>;

async function importInternals(): Promise<Internals> {
  const files = ['sqs/sqsStore', 'sns/snsStore', 's3/s3Store', 'persistence', 'sqs/sqsTypes'];
  const entry = import.meta.resolve('fauxqs');
  return Object.assign({}, ...(await Promise.all(files.map(file => import(new URL(`./${file}.js`, entry).href)))));
}

interface Internals {
  readonly SqsStore: new () => QueueStore;
  readonly SnsStore: new () => TopicStore;
  readonly S3Store: new () => Stores['s3Store'];
  readonly PersistenceManager: new (directory: string) => NonNullable<QueueStore['persistence']>;
  readonly INVALID_MESSAGE_BODY_CHAR: RegExp;
}

/**
 * Accepts characters beyond U+FFFF in bodies, as SQS does. The engine's expression has no flag `u`, so that it refuses both halves of
 * their surrogate pairs. It looks at a body before any queue sees it, so that there is no other place to step in; and all that sends
 * messages holds this one object.
 */
function acceptWideCharacters(invalid: RegExp): void {
  const refused = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;
  invalid.test = text => refused.test(text);
}

/**
 * Corrects the message counts of a queue. The engine counts a message as delayed or in flight until the next receipt, even
 * when its time has passed: while all consumers are busy, a full queue seems to be empty.
 */
function correctCounts(queue: EngineQueue): void {
  const { getAllAttributes } = queue;
  queue.getAllAttributes = names => {
    queue.processTimers();
    return getAllAttributes.call(queue, names);
  };
}

/**
 * Corrects setting a message's visibility to 0 on a queue that is kept. The engine's `updateMessageReady` sets the kept receive count to
 * NULL, which its own schema refuses: the message was lost until a restart. In its place the message is kept anew, as it is.
 */
function correctVisibilityZero(queue: EngineQueue): void {
  const { changeVisibility } = queue;
  queue.changeVisibility = (receiptHandle, seconds) => {
    const message = queue.inflightMessages.get(receiptHandle)?.message;
    if (message && seconds === 0) queue.persistence?.insertMessage(queue.name, message);
    changeVisibility.call(queue, receiptHandle, seconds);
  };
}
