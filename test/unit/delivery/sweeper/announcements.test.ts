import { expect, it } from 'vitest';
import { makeOperatorStore } from '../../../../ops/stores/operator-store.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { aResponse, noon } from '../builders.ts';

const sample = new URL('../../../../docs/samples/operator/notify-owner.mjs', import.meta.url).href;
const day = 24 * 60 * 60_000;
const iso = (moment: number) => new Date(moment).toISOString();

it('the sample notifies the owner of a webhook about each announcement, and ignores unknown accounts', async () => {
  const stage = makeStage([]); // one attempt each
  await stage.register();
  const attempt = async (status: number) => {
    stage.answers.push(aResponse(status));
    stage.publishEvent();
    await stage.pass(0);
  };
  const operator = makeOperatorStore({ dynamo: stage.dynamo, table: 'Webhooks', now: stage.now });
  await attempt(500);
  await stage.run(noon + day);
  const reactivate = () => operator.reactivate('conta-1', 'demanda.criada');
  for (const change of [() => attempt(500), () => attempt(200), () => attempt(410), reactivate]) {
    await change();
    await stage.sweep();
  }
  const names = ['type', 'since', 'reason', 'lastResult', 'deliveryId'] as const;
  const [, second, third, fourth] = stage.posts.map(({ id }) => id);
  expect(stage.announced().map(notice => names.map(name => notice[name]))).toEqual([
    ['webhook.failing', iso(noon), null, 'http', second],
    ['webhook.recovered', iso(noon), null, 'entregue', third],
    ['webhook.suspended', iso(noon + day), 'gone', 'http', fourth],
    ['webhook.reactivated', iso(noon + day), null, null, null],
  ]);

  const addresses: Record<string, string> = { 'conta-1': 'ana@acme.com.br' };
  const sent: string[] = [];
  const { createHandler } = await import(sample);
  const handler = createHandler(
    async (account: string) => addresses[account],
    async (...[address, text]: string[]) => void sent.push(`${address}: ${text}`),
  );
  await handler(asSnsInvokes(stage.published()));
  const texts = [
    `nenhuma tentativa deu certo desde ${iso(noon)}`,
    `as entregas voltaram a dar certo; falhavam desde ${iso(noon)}`,
    `está suspenso desde ${iso(noon + day)}`,
    `está ativo de novo desde ${iso(noon + day)}`,
  ];
  expect(sent).toEqual(texts.map(text => `ana@acme.com.br: Webhook demanda.criada: ${text}`));
  delete addresses['conta-1'];
  await handler(asSnsInvokes(stage.published()));
  expect(sent).toHaveLength(4);
});

it('a sweep publishes the other announcements if one fails, then fails, and a later sweep publishes the rest', async () => {
  const stage = makeStage([]);
  const accounts = ['conta-1', 'conta-2'];
  for (const accountId of accounts) {
    await stage.register({ accountId });
    stage.answers.push(aResponse(410));
    stage.publishEvent({ id_conta: accountId });
    await stage.pass(0);
  }
  let calls = 0;
  stage.faults.outcomeOf = ({ service }) => (service === 'sns' && calls++ < 3 ? 'failed' : 'fine'); // the SDK makes three tries
  await expect(stage.sweep()).rejects.toThrow('The service has failed.');
  expect(stage.announced()).toHaveLength(1);
  await stage.sweep();
  expect(new Set(stage.announced().map(({ accountId }) => accountId))).toEqual(new Set(accounts));
  expect(stage.announced()).toHaveLength(2);
});

/** Returns the event of an invocation, in which SNS uses other attribute names than in a call. */
function asSnsInvokes(messages: ReturnType<Stage['published']>) {
  const Records = messages.map(({ Message, Subject, MessageAttributes = {} }) => {
    const attributes = Object.entries(MessageAttributes).map(([name, { DataType, StringValue }]) => [
      name,
      { Type: DataType, Value: StringValue },
    ]);
    return { EventSource: 'aws:sns', Sns: { Message, Subject, MessageAttributes: Object.fromEntries(attributes) } };
  });
  return { Records };
}
