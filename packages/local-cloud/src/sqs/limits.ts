import * as z from 'zod';
import type { QueueApp } from './fauxqs.ts';

/**
 * Refuses delays that SQS refuses. The engine accepts any, so that a delay over 15 minutes would work locally and fail in
 * production.
 */
export function enforceLimits(app: QueueApp): void {
  app.addHook('preHandler', async (request, reply) => {
    const parsed = bodySchema.safeParse(request.body);
    if (!parsed.success || !String(request.headers['x-amz-target']).startsWith('AmazonSQS.')) return;
    const { Entries: entries, ...own } = parsed.data;
    const refuse = (type: string, message: string) =>
      reply.status(400).header('content-type', 'application/x-amz-json-1.0').send({ __type: type, message });

    const notWhole = [own, ...(entries ?? [])].map(fractional).find(name => name !== undefined);
    if (notWhole) return refuse('com.amazon.coral.service#SerializationException', `${notWhole} must be an integer.`);
    const reason = outOfRange(own);
    if (reason) return refuse('com.amazonaws.sqs#InvalidParameterValue', reason);
    if (!entries) return;

    const failed = entries.flatMap(entry => {
      const message = outOfRange(entry);
      return message
        ? [{ Id: entry.Id, SenderFault: true as const, Code: 'InvalidParameterValue', Message: message }]
        : [];
    });
    if (failed.length === 0) return;
    if (failed.length === entries.length) return reply.send({ Successful: [], Failed: failed });
    refusals.set(request, failed);
    Object.assign(request.body as object, { Entries: entries.filter(entry => !outOfRange(entry)) });
    return;
  });

  app.addHook('preSerialization', async (request, _reply, payload: unknown) => {
    const failed = refusals.get(request);
    if (!failed || typeof payload !== 'object' || payload === null) return payload;
    const others = 'Failed' in payload && Array.isArray(payload.Failed) ? payload.Failed : [];
    return { ...payload, Failed: [...others, ...failed] };
  });
}

const values = {
  DelaySeconds: z.unknown().optional(),
  VisibilityTimeout: z.unknown().optional(),
  WaitTimeSeconds: z.unknown().optional(),
};

const bodySchema = z.object({ ...values, Entries: z.array(z.looseObject({ ...values, Id: z.unknown() })).optional() });

/** AWS parses these as 32-bit integers before it checks their range. */
function fractional({ DelaySeconds, VisibilityTimeout, WaitTimeSeconds }: Values): string | undefined {
  return Object.entries({ DelaySeconds, VisibilityTimeout, WaitTimeSeconds }).find(
    ([, value]) => value !== undefined && !Number.isInteger(value),
  )?.[0];
}

function outOfRange({ DelaySeconds: delay }: Values): string | undefined {
  if (typeof delay !== 'number' || (delay >= 0 && delay <= longestDelay)) return undefined;
  return `Value ${delay} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.`;
}

const refusals = new WeakMap<object, readonly FailedEntry[]>();

type Values = z.output<z.ZodObject<typeof values>>;

/** The longest delay, in seconds. */
const longestDelay = 900;

/** An entry of a batch that SQS would refuse. */
interface FailedEntry {
  readonly Id: unknown;
  readonly SenderFault: true;
  readonly Code: string;
  readonly Message: string;
}
