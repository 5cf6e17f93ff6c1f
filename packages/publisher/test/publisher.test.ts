import { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { type BusinessEvent, createPublisher, findingsOf, webhookIdOf } from '../src/publisher.ts';

const queueUrl = 'https://sqs.us-east-1.amazonaws.com/111122223333/events';

interface Entry {
  readonly Id?: string;
  readonly MessageBody: string;
  readonly MessageGroupId: string;
}

/** Creates a publisher with a stub queue. Also returns the entries of each request. */
function publisherTo(respond: (entries: readonly Entry[]) => object = acceptAll) {
  const requests: (readonly Entry[])[] = [];
  const client = new SQSClient({ region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } });
  client.middlewareStack.add(
    () => async args => {
      const input = args.input as Entry & { readonly Entries?: readonly Entry[] };
      const entries = input.Entries ?? [input];
      requests.push(entries);
      return { response: {}, output: { $metadata: {}, ...respond(entries) } };
    },
    { step: 'initialize' },
  );
  return { requests, ...createPublisher({ queueUrl, client }) };
}

function acceptAll(entries: readonly Entry[]): object {
  return { MessageId: 'message-0', Successful: entries.map(({ Id }) => ({ Id, MessageId: `message-${Id}` })) };
}

const event = (id_demanda: number): BusinessEvent => ({
  id_conta: `conta-${id_demanda % 3}`,
  event: 'demanda.criada',
  id_demanda,
  id: `demand-${id_demanda}`,
});
const events = (count: number) => Array.from({ length: count }, (_, at) => event(at + 1));
const webhookIdOfDemand = (id_demanda: number) =>
  webhookIdOf(`conta-${id_demanda % 3}`, 'demanda.criada', `demand-${id_demanda}`);

describe('publish', () => {
  it('sends the event in the message group of its account and returns its ids', async () => {
    const { publish, requests } = publisherTo();
    expect(await publish(event(7))).toEqual({
      id: 'demand-7',
      webhookId: webhookIdOfDemand(7),
      messageId: 'message-0',
    });
    expect(requests).toMatchObject([[{ QueueUrl: queueUrl, MessageGroupId: 'conta-1' }]]);
    expect(JSON.parse(requests[0]?.[0]?.MessageBody ?? '')).toEqual(event(7));
  });

  it('generates a missing id', async () => {
    const { publish, requests } = publisherTo();
    const { id, webhookId } = await publish({ id_conta: 'acme', event: 'demanda.criada', id_demanda: 7 });
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(requests[0]?.[0]?.MessageBody ?? '').id).toBe(id);
    expect(webhookId).toBe(webhookIdOf('acme', 'demanda.criada', id));
  });

  it.each(['ação-é', '💧', '\ufffe\uffff', '\ud83d', '\u007f\u2028'])('sends the id %j as ASCII', async id => {
    const { publish, requests } = publisherTo();
    await publish({ ...event(7), id });
    expect(requests[0]?.[0]?.MessageBody).toMatch(/^[ -~]+$/);
    expect(JSON.parse(requests[0]?.[0]?.MessageBody ?? '').id).toBe(id);
  });

  it('throws for an invalid event and does not send it', async () => {
    const { publish, requests } = publisherTo();
    await expect(publish({ ...event(0), id: '' })).rejects.toThrow(
      new TypeError(
        'The event was not sent: id: must be a string of 1 to 128 characters; id_demanda: must be a whole number from 1 to 2^53 - 1.',
      ),
    );
    expect(requests).toEqual([]);
  });

  it("throws the client's error", async () => {
    const error = new Error('no permission');
    const { publish } = publisherTo(() => {
      throw error;
    });
    await expect(publish(event(7))).rejects.toBe(error);
  });
});

