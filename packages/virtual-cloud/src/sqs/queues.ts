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
import type { Faults } from '../faults.ts';
import type { Note } from '../record.ts';
import { ServiceError } from '../service-error.ts';
import type { VirtualTime } from '../time.ts';
import { makeQueue, type Queue, type QueueDefinition } from './queue.ts';

/** Makes SQS. */
export function makeQueues({
  definitions,
  ...world
}: {
  readonly definitions: readonly QueueDefinition[];
  readonly time: VirtualTime;
  readonly faults: Pick<Faults, 'comesAgain' | 'isSendRefused'>;
  readonly note: Note;
}) {
  let messages = 0;
  const queues = new Map<string, Queue>();
  for (const definition of definitions) {
    const deadLetterQueue = () => definition.deadLetters && find(definition.deadLetters.queue);
    queues.set(definition.name, makeQueue({ ...world, definition, nextId, deadLetterQueue }));
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
    if (command instanceof SendMessageCommand) return send(find(command.input.QueueUrl), command.input, sender);
    if (command instanceof SendMessageBatchCommand) {
      const queue = find(command.input.QueueUrl);
      return inBatch(command.input.Entries, entry => send(queue, entry, sender));
    }
    if (command instanceof ReceiveMessageCommand) return receive(command.input);
    if (command instanceof DeleteMessageCommand) {
      find(command.input.QueueUrl).remove(command.input.ReceiptHandle ?? '');
      return {};
    }
    if (command instanceof DeleteMessageBatchCommand) {
      const queue = find(command.input.QueueUrl);
      return inBatch(command.input.Entries, ({ ReceiptHandle = '' }) => {
        queue.remove(ReceiptHandle);
        return {};
      });
    }
    if (command instanceof ChangeMessageVisibilityCommand) return hide(find(command.input.QueueUrl), command.input);
    if (command instanceof ChangeMessageVisibilityBatchCommand) {
      const queue = find(command.input.QueueUrl);
      return inBatch(command.input.Entries, entry => hide(queue, entry));
    }
    if (command instanceof GetQueueAttributesCommand) return { Attributes: attributesOf(find(command.input.QueueUrl)) };
    throw new TypeError('This virtual SQS does not know that command.');
  }

  function send(queue: Queue, sent: Omit<SendMessageCommandInput, 'QueueUrl'>, sender: string): object {
    const {
      MessageBody: body = '',
      MessageGroupId: group,
      DelaySeconds: delaySeconds,
      MessageAttributes: attributes,
    } = sent;
    requireWithin('DelaySeconds', delaySeconds ?? 0, 0, 900);
    if (body === '') throw new ServiceError('MissingParameter', 'The request must contain the parameter MessageBody.');
    if (world.faults.isSendRefused()) throw new ServiceError('InternalError', 'The message was not taken.', 'server');
    return { MessageId: queue.send({ body, group, delaySeconds, attributes }, sender) };
  }

  function receive(input: ReceiveMessageCommand['input']): object {
    const { QueueUrl, MaxNumberOfMessages = 1, VisibilityTimeout, WaitTimeSeconds = 0 } = input;
    requireWithin('MaxNumberOfMessages', MaxNumberOfMessages, 1, 10);
    if (WaitTimeSeconds > 0) throw new TypeError('This virtual SQS does not know long polls.');
    const received = find(QueueUrl).receive(MaxNumberOfMessages, VisibilityTimeout);
    if (received.length === 0) return {};
    return {
      Messages: received.map(({ id, receipt, body, systemAttributes, attributes }) => ({
        MessageId: id,
        ReceiptHandle: receipt,
        Body: body,
        Attributes: systemAttributes,
        MessageAttributes: attributes,
      })),
    };
  }
}

function hide(queue: Queue, { ReceiptHandle = '', VisibilityTimeout = 0 }: Hidden): object {
  requireWithin('VisibilityTimeout', VisibilityTimeout, 0, 43_200);
  if (queue.hide(ReceiptHandle, VisibilityTimeout)) return {};
  throw new ServiceError('MessageNotInflight', 'The message is not in flight.');
}

interface Hidden {
  readonly ReceiptHandle?: string | undefined;
  readonly VisibilityTimeout?: number | undefined;
}

function attributesOf(queue: Queue): Record<string, string> {
  const { visible, inFlight, delayed } = queue.approximateCounts();
  return {
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    ApproximateNumberOfMessagesDelayed: String(delayed),
    VisibilityTimeout: String(queue.visibilityTimeout),
  };
}

/** Each entry succeeds or fails by itself. */
function inBatch<Entry extends { readonly Id: string | undefined }>(
  entries: readonly Entry[] | undefined,
  execute: (entry: Entry) => object,
): object {
  if (!entries || entries.length === 0) throw new ServiceError('EmptyBatchRequest', 'There are no entries.');
  if (entries.length > 10) throw new ServiceError('TooManyEntriesInBatchRequest', 'There are more than 10 entries.');
  if (new Set(entries.map(({ Id }) => Id)).size < entries.length) {
    throw new ServiceError('BatchEntryIdsNotDistinct', 'Two entries have the same Id.');
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
