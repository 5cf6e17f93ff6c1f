import { maxDeadLetters } from '../deliveries/redrive.ts';
import { CliError } from '../stage/operator.ts';
import { copyKey, type Queues } from '../stage/queues.ts';

/**
 * Deletes the dead-letter messages that name an account, with copies counted once. Messages in flight elsewhere stay,
 * and `inFlight` is their approximate number. `onLooked` receives the numbers of messages read and deleted so far.
 * @throws {CliError} if too many belong to others. SQS returns no more, without an error, once 120,000 are in flight.
 */
export async function deleteDeadLetters(
  queues: Pick<Queues, 'deadLetters' | 'countInFlight' | 'remove'>,
  account: string,
  onLooked: (looked: number, deleted: number) => void,
  interruption?: AbortSignal,
) {
  const deleted = new Set<string>();
  const before = await queues.countInFlight();
  let [looked, held] = [0, 0];
  for await (const letter of queues.deadLetters(Number.POSITIVE_INFINITY, { interruption })) {
    if (namesAccount(letter.body, account)) {
      await queues.remove(letter);
      deleted.add(copyKey(letter));
    } else held += 1;
    onLooked(++looked, deleted.size);
    if (held > maxDeadLetters) {
      throw new CliError(
        `${held} dead-letter messages of other accounts were read, and there may be more of this account. Discard or redrive the others first ("dlq discard", "dlq redrive"), and then repeat the command.`,
      );
    }
  }
  return { deadLetters: deleted.size, inFlight: Math.max(before, await queues.countInFlight()) };
}

/**
 * Returns whether a message belongs to an account. It may be an event, also in the envelope of SNS or EventBridge, or a
 * later attempt. Only `id_conta` decides for an event. A numeric `id_conta` caused the rejection, but still counts.
 */
function namesAccount(body: string, account: string): boolean {
  const message = parseObject(body);
  const nameOf = (value: unknown) => (typeof value === 'number' ? String(value) : value);
  const own = nameOf(message.id_conta);
  if (typeof own === 'string') return own === account;
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
