import type * as sdk from '@aws-sdk/client-sqs';
import type { QueueFaults } from '../faults.ts';
import { ServiceError } from '../service-error.ts';
import type { Clock } from '../time.ts';
import type { Note } from '../virtual/record.ts';
import { md5OfAttributes, md5OfBody } from './checksums.ts';
import { type MessageSnapshot, makeQueue, maxBytes, type Queue, type QueueDefinition } from './queue.ts';

export type Queues = ReturnType<typeof makeQueues>;

export function makeQueues(definitions: readonly QueueDefinition[], context: QueuesContext) {
  const queues = new Map<string, Queue>();
  /** The restored messages of queues that do not exist yet. */
  const pending = new Map<string, readonly MessageSnapshot[]>();
  let changesOfDeletedQueues = 0;
  const operations: Readonly<Record<string, Act<never>>> = {
    SendMessage: send,
    SendMessageBatch: inBatch(send),
    ReceiveMessage: receive,
    DeleteMessage: remove,
    DeleteMessageBatch: inBatch((queue, entry: ReceiptInput) => remove(queue, requireAccepted(entry))),
    ChangeMessageVisibility: hide,
    ChangeMessageVisibilityBatch: inBatch((queue, entry: ReceiptInput) => hide(queue, requireAccepted(entry))),
    GetQueueAttributes: attributesOf,
  };
  for (const definition of definitions) create(definition);
  return {
    find,
    create,
    destroy,
    operationNames: Object.keys(operations),
    perform,
    execute,
    poll,
    snapshot,
    restore,
    /** Returns a counter that increases with each change. */
    changes: () => [...queues.values()].reduce((sum, queue) => sum + queue.changes(), changesOfDeletedQueues),
  };

  /** Creates a queue, or returns the existing queue with that name. */
  function create(definition: QueueDefinition): Queue {
    const { name, redrive } = definition;
    const existing = queues.get(name);
    if (existing) return existing;
    const queue = makeQueue(definition, { ...context, dlq: () => redrive && find(redrive.queue) });
    queues.set(name, queue);
    queue.restore(pending.get(name) ?? []);
    pending.delete(name);
    return queue;
  }

  function destroy(address: string): object {
    const queue = find(address);
    changesOfDeletedQueues += queue.changes() + 1;
    queues.delete(queue.name);
    return {};
  }

  /** Finds a queue by its name, URL or ARN. */
  function find(address = ''): Queue {
    const queue = queues.get(address.slice(Math.max(address.lastIndexOf('/'), address.lastIndexOf(':')) + 1));
    if (queue) return queue;
    throw new ServiceError('QueueDoesNotExist', `The specified queue does not exist: ${address}`);
  }

  function queueOf({ QueueUrl }: { readonly QueueUrl?: string | undefined }): Queue {
    return find(QueueUrl);
  }

  /** Executes an SDK command. @throws {ServiceError} if SQS rejects it */
  function execute(command: { readonly input: object }, sender: string): object {
    return perform(command.constructor.name.replace(/Command$/, ''), command.input, sender);
  }

  /** Performs an operation. It never waits for messages, unlike {@link poll}. @throws {ServiceError} if SQS rejects it */
  function perform(operation: string, input: object, sender: string): object {
    const act = operations[operation];
    if (!act) throw new TypeError(`This SQS does not support ${operation}.`);
    return act(queueOf(input), input as never, sender);
  }

  /** Receives messages. If there are none, it waits until one arrives, the wait time ends or the receiver disconnects. */
  function poll(input: sdk.ReceiveMessageCommandInput, signal: AbortSignal): Promise<object> {
    return new Promise(resolve => {
      const queue = queueOf(input);
      const { WaitTimeSeconds = queue.receiveWait } = input;
      requireWithin('WaitTimeSeconds', WaitTimeSeconds, 0, 20);
      const first = signal.aborted ? {} : receive(queue, input);
      if (signal.aborted || 'Messages' in first || WaitTimeSeconds === 0) return resolve(first);
      const cleanups = [queue.onVisible(receiveNow), context.time.after(WaitTimeSeconds * 1_000, () => end({}))];
      signal.addEventListener('abort', () => end({}), { once: true });

      function receiveNow(): void {
        const response = receive(queue, input);
        if ('Messages' in response) end(response);
      }

      function end(response: object): void {
        for (const cleanUp of cleanups) cleanUp();
        resolve(response);
      }
    });
  }

  function send(queue: Queue, sent: SentMessage, sender: string): object {
    const { MessageBody: body = '', DelaySeconds = 0, MessageAttributes: attributes = {} } = sent;
    const { MessageGroupId: group } = sent;
    requireWithin('DelaySeconds', DelaySeconds, 0, 900);
    if (body === '') throw new ServiceError('MissingParameter', 'The request must contain the parameter MessageBody.');
    if (notInXml.test(body)) throw new ServiceError('InvalidMessageContents', 'The body has invalid characters.');
    if (group !== undefined && !groupPattern.test(group)) throw invalid(`MessageGroupId ${group} is invalid.`);
    if (sizeOf(sent) > queue.maxMessageSize)
      throw invalid(`Message must be shorter than ${queue.maxMessageSize} bytes.`);
    const all = Object.values(attributes);
    if (all.length > 10) throw invalid('A message has at most 10 attributes.');
    const isInvalid = ({ DataType = '', StringValue = '' }: sdk.MessageAttributeValue) =>
      DataType === '' || StringValue === '' || notInXml.test(StringValue);
    if (all.some(isInvalid)) throw invalid('A message attribute must have a type and a string value.');
    requireAccepted(sent);
    return {
      MessageId: queue.send({ body, group, delaySeconds: DelaySeconds, attributes }, sender),
      MD5OfMessageBody: md5OfBody(body),
      ...md5OfAttributes('MD5OfMessageAttributes', attributes),
    };
  }

  /** Returns its argument. @throws {ServiceError} if a fault rejects the entry */
  function requireAccepted<Entry>(entry: Entry): Entry {
    if (context.faults.isEntryRejected()) throw new ServiceError('InternalError', 'The entry failed.', 'server');
    return entry;
  }

  /** Returns the messages of each queue as plain JSON, by queue name. */
  function snapshot(): Readonly<Record<string, readonly MessageSnapshot[]>> {
    return Object.fromEntries([...pending, ...[...queues].map(([name, queue]) => [name, queue.all()] as const)]);
  }

  /** Adds the messages from a snapshot to their queues. The messages of a missing queue wait until it is created. */
  function restore(messagesByQueue: Readonly<Record<string, readonly MessageSnapshot[]>>): void {
    for (const [name, messages] of Object.entries(messagesByQueue)) {
      const queue = queues.get(name);
      if (queue) queue.restore(messages);
      else pending.set(name, messages);
    }
  }
}

