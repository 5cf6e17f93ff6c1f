import { type DynamoDBDocumentClient, QueryCommand } from '../../platform/aws/documents.ts';
import type { Item } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Delivery } from '../delivery.ts';
import { answerExpiry, answerPart, answersPrefix } from './answer-item.ts';

/** Returns a delivery with the answers that its records name. */
export type ReadAnswers = (delivery: Delivery) => Promise<Delivery>;

/**
 * Makes the reader of answers in table `Deliveries`. It reads consistently, and nothing where no record names an answer. An
 * answer that is over sixty days old is not given, though it may still be there.
 */
export function makeReadAnswers({
  dynamo,
  table,
  now,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
}): ReadAnswers {
  return async function readAnswers(delivery) {
    const isNamed = delivery.attempts.some(({ answerId }) => answerId !== undefined);
    const answers = isNamed ? await readAll(delivery.id) : new Map<string, string>();
    const attempts = delivery.attempts.map(record => {
      const { answerId, ...attempt } = record;
      if (answerExpiry(record) * 1_000 <= now()) return { ...attempt, response: null };
      return answerId === undefined ? attempt : { ...attempt, response: answers.get(answerPart(record)) ?? null };
    });
    return { ...delivery, attempts };
  };

  /** Reads all answers of a delivery by their sort keys; those that no record names are among them. */
  async function readAll(id: string): Promise<Map<string, string>> {
    const answers = new Map<string, string>();
    let from: Item | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await dynamo.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: 'id = :id AND begins_with(part, :answers)',
          ExpressionAttributeValues: { ':id': id, ':answers': answersPrefix },
          ConsistentRead: true,
          ...(from && { ExclusiveStartKey: from }),
        }),
      );
      for (const { part, response } of Items) answers.set(String(part), String(response));
      from = LastEvaluatedKey;
    } while (from);
    return answers;
  }
}
