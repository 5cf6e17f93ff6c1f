import * as z from 'zod';
import type { QueueApp } from './fauxqs.ts';

/**
 * Refuses numbers that SQS refuses. The engine accepts any, so that a delay over 15 minutes would work locally and fail in production.
 * A batch is refused as a whole: a caller that asks for such a delay is at fault, whatever becomes of the other entries.
 */
export function enforceLimits(app: QueueApp): void {
  app.addHook('preHandler', async ({ headers, body }, reply) => {
    if (!String(headers['x-amz-target']).startsWith('AmazonSQS.')) return;
    const [issue] = bodySchema.safeParse(body).error?.issues ?? [];
    if (!issue) return;
    const message = `${issue.path.join('.')}: ${issue.message}`;
    return reply
      .status(400)
      .header('content-type', 'application/x-amz-json-1.0')
      .send({ __type: 'com.amazonaws.sqs#InvalidParameterValue', message });
  });
}

const numbers = {
  DelaySeconds: z.int().min(0).max(900).optional(),
  VisibilityTimeout: z.int().optional(),
  WaitTimeSeconds: z.int().optional(),
};

const bodySchema = z.object({ ...numbers, Entries: z.array(z.object(numbers)).optional() });
