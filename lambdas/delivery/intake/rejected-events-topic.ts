import type { Publish } from '../../platform/aws/topic.ts';
import type { RejectionNotice } from './rejection-notice.ts';

/** Publishes a notice to the topic for rejected events. Throws if the topic rejects it. */
export type PublishNotice = (notice: RejectionNotice) => Promise<void>;

/** Creates the publisher of notices. Subscriptions can filter by the attributes `sender` and `reason`. */
export function makePublishNotice(publish: Publish, topicArn: string): PublishNotice {
  return async function publishNotice(notice) {
    const { sender, reason } = notice;
    await publish(topicArn, {
      Subject: `Emissor: event rejected, ${reason}`,
      Message: escapeNonAscii(JSON.stringify(notice)),
      MessageAttributes: {
        sender: { DataType: 'String', StringValue: sender },
        reason: { DataType: 'String', StringValue: reason },
      },
    });
  };
}

/** Escapes JSON to ASCII, because an `id` may contain U+FFFE and U+FFFF, which SQS subscriptions of the topic reject. */
function escapeNonAscii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
