import type { MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { isoTime } from '../../platform/clock.ts';
import type { Webhook } from '../../webhooks/webhook.ts';

/** The id and time of a message's first publication. A redrive assigns a new id and a new time. */
export interface Origin {
  readonly messageId: string;
  /** Milliseconds since the epoch, or `undefined` if unknown. */
  readonly sentAt: number | undefined;
}

/** Returns the origin of a message. Ignores a malformed id attribute, and a time attribute that is later than the queue's own time. */
export function originOf({ messageId, sentTimestamp, attribute }: ReceivedMessage): Origin {
  const times = [Number(sentTimestamp || Number.NaN), Date.parse(attribute(sentAtAttribute) ?? '')];
  const originalId = attribute(messageIdAttribute) ?? '';
  const validTimes = times.filter(time => !Number.isNaN(time));
  return {
    messageId: messageIdForm.test(originalId) ? originalId : messageId,
    sentAt: validTimes.length === 0 ? undefined : Math.min(...validTimes),
  };
}

/** Returns the origin of a record that Lambda passed to a function. */
export function originOfRecord({ messageId, attributes, messageAttributes }: SQSRecord): Origin {
  return originOf({
    messageId,
    sentTimestamp: attributes.SentTimestamp,
    attribute: name => messageAttributes[name]?.stringValue,
  });
}

export function textAttributes(texts: Readonly<Record<string, string>>): Record<string, MessageAttributeValue> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, { DataType: 'String', StringValue: text }]),
  );
}

/**
 * Returns whether a webhook was registered when an event was sent. If the webhook was deleted while the event waited in the queue, a later
 * registration does not receive the event.
 */
export function wasRegisteredBy(sentAt: number, { createdAt }: Pick<Webhook, 'createdAt'>): boolean {
  return createdAt <= sentAt + clockTolerance;
}

/** The maximum difference between the clocks of the queue and the registration, in milliseconds. */
const clockTolerance = 500;

/** Returns the attributes that preserve the origin of a message. */
export function originTexts({ messageId, sentAt }: Origin): Record<string, string> {
  return {
    [messageIdAttribute]: messageId,
    ...(sentAt !== undefined && { [sentAtAttribute]: isoTime(sentAt) }),
  };
}

interface ReceivedMessage {
  readonly messageId: string;
  /** The queue's `SentTimestamp`, in milliseconds since the epoch. */
  readonly sentTimestamp: string | undefined;
  /** Returns the string value of a message attribute. */
  attribute(name: string): string | undefined;
}

const sentAtAttribute = 'original_sent_at';

const messageIdAttribute = 'original_message_id';

/** The form of SQS message ids. Any sender can set attributes, and accepted values appear in logs and notices. */
const messageIdForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