describe('publishAll', () => {
  it.each([0, 1, 10, 11, 95])('sends %i events, ten per request, and returns the results in order', async count => {
    const { publishAll, requests } = publisherTo();
    expect(await publishAll(events(count))).toEqual(
      events(count).map(({ id, id_demanda }, at) => ({
        status: 'sent',
        id,
        webhookId: webhookIdOfDemand(id_demanda),
        messageId: `message-${at}`,
      })),
    );
    expect(requests).toHaveLength(Math.ceil(count / 10));
    expect(Math.max(0, ...requests.map(({ length }) => length))).toBe(Math.min(count, 10));
    const sent = requests.flat().map(({ MessageBody, MessageGroupId }) => [JSON.parse(MessageBody), MessageGroupId]);
    expect(sent).toEqual(events(count).map(one => [one, one.id_conta]));
  });

  it('returns a separate result for each event', async () => {
    const { publishAll } = publisherTo(entries => ({
      Successful: entries.slice(2).map(({ Id }) => ({ Id, MessageId: `message-${Id}` })),
      Failed: [{ Id: entries[0]?.Id, Code: 'InvalidMessageContents', SenderFault: true }],
    }));
    const input = events(4).map((one, at) => (at === 1 ? { ...one, id_demanda: 0 } : one));
    expect(await publishAll(input)).toMatchObject([
      { status: 'failed', id: 'demand-1', webhookId: webhookIdOfDemand(1), code: 'InvalidMessageContents' },
      { status: 'invalid', findings: ['id_demanda: must be a whole number from 1 to 2^53 - 1'] },
      { status: 'failed', id: 'demand-3', code: 'Unanswered' },
      { status: 'sent', id: 'demand-4', messageId: 'message-3' },
    ]);
  });

  it.each([
    [Object.assign(new Error('canary-7f3a'), { name: 'AccessDenied' }), 'AccessDenied'],
    [Object.assign(new Error('canary-7f3a'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  ])('continues after a failed request, and returns only the error code: %s', async (error, code) => {
    let requests = 0;
    const { publishAll } = publisherTo(entries => {
      requests += 1;
      if (requests === 1) throw error;
      return acceptAll(entries);
    });
    const results = await publishAll(events(12));
    expect(results.slice(0, 10)).toMatchObject(Array(10).fill({ status: 'failed', code }));
    expect(results.slice(10)).toMatchObject([{ status: 'sent' }, { status: 'sent' }]);
    expect(JSON.stringify(results)).not.toContain('canary-7f3a');
  });
});

describe('findingsOf', () => {
  const names =
    'demanda.criada, demanda.cancelada, demanda.finalizada, proposta.recebida, proposta.alteracao_valor_solicitado, proposta.contratada, mensagem.recebida, reembolso.solicitado';
  const account = 'id_conta: must be a string of 1 to 64 letters, digits, _ or -, and not _smoke';
  const id = 'id: must be a string of 1 to 128 characters';
  const number = 'id_demanda: must be a whole number from 1 to 2^53 - 1';

  it.each<[title: string, value: unknown, findings: readonly string[]]>([
    ['a valid event', event(7), []],
    ['an absent id', { ...event(7), id: undefined }, []],
    ['an id of 128 characters outside the BMP', { ...event(7), id: '💧'.repeat(128) }, []],
    ['null', null, ['the event must be an object']],
    ['a list', [event(7)], ['the event must be an object']],
    ['the name of an inherited property', { ...event(7), event: 'constructor' }, [`event: must be one of ${names}`]],
    ['an object without an event name', {}, [`event: must be one of ${names}`]],
    ['an event without an account', { ...event(7), id_conta: undefined }, ['id_conta: is missing']],
    ['the account of smoke tests', { ...event(7), id_conta: '_smoke' }, [account]],
    ['an account that ends with a line break', { ...event(7), id_conta: 'acme\n' }, [account]],
    ['an account of 65 characters', { ...event(7), id_conta: 'a'.repeat(65) }, [account]],
    ['an id of 129 characters', { ...event(7), id: '💧'.repeat(129) }, [id]],
    ['an id that is a number', { ...event(7), id: 5 }, [id]],
    ['a number as a string', { ...event(7), id_demanda: '7' }, [number]],
    ['a number that is too large', { ...event(7), id_demanda: 2 ** 53 }, [number]],
    ['a missing field', { ...event(7), event: 'proposta.recebida' }, ['id_proposta: is missing']],
    ['a misspelt id', { ...event(7), ID: 'x' }, ['ID: is not a field of this event']],
    ['a field of another event', { ...event(7), id_proposta: 20 }, ['id_proposta: is not a field of this event']],
    ['an undefined field', { ...event(7), canal: undefined }, []],
  ])('returns the problems in %s', (_title, value, findings) => {
    expect(findingsOf(value)).toEqual(findings);
  });
});

it('webhookIdOf returns the same hash as OpenSSL for a JSON list of account, event and id', () => {
  // printf '["acme","demanda.criada","\xf0\x9f\x92\xa7"]' | openssl dgst -sha256 -binary | base64
  expect(webhookIdOf('acme', 'demanda.criada', '💧')).toBe('evt_po2XwIv1yKlxspsyzM9c-pVGsHE');
});

it.each(['', 'events', undefined])('createPublisher throws for the queueUrl %j', url => {
  expect(() => createPublisher({ queueUrl: url })).toThrow(TypeError);
});
