import { maxDeadLetters } from '../deliveries/redrive.ts';
import { CliError } from '../stage/operator.ts';
import { copyKey, type Queues } from '../stage/queues.ts';

/**
 * Deletes the dead-letter messages that contain an account's id, and counts copies once. Does not delete messages that another
 * command has in flight. `inFlight` is their approximate number. `onRead` receives the numbers of read and deleted messages.
 * @throws {CliError} if too many messages belong to other accounts. SQS stops returning messages once 120,000 are in flight.
 */
export async function deleteDeadLetters(
  queues: Pick<Queues, 'deadLetters' | 'countInFlight' | 'remove'>,
  account: string,
  onRead: (readCount: number, deleted: number) => void,
  interruption?: AbortSignal,
) {
  const deleted = new Set<string>();
  const before = await queues.countInFlight();
  let [readCount, others] = [0, 0];
  for await (const deadLetter of queues.deadLetters(Number.POSITIVE_INFINITY, { interruption })) {
    if (belongsToAccount(deadLetter.body, account)) {
      await queues.remove(deadLetter);
      deleted.add(copyKey(deadLetter));
    } else others += 1;
    onRead(++readCount, deleted.size);
    if (others > maxDeadLetters) {
      throw new CliError(
        `Stopped after ${others} dead-letter messages of other accounts. This account may have more. Discard or redrive the other messages ("dlq discard", "dlq redrive"), then run the command again.`,
      );
    }
  }
  return { deadLetters: deleted.size, inFlight: Math.max(before, await queues.countInFlight()) };
}

/**
 * Returns whether a message belongs to an account. The message may be an event, with or without an SNS or EventBridge
 * envelope, or a later attempt. An event belongs to the account in `id_conta`, even if it was rejected because the value is a number.
 */
function belongsToAccount(body: string, account: string): boolean {
  const message = parseObject(body);
  const nameOf = (value: unknown) => (typeof value === 'number' ? String(value) : value);
  const ownAccount = nameOf(message.id_conta);
  if (typeof ownAccount === 'string') return ownAccount === account;
  return [message, message.detail, parseObject(message.Message)].some(value => {
    const { id_conta, accountId } = Object(value);
    return nameOf(id_conta) === account || nameOf(accountId) === account;
  });
}

function parseObject(json: unknown): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(String(json)));
  } catch {
    return {};
  }
}
