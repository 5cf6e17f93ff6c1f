import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { makeTopics } from '../sns.ts';
import type { Sent } from '../sqs/queue.ts';
import { callerOf, type Emulator, errorResponse, type Interceptor, intercept, sendXml, xmlError } from './emulator.ts';
import { listenOnLoopback } from './loopback-server.ts';

/**
 * Starts an SNS emulator on a free port of 127.0.0.1. It uses the AWS Query protocol (form requests, XML responses).
 *
 * @param onPublish - receives the topic and the subject of each notification
 * @param send - sends a message to a subscribed queue
 */
export async function startSns(
  interceptors: readonly Interceptor[],
  onPublish: (topic: string, subject: string) => void,
  send: (queueArn: string, message: Sent) => void,
): Promise<Emulator> {
  const topics = makeTopics(
    (topicArn, { Subject = '' }) => onPublish(topicArn.split(':').at(-1) ?? '', Subject),
    (queueArn, { Message = '', MessageAttributes: attributes }) => send(queueArn, { body: Message, attributes }),
  );
  const server = createServer((request, response) => void respond(request, response));
  const { port, stop } = await listenOnLoopback(server);
  return { endpoint: `http://127.0.0.1:${port}`, stop };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const form = new URLSearchParams(await text(request));
      const [operation, input] = [form.get('Action') ?? '', inputOf(form)];
      const caller = callerOf(request.headers.authorization);
      intercept(interceptors, { service: 'sns', operation, input, caller });
      const fields = Object.entries(topics.perform(operation, input)).map(
        ([name, value]) => `<${name}>${value}</${name}>`,
      );
      sendXml(
        response,
        200,
        `<${operation}Response><${operation}Result>${fields.join('')}</${operation}Result></${operation}Response>`,
      );
    } catch (error) {
      const failure = errorResponse(error, 'InvalidParameter');
      sendXml(response, failure.status, xmlError(failure));
    }
  }
}

/** Parses the input of an operation. A form contains plain fields and the entries of two maps. */
function inputOf(form: URLSearchParams): Partial<Record<string, unknown>> {
  const attributes = entriesOf(form, 'Attributes.entry', 'key').map(([name, at]) => [name, form.get(`${at}.value`)]);
  const messageAttributes = entriesOf(form, 'MessageAttributes.entry', 'Name').map(([name, at]) => {
    const value = { DataType: form.get(`${at}.Value.DataType`), StringValue: form.get(`${at}.Value.StringValue`) };
    return [name, value];
  });
  return {
    ...Object.fromEntries([...form].filter(([name]) => !name.includes('.'))),
    Attributes: Object.fromEntries(attributes),
    MessageAttributes: Object.fromEntries(messageAttributes),
  };
}

/** Returns the key and the form prefix for each map entry. */
function entriesOf(form: URLSearchParams, map: string, key: string): [string, string][] {
  const entries: [string, string][] = [];
  for (let at = 1; ; at += 1) {
    const name = form.get(`${map}.${at}.${key}`);
    if (name === null) return entries;
    entries.push([name, `${map}.${at}`]);
  }
}
