import * as z from 'zod';
import type { QueueApp } from './fauxqs.ts';

/**
 * Refuses delays that SQS refuses. The engine accepts any, so that a delay over 15 minutes would work locally and fail in
 * production.
 */
export function enforceLimits(app: QueueApp): void {
  const refusals = new WeakMap<object, readonly object[]>();

  app.addHook('preHandler', async (request, reply) => {
    if (!String(request.headers['x-amz-target']).startsWith('AmazonSQS.')) return;
    const refuse = (type: string, message: string) =>
      reply.status(400).header('content-type', 'application/x-amz-json-1.0').send({ __type: type, message });

    const { data, error } = bodySchema.safeParse(request.body);
    if (!data) {
      const path = error.issues[0]?.path.join('.');
      return refuse('com.amazon.coral.service#SerializationException', `${path || 'The body'} cannot be parsed.`);
    }
    const reason = reasonAgainst(data);
    if (reason) return refuse('com.amazonaws.sqs#InvalidParameterValue', reason);
    if (!data.Entries) return;

    const failed = data.Entries.flatMap(entry => {
      const Message = reasonAgainst(entry);
      return Message ? [{ Id: entry.Id, SenderFault: true, Code: 'InvalidParameterValue', Message }] : [];
    });
    if (failed.length === 0) return;
    if (failed.length === data.Entries.length) return reply.send({ Successful: [], Failed: failed });
    refusals.set(request, failed);
    Object.assign(request.body as object, { Entries: data.Entries.filter(entry => !reasonAgainst(entry)) });
    return;
  });

  app.addHook('preSerialization', async (request, _reply, payload: unknown) => {
    const failed = refusals.get(request);
    if (!failed || typeof payload !== 'object' || payload === null) return payload;
    const others = 'Failed' in payload && Array.isArray(payload.Failed) ? payload.Failed : [];
    return { ...payload, Failed: [...others, ...failed] };
  });
}

/** AWS parses these as 32-bit integers before it checks their range. */
const wholeNumbers = {
  DelaySeconds: z.int().optional(),
  VisibilityTimeout: z.int().optional(),
  WaitTimeSeconds: z.int().optional(),
};

const bodySchema = z.object({
  ...wholeNumbers,
  Entries: z.array(z.looseObject({ ...wholeNumbers, Id: z.unknown() })).optional(),
});

/** Returns why SQS refuses a delay. */
function reasonAgainst({ DelaySeconds: delay = 0 }: { DelaySeconds?: number | undefined }): string | undefined {
  if (delay >= 0 && delay <= longestDelay) return undefined;
  return `Value ${delay} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.`;
}

/** The longest delay, in seconds. */
const longestDelay = 900;
