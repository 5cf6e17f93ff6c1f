import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documentFile, documentNames } from './languages.ts';
import { breakingChanges } from './oasdiff.ts';

// Integrators rely on this contract: changes may add fields, events and enum values, but must not remove, rename or retype them.

const read = () => JSON.parse(readFileSync(documentFile('webhooks'), 'utf8'));
const changed = (change: (document: ReturnType<typeof read>) => void) => {
  const document = read();
  change(document);
  return document;
};

describe.each(documentNames)('%s.openapi.json', name => {
  it('has no breaking change since the recorded document', async () => {
    const file = new URL(`recorded/${name}.openapi.json`, import.meta.url);
    const recorded = JSON.parse(readFileSync(file, 'utf8'));
    const current = JSON.parse(readFileSync(documentFile(name), 'utf8'));
    expect(await breakingChanges(recorded, current)).toEqual([]);
  });
});

describe('a change', () => {
  it('is reported if it removes a field of an event', async () => {
    const shrunk = changed(({ components: { schemas } }) => {
      const event = schemas['Event.proposta.recebida'];
      delete event.properties.link;
      event.required = event.required.filter((field: string) => field !== 'link');
    });
    const changes = await breakingChanges(read(), shrunk);
    expect(changes.map(line => line.split(':')[0])).toContain('response-required-property-removed');
  });

  it('is not reported if it adds fields, events and enum values', async () => {
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