interface QueuesContext {
  readonly time: Clock;
  readonly faults: QueueFaults;
  readonly note: Note;
  /** Creates the id of a message. */
  readonly nextId: () => string;
  readonly arnOf: (name: string) => string;
}

const notInXml = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** ASCII letters, digits and punctuation. */
const groupPattern = /^[!-~]{1,128}$/;

type SentMessage = Omit<sdk.SendMessageCommandInput, 'QueueUrl'>;

/** Returns the size of a message's body and attributes in bytes. */
function sizeOf({ MessageBody = '', MessageAttributes = {} }: Partial<SentMessage>): number {
  let size = Buffer.byteLength(MessageBody);
  for (const [name, { DataType = '', StringValue = '' }] of Object.entries(MessageAttributes)) {
    size += Buffer.byteLength(name + DataType + StringValue);
  }
  return size;
}

/** Performs an operation on a queue. `sender` is the id of a principal. */
type Act<Input> = (queue: Queue, input: Input, sender: string) => object;

/** The fields of a command that refers to a received message. */
interface ReceiptInput {
  readonly ReceiptHandle?: string | undefined;
  readonly VisibilityTimeout?: number | undefined;
}

function receive(queue: Queue, input: sdk.ReceiveMessageCommandInput): object {
  const { MaxNumberOfMessages = 1, VisibilityTimeout = queue.visibilityTimeout } = input;
  requireWithin('MaxNumberOfMessages', MaxNumberOfMessages, 1, 10);
  requireWithin('VisibilityTimeout', VisibilityTimeout, 0, maxVisibilityTimeout);
  const systemNames = [...(input.AttributeNames ?? []), ...(input.MessageSystemAttributeNames ?? [])];
  const messages = queue.receive(MaxNumberOfMessages, VisibilityTimeout).map(received => {
    const attributes = selectedOf(received.attributes, input.MessageAttributeNames);
    return {
      MessageId: received.id,
      ReceiptHandle: received.receipt,
      Body: received.body,
      MD5OfBody: md5OfBody(received.body),
      Attributes: selectedOf({ ...received.systemAttributes }, systemNames),
      MessageAttributes: attributes,
      ...md5OfAttributes('MD5OfMessageAttributes', attributes),
    };
  });
  return messages.length > 0 ? { Messages: messages } : {};
}

