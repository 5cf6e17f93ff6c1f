import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
} from '@aws-sdk/client-sqs';
import { ServiceError } from '../service-error.ts';
import type { VirtualTime } from '../time.ts';
import type { Faults } from '../virtual/faults.ts';
import type { Note } from '../virtual/record.ts';
import { makeQueue, type Queue, type QueueDefinition } from './queue.ts';

/** Makes SQS. */
export function makeQueues(definitions: readonly QueueDefinition[], world: QueuesWorld) {
  let messages = 0;
  const queues = new Map<string, Queue>();
  for (const definition of definitions) {
    const deadLetterQueue = () => definition.deadLetters && find(definition.deadLetters.queue);
    queues.set(definition.name, makeQueue(definition, { ...world, nextId, deadLetterQueue }));
  }
  return { find, execute };

  function nextId(): string {
    messages += 1;
    return `00000000-0000-4000-8000-${String(messages).padStart(12, '0')}`;
  }

  /** Finds a queue by its name or URL. */
  function find(nameOrUrl = ''): Queue {
    const found = queues.get(nameOrUrl.slice(nameOrUrl.lastIndexOf('/') + 1));
    if (found) return found;
    throw new ServiceError('QueueDoesNotExist', `The specified queue does not exist: ${nameOrUrl}`);
  }

  /** Executes a command of the SDK. @throws {ServiceError} as SQS refuses it. */
  function execute(command: unknown, sender: string): object {
    const queueOf = ({ input }: { readonly input: { readonly QueueUrl?: string | undefined } }) => find(input.QueueUrl);
    if (command instanceof SendMessageCommand) return send(queueOf(command), command.input, sender);
    if (command instanceof ReceiveMessageCommand) return receive(queueOf(command), command.input);
    if (command instanceof DeleteMessageCommand) return remove(queueOf(command), command.input);
    if (command instanceof ChangeMessageVisibilityCommand) return hide(queueOf(command), command.input);
    if (command instanceof SendMessageBatchCommand) {
      const { Entries = [] } = command.input;
      if (Entries.reduce((sum, entry) => sum + sizeOf(entry), 0) > largest)
        throw new ServiceError('BatchRequestTooLong', `A batch has at most ${largest} bytes.`);
      return inBatch(Entries, entry => send(queueOf(command), entry, sender));
    }
    if (command instanceof DeleteMessageBatchCommand) {
      return inBatch(command.input.Entries, entry => remove(queueOf(command), taken(entry)));
    }
    if (command instanceof ChangeMessageVisibilityBatchCommand) {
      return inBatch(command.input.Entries, entry => hide(queueOf(command), taken(entry)));
    }
    if (command instanceof GetQueueAttributesCommand) return { Attributes: attributesOf(queueOf(command)) };
    throw new TypeError('This virtual SQS does not know that command.');
  }

  function send(queue: Queue, sent: Omit<SendMessageCommandInput, 'QueueUrl'>, sender: string): object {
    const { MessageBody: body = '', MessageGroupId: group, DelaySeconds = 0, MessageAttributes: attributes } = sent;
    requireWithin('DelaySeconds', DelaySeconds, 0, 900);
    if (body === '') throw new ServiceError('MissingParameter', 'The request must contain the parameter MessageBody.');
    const texts = Object.values(attributes ?? {}).map(({ StringValue = '' }) => StringValue);
    if (notInXml.test(body)) throw new ServiceError('InvalidMessageContents', 'XML knows no such character.');
    if (sizeOf(sent) > largest || texts.some(text => text === '' || notInXml.test(text)))
      throw new ServiceError('InvalidParameterValue', 'The message is too long, or an attribute is wrong.');
    taken(sent);
    return { MessageId: queue.send({ body, group, delaySeconds: DelaySeconds, attributes }, sender) };
  }

  /** Returns what the queue takes. @throws {ServiceError} for what it refuses by chance. */
  function taken<Entry>(entry: Entry): Entry {
    if (world.faults.isEntryRefused()) throw new ServiceError('InternalError', 'The entry was not taken.', 'server');
    return entry;
  }
}

interface QueuesWorld {
  readonly time: Pick<VirtualTime, 'now' | 'at' | 'after'>;
  readonly faults: Pick<Faults, 'comesAgain' | 'isEntryRefused'>;
  readonly note: Note;
}

/** In bytes, with attributes: of a message, and of a batch. */
const largest = 1_024 * 1_024;

const notInXml = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Returns the bytes of a message's body and attributes. */
function sizeOf({ MessageBody = '', MessageAttributes = {} }: Omit<SendMessageCommandInput, 'QueueUrl'>): number {
  const attributes = Object.entries(MessageAttributes).map(
    ([name, { DataType = '', StringValue = '' }]) => name + DataType + StringValue,
  );
  return Buffer.byteLength(MessageBody + attributes.join(''));
}

/** What a command says of a message that was received. */
interface Handled {
  readonly ReceiptHandle?: string | undefined;
  readonly VisibilityTimeout?: number | undefined;
}

function receive(queue: Queue, input: ReceiveMessageCommand['input']): object {
  const { MaxNumberOfMessages = 1, VisibilityTimeout, WaitTimeSeconds = 0 } = input;
  requireWithin('MaxNumberOfMessages', MaxNumberOfMessages, 1, 10);
  if (WaitTimeSeconds > 0) throw new TypeError('This virtual SQS does not know long polls.');
  const messages = queue.receive(MaxNumberOfMessages, VisibilityTimeout).map(received => ({
    MessageId: received.id,
    ReceiptHandle: received.receipt,
    Body: received.body,
    Attributes: received.systemAttributes,
    MessageAttributes: received.attributes,
  }));
  return messages.length > 0 ? { Messages: messages } : {};
}

function remove(queue: Queue, { ReceiptHandle = '' }: Handled): object {
  queue.remove(ReceiptHandle);
  return {};
}

function hide(queue: Queue, { ReceiptHandle = '', VisibilityTimeout = 0 }: Handled): object {
  requireWithin('VisibilityTimeout', VisibilityTimeout, 0, 43_200);
  if (queue.hide(ReceiptHandle, VisibilityTimeout)) return {};
  throw new ServiceError('MessageNotInflight', 'The message is not in flight.');
}

function attributesOf(queue: Queue): Record<string, string> {
  return {
    ApproximateNumberOfMessages: String(queue.toldVisible()),
    ApproximateNumberOfMessagesNotVisible: String(queue.inFlight()),
    ApproximateNumberOfMessagesDelayed: String(queue.delayed()),
    VisibilityTimeout: String(queue.visibilityTimeout),
  };
}

/** Each entry succeeds or fails by itself. */
function inBatch<Entry extends { readonly Id: string | undefined }>(
  entries: readonly Entry[] = [],
  execute: (entry: Entry) => object,
): object {
  const isDistinct = new Set(entries.map(({ Id }) => Id)).size === entries.length;
  if (!isDistinct || entries.length === 0 || entries.length > 10) {
    throw new ServiceError('BatchRequestError', 'A batch has 1 to 10 entries, whose Ids differ.');
  }
  const successful: object[] = [];
  const failed: object[] = [];
  for (const entry of entries) {
    try {
      successful.push({ Id: entry.Id, ...execute(entry) });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      failed.push({ Id: entry.Id, Code: error.name, SenderFault: error.$fault === 'client', Message: error.message });
    }
  }
  return { ...(successful.length > 0 && { Successful: successful }), ...(failed.length > 0 && { Failed: failed }) };
}

function requireWithin(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new ServiceError('InvalidParameterValue', `Value ${value} for parameter ${name} is invalid.`);
}
