import { createHash, randomUUID } from 'node:crypto';
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';

/** A business event. Its numeric fields must be whole numbers from 1 to 2^53 - 1. */
export type BusinessEvent = { [Name in EventName]: EventOf<Name> }[EventName];

export type EventName = keyof typeof eventFields;

type EventOf<Name extends EventName> = {
  /** The id of the account to which the event belongs. */
  readonly id_conta: string;
  readonly event: Name;
  /** Your id for the event. Emissor delivers only one of several events with the same account, name and id. @default - a random UUID */
  readonly id?: string | undefined;
} & { readonly [Field in (typeof eventFields)[Name][number]]: number };

/** The ids of an event that the queue has accepted. */
export interface SentEvent {
  readonly id: string;
  /** The `webhook-id` header of the event's deliveries. */
  readonly webhookId: string;
  /** The id that the queue assigned to the message. */
  readonly messageId: string;
}

/**
 * The result of publishing one of several events. `failed` means that the queue rejected the event or did not respond. It is
 * safe to publish the event again with this `id`. `code` is an error code from SQS, the network or the SDK.
 */
export type Result =
  | ({ readonly status: 'sent' } & SentEvent)
  | { readonly status: 'failed'; readonly id: string; readonly webhookId: string; readonly code: string }
  | { readonly status: 'invalid'; readonly findings: readonly string[] };

export type Publisher = ReturnType<typeof createPublisher>;

/**
 * Creates a publisher.
 *
 * @param options.queueUrl - the service's output `EventsQueueUrl`
 * @param options.client - the SQS client. The default client uses the environment's settings and waits at most 10 s for a response
 * @throws {TypeError} if `queueUrl` is not a URL
 */
export function createPublisher(options: { readonly queueUrl: string | undefined; readonly client?: SQSClient }) {
  const { queueUrl: QueueUrl = '', client = new SQSClient({ requestHandler: timeouts }) } = options;
  if (!URL.canParse(QueueUrl)) throw new TypeError('queueUrl must be the URL of the events queue.');
  return { publish, publishAll };

  /** Publishes one event. @throws {TypeError} if the event is invalid, or the SDK's error if sending fails */
  async function publish(event: BusinessEvent): Promise<SentEvent> {
    const findings = findingsOf(event);
    if (findings.length > 0) throw new TypeError(`The event was not sent: ${findings.join('; ')}.`);
    const { ids, message } = messageOf(event);
    const { MessageId: messageId = '' } = await client.send(new SendMessageCommand({ QueueUrl, ...message }));
    return { ...ids, messageId };
  }

  /** Publishes events, ten per request. Returns the results in the order of the events. It does not throw for invalid or failed events. */
  async function publishAll(events: readonly BusinessEvent[]): Promise<Result[]> {
    const results: Result[] = [];
    const messages: (ReturnType<typeof messageOf> & { readonly Id: string })[] = [];
    for (const [at, event] of events.entries()) {
      const findings = findingsOf(event);
      if (findings.length > 0) results[at] = { status: 'invalid', findings };
      else messages.push({ Id: String(at), ...messageOf(event) });
    }
    for (let first = 0; first < messages.length; first += 10) {
      const batch = messages.slice(first, first + 10);
      const Entries = batch.map(({ Id, message }) => ({ Id, ...message }));
      const response = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries })).catch(codeOf);
      for (const { Id: own, ids } of batch) {
        const isOwn = ({ Id }: { readonly Id: string | undefined }) => Id === own;
        const messageId = typeof response === 'string' ? undefined : response.Successful?.find(isOwn)?.MessageId;
        const code = typeof response === 'string' ? response : (response.Failed?.find(isOwn)?.Code ?? 'Unanswered');
        results[Number(own)] = messageId ? { status: 'sent', ...ids, messageId } : { status: 'failed', ...ids, code };
      }
    }
    return results;
  }
}

/** Returns the problems in an event, each as `field: reason`. They never contain values from the event. */
export function findingsOf(event: unknown): readonly string[] {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return ['the event must be an object'];
  const { event: name, ...values }: Readonly<Record<string, unknown>> = { ...event };
  const own = Object.entries(eventFields).find(([known]) => known === name)?.[1];
  if (!own) return [`event: must be one of ${Object.keys(eventFields).join(', ')}`];
  const fields = ['id_conta', 'id', ...own];
  return [...new Set([...fields, ...Object.keys(values)])].flatMap(field => {
    const problem = problemOf(field, values[field], fields.includes(field));
    return problem === undefined ? [] : `${field}: ${problem}`;
  });
}

/** Returns the `webhook-id` header of an event's deliveries. */
export function webhookIdOf(account: string, eventName: string, id: string): string {
  const identity = JSON.stringify([account, eventName, id]);
  return `evt_${createHash('sha256').update(identity).digest('base64url').slice(0, 27)}`;
}

function problemOf(field: string, value: unknown, isOwn: boolean): string | undefined {
  if (value === undefined) return isOwn && field !== 'id' ? 'is missing' : undefined;
  if (!isOwn) return 'is not a field of this event';
  const text = texts[field];
  if (text) return typeof value === 'string' && text.pattern.test(value) ? undefined : text.reason;
  return Number.isSafeInteger(value) && Number(value) >= 1 ? undefined : 'must be a whole number from 1 to 2^53 - 1';
}

function messageOf(event: BusinessEvent) {
  const { id_conta: account, event: name, id = randomUUID() } = event;
  const body = JSON.stringify({ ...event, id }).replace(/[\u007f-\uffff]/g, escaped); // SQS rejects U+FFFE and U+FFFF
  const ids = { id, webhookId: webhookIdOf(account, name, id) };
  return { ids, message: { MessageGroupId: account, MessageBody: body } };
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns the code or name of an error, but not its message, which may contain the event. */
function codeOf(error: { readonly name: string; readonly code?: string }): string {
  return error.code ?? error.name;
}

const texts: Readonly<Record<string, { readonly pattern: RegExp; readonly reason: string }>> = {
  id_conta: {
    pattern: /^(?!_smoke$)[A-Za-z0-9_-]{1,64}$/,
    reason: 'must be a string of 1 to 64 letters, digits, _ or -, and not _smoke',
  },
  id: { pattern: /^.{1,128}$/su, reason: 'must be a string of 1 to 128 characters' },
};

const demand = ['id_demanda'] as const;
const proposal = ['id_proposta', 'id_demanda'] as const;

/** The fields of each event in addition to `id_conta`, `event` and `id`. */
const eventFields = {
  'demanda.criada': demand,
  'demanda.cancelada': demand,
  'demanda.finalizada': demand,
  'proposta.recebida': proposal,
  'proposta.alteracao_valor_solicitado': proposal,
  'proposta.contratada': proposal,
  'mensagem.recebida': proposal,
  'reembolso.solicitado': proposal,
} as const;

/** The timeouts in milliseconds. The SDK's default client has none. */
const timeouts = { connectionTimeout: 3_000, socketTimeout: 10_000 };
