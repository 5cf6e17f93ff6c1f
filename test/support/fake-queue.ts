import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import * as z from 'zod';
import { closeNow, listen } from '../../tools/support/listen.ts';

/** A message as it was sent to the queue. */
interface QueuedMessage {
  readonly body: string;
  readonly group: string | undefined;
}

/** The fate of a message: the queue takes it, refuses it with a code, or keeps silent about it. */
type Verdict = 'taken' | 'silent' | { readonly code: string; readonly senderFault: boolean };

/** The fate of a request as a whole: its messages are judged, it fails with a status and code, or it is never answered. */
type Reception = 'judged' | 'unanswered' | { readonly status: number; readonly code: string };

/** The behaviour of a fake queue. */
export interface QueueBehaviour {
  /** `time` is how often a message with this body was sent before this one. Default: everything is taken. */
  readonly judge?: (message: QueuedMessage, time: number) => Verdict;
  /** `time` counts requests from 0. Default: all are judged. */
  readonly receive?: (time: number) => Reception;
  /** Receives what the queue has taken and returns its message id; by default one is made. */
  readonly forward?: (message: QueuedMessage) => Promise<string>;
}

/** A queue of SQS on this machine that misbehaves as told. It knows one operation: `SendMessageBatch`. */
export interface FakeQueue {
  readonly url: string;
  /** The messages of each request, also of those that failed. */
  readonly requests: readonly (readonly QueuedMessage[])[];
  /** The most requests that were under way at once. */
  readonly mostAtOnce: number;
  stop(): Promise<void>;
}

/** Starts a fake queue on a free port. */
export async function startFakeQueue({
  judge = () => 'taken',
  receive = () => 'judged',
  forward = async () => randomUUID(),
}: QueueBehaviour = {}): Promise<FakeQueue> {
  const requests: (readonly QueuedMessage[])[] = [];
  const times = new Map<string, number>();
  const type = { 'content-type': 'application/x-amz-json-1.0' };
  let underWay = 0;
  let mostAtOnce = 0;

  const judged = async (entry: z.output<typeof entrySchema>) => {
    const message = queued(entry);
    const time = times.get(message.body) ?? 0;
    times.set(message.body, time + 1);
    const verdict = judge(message, time);
    if (verdict === 'silent') return {};
    if (verdict !== 'taken')
      return { Failed: { Id: entry.Id, Code: verdict.code, SenderFault: verdict.senderFault, Message: message.body } };
    const MD5OfMessageBody = createHash('md5').update(message.body).digest('hex');
    return { Successful: { Id: entry.Id, MessageId: await forward(message), MD5OfMessageBody } };
  };

  const server = createServer(async (request, response) => {
    underWay += 1;
    mostAtOnce = Math.max(mostAtOnce, underWay);
    response.once('close', () => {
      underWay -= 1;
    });
    const { success, data } = requestSchema.safeParse(JSON.parse(await read(request)));
    if (!success) {
      response.writeHead(400, type).end(JSON.stringify({ __type: 'InvalidMessageContents' }));
      return;
    }
    const { Entries } = data;
    requests.push(Entries.map(queued));
    const reception = receive(requests.length - 1);
    if (reception === 'unanswered') return;
    if (reception !== 'judged') {
      // SQS may repeat in its text what it was sent: publishers must not.
      response
        .writeHead(reception.status, type)
        .end(JSON.stringify({ __type: reception.code, message: Entries[0]?.MessageBody }));
      return;
    }
    const results = await Promise.all(Entries.map(judged));
    const answer = {
      Successful: results.flatMap(({ Successful = [] }) => Successful),
      Failed: results.flatMap(({ Failed = [] }) => Failed),
    };
    response.writeHead(200, type).end(JSON.stringify(answer));
  });
  const port = await listen(server);

  return {
    url: `http://127.0.0.1:${port}/000000000000/events`,
    requests,
    get mostAtOnce() {
      return mostAtOnce;
    },
    stop: () => closeNow(server),
  };
}

/** The demands of SQS on a request, as far as publishers could miss them: ten entries, and characters that it takes. */
const entrySchema = z.object({
  Id: z.string(),
  MessageBody: z.string().regex(/^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]+$/u),
  MessageGroupId: z.string().optional(),
});
const requestSchema = z.object({ QueueUrl: z.string(), Entries: z.array(entrySchema).min(1).max(10) });

function queued({ MessageBody: body, MessageGroupId: group }: z.output<typeof entrySchema>): QueuedMessage {
  return { body, group };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
