import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documentFile, documentNames } from './languages.ts';
import { breakingChanges } from './oasdiff.ts';
import { previousDocument } from './previous-documents.ts';

// What integrators may rely on: nothing is removed, renamed or given another type; fields, events and values of lists may be added.

const read = () => JSON.parse(readFileSync(documentFile('webhooks'), 'utf8'));
const changed = (change: (document: ReturnType<typeof read>) => void) => {
  const document = read();
  change(document);
  return document;
};

describe.each(documentNames)('%s.openapi.json', name => {
  it('breaks nothing that the release before promised', async () => {
    const { document, unjudged } = await previousDocument(name);
    const current = JSON.parse(readFileSync(documentFile(name), 'utf8'));
    expect(await breakingChanges(document, current, unjudged)).toEqual([]);
  });
});

describe('a change', () => {
  it.each<[what: string, rule: string, change: Parameters<typeof changed>[0]]>([
    [
      'removes a field of an answer',
      'response-required-property-removed',
      ({ components: { schemas } }) => {
        delete schemas.Webhook.properties.falhando_desde;
        schemas.Webhook.required = schemas.Webhook.required.filter((field: string) => field !== 'falhando_desde');
      },
    ],
    [
      'requires a new field of a request',
      'new-required-request-property',
      ({ components: { schemas } }) => {
        schemas.WebhookRegistration.properties.novo = { type: 'string' };
        schemas.WebhookRegistration.required.push('novo');
      },
    ],
    [
      'removes a field of an event',
      'response-required-property-removed',
      ({ components: { schemas } }) => {
        const event = schemas['Event.proposta.recebida'];
        delete event.properties.link;
        event.required = event.required.filter((field: string) => field !== 'link');
      },
    ],
    [
      'gives a field another type',
      'response-property-type-changed',
      ({ components: { schemas } }) => {
        schemas.Delivery.properties.tentativas = { type: 'string' };
      },
    ],
    [
      'removes an operation',
      'api-path-removed-without-deprecation',
      ({ paths }) => {
        delete paths['/v1/webhooks/{evento}/teste'];
      },
    ],
    [
      'takes a value of a list no more',
      'request-property-enum-value-removed',
      ({ components: { schemas } }) => {
        schemas.ReplayRequest.properties.estado.enum.pop();
      },
    ],
  ])('that %s is told: %s', async (_what, rule, change) => {
    const found = await breakingChanges(read(), changed(change));
    expect(found.map(line => line.split(':')[0])).toContain(rule);
  });

  it('that adds fields, an event and values of lists breaks nothing', async () => {
    const grown = changed(({ components: { schemas }, paths, webhooks }) => {
      schemas.Webhook.properties.novo = { type: 'string' };
      schemas.Webhook.required.push('novo');
      schemas.Delivery.properties.estado['x-extensible-enum'].push('adiada');
      schemas.WebhookRegistration.properties.novo = { type: 'string' };
      schemas.EventName.enum.push('pagamento.confirmado');
      schemas['Event.proposta.recebida'].properties.valor = { type: 'integer' };
      webhooks['pagamento.confirmado'] = webhooks['demanda.criada'];
      paths['/v1/novo'] = paths['/v1/webhooks'];
    });
    expect(await breakingChanges(read(), grown)).toEqual([]);
  });
});