/** Returns the attributes that a receiver requests, by name or as `All`. */
function selectedOf<Value>(values: Readonly<Record<string, Value>>, names: readonly string[] = []) {
  if (names.includes('All')) return values;
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

function remove(queue: Queue, { ReceiptHandle = '' }: ReceiptInput): object {
  queue.remove(ReceiptHandle);
  return {};
}

function hide(queue: Queue, { ReceiptHandle = '', VisibilityTimeout = 0 }: ReceiptInput): object {
  requireWithin('VisibilityTimeout', VisibilityTimeout, 0, maxVisibilityTimeout);
  if (queue.hide(ReceiptHandle, VisibilityTimeout)) return {};
  throw new ServiceError('MessageNotInflight', 'The message is not in flight.');
}

function attributesOf(queue: Queue, { AttributeNames }: sdk.GetQueueAttributesCommandInput): object {
  const attributes = {
    ApproximateNumberOfMessages: String(queue.visible()),
    ApproximateNumberOfMessagesNotVisible: String(queue.inFlight()),
    ApproximateNumberOfMessagesDelayed: String(queue.delayed()),
    VisibilityTimeout: String(queue.visibilityTimeout),
    QueueArn: queue.arn,
  };
  return { Attributes: selectedOf(attributes, AttributeNames) };
}

/** Creates the batch variant of an operation. Each entry succeeds or fails independently. */
function inBatch<Entry extends object>(act: Act<Entry>): Act<{ readonly Entries?: readonly (Entry & Identified)[] }> {
  return function actOnEach(queue, { Entries: entries = [] }, sender) {
    if (entries.length === 0) throw new ServiceError('EmptyBatchRequest', 'A batch must have at least one entry.');
    if (entries.length > 10) throw new ServiceError('TooManyEntriesInBatchRequest', 'A batch has at most 10 entries.');
    if (new Set(entries.map(({ Id }) => Id)).size < entries.length)
      throw new ServiceError('BatchEntryIdsNotDistinct', 'The entries of a batch must have different ids.');
    if (entries.reduce((sum, entry) => sum + sizeOf(entry), 0) > maxBytes)
      throw new ServiceError('BatchRequestTooLong', `A batch has at most ${maxBytes} bytes.`);
    const successful: object[] = [];
    const failed: object[] = [];
    for (const entry of entries) {
      const { Id } = entry;
      try {
        successful.push({ Id, ...act(queue, entry, sender) });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        failed.push({ Id, Code: error.name, SenderFault: error.$fault === 'client', Message: error.message });
      }
    }
    return { ...(successful.length > 0 && { Successful: successful }), ...(failed.length > 0 && { Failed: failed }) };
  };
}

interface Identified extends Partial<SentMessage> {
  readonly Id?: string;
}

function requireWithin(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw invalid(`Value ${value} for parameter ${name} is invalid. It must be between ${min} and ${max}.`);
}

function invalid(reason: string): ServiceError {
  return new ServiceError('InvalidParameterValue', reason);
}

/** 12 hours, in seconds. */
const maxVisibilityTimeout = 43_200;
