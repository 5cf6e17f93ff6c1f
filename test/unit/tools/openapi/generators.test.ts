import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { artefacts } from '../../../../tools/openapi/artefacts.ts';
import { removeStageDocuments, writeStageDocuments } from '../../../../tools/openapi/stage-documents.ts';

// The forms that generators of clients cannot read, and the promises that their clients rely on. The gate generates such clients.

const documents = [...artefacts()]
  .filter(([file]) => file.endsWith('.openapi.json'))
  .map(([file, text]) => [file, JSON.parse(text)] as const);

const requests = ['EventName', 'PresentedToken', 'ReplayRequest', 'SecretRotation', 'WebhookRegistration'];
const isOfRequests = (name: string) => requests.includes(name) || /(?:Replacement|^TokenRequest)$/.test(name);
/** {auth_url} ignores fields that it does not know (RFC 6749 section 3.2). */
const isForm = (name: string) => ['PresentedToken', 'TokenRequest'].includes(name);

describe.each(documents)('%s', (_file, document) => {
  const schemas = Object.entries<Schema>(document.components.schemas);
  const parts = partsOf(document.components.schemas);

  it('has one server, which is a variable, and no server for a path', () => {
    expect(document.servers).toMatchObject([{ url: '{url}', variables: { url: {} } }]);
    expect(Object.values<object>(document.paths).filter(item => 'servers' in item)).toEqual([]);
  });

  it('has no union with null, no constant boolean, and no answer that is a union', () => {
    expect(parts.filter(part => part.type === 'null' || typeof part.const === 'boolean')).toEqual([]);
    const nullable = parts.filter(({ type }) => Array.isArray(type));
    expect(nullable.filter(part => part['x-nullable'] !== true)).toEqual([]);
    const unions = schemas.filter(([, schema]) => partsOf(schema).some(part => part.anyOf ?? part.oneOf ?? part.allOf));
    expect(unions.map(([name]) => name).filter(name => !isOfRequests(name))).toEqual([]);
  });

  it('names every body schema, without constructor names', () => {
    const bodies = partsOf([document.paths, document.components.responses]).flatMap(({ content = {} }) =>
      Object.values(content).map(({ schema }) => schema),
    );
    expect(bodies.length).toBeGreaterThan(20);
    expect(bodies.filter(schema => schema.$ref === undefined)).toEqual([]);
    expect(schemas.map(([name]) => name).filter(name => name.startsWith('New'))).toEqual([]);
  });

  it('allows additional fields and list values in responses, additional fields in forms, and no others in requests', () => {
    for (const [name, schema] of schemas) {
      const objects = partsOf(schema).filter(({ properties }) => properties);
      const expected = isOfRequests(name) && !isForm(name) ? false : { description: expect.any(String) };
      for (const part of objects) expect(part.additionalProperties, name).toEqual(expected);
      if (isOfRequests(name)) continue;
      const lists = partsOf(schema).filter(part => part.enum);
      expect(lists, name).toEqual([]);
    }
  });
});

describe('the rules that Redocly recommends', async () => {
  const config = await createConfig({ extends: ['recommended'] });

  it.each(documents)('hold for %s, warnings included', async (file, document) => {
    const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: file, config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  it('are applied', async () => {
    const broken = { openapi: '3.1.1', info: { title: 'T', version: '1' }, paths: { '/a': { get: {} } } };
    const problems = await lintFromString({ source: JSON.stringify(broken), absoluteRef: 'broken.json', config });
    expect(problems.map(({ ruleId }) => ruleId)).toContain('operation-summary');
  });
});

it('a stage’s documents have its URLs instead of the examples, and their removal keeps files that another process changed', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-stage-documents-'));
  const urls = { auth: 'http://127.0.0.1:4000/', base: 'https://api.example.net/x' };
  try {
    const written = writeStageDocuments(folder, urls);
    const files = [...written.keys()];
    const [auth, webhooks] = files.map(file => JSON.parse(readFileSync(file, 'utf8')));
    expect(auth.servers[0].variables.url.default).toBe('http://127.0.0.1:4000');
    expect(webhooks.servers[0].variables.url.default).toBe('https://api.example.net/x');
    const tokenUrl = 'http://127.0.0.1:4000/oauth/v1/token';
    expect(webhooks.components.securitySchemes.login.flows.password).toMatchObject({ tokenUrl, refreshUrl: tokenUrl });
    expect(JSON.stringify([auth, webhooks])).not.toContain('emissor.example');

    const ofRun = writeStageDocuments(folder, { ...urls, auth: 'http://127.0.0.1:5000' }, 'run.');
    expect(files.map(file => readFileSync(file, 'utf8'))).toEqual([...written.values()]);
    const edited = path.join(folder, 'run.auth.openapi.json');
    writeFileSync(edited, '{}');
    rmSync(files[0] ?? '');
    for (const documents of [written, ofRun]) removeStageDocuments(documents);
    expect(readdirSync(folder)).toEqual(['run.auth.openapi.json']);
    expect(readFileSync(edited, 'utf8')).toBe('{}');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('the commands of the quick start are next to their operations', () => {
  const samples = documents.flatMap(([, { paths }]) =>
    Object.values<Record<string, { operationId: string; 'x-codeSamples'?: [{ source: string }] }>>(paths)
      .flatMap(item => Object.values(item))
      .flatMap(({ operationId, 'x-codeSamples': own }) => (own ? [[operationId, own[0].source] as const] : [])),
  );
  expect(samples.map(([id]) => id).sort()).toEqual(['issueToken', 'listDeliveries', 'registerWebhook', 'sendTest']);
  const page = readFileSync(path.join(import.meta.dirname, '../../../../docs/en/quick-start.md'), 'utf8');
  for (const [, source] of samples) expect(page).toContain(source);
});

interface Schema {
  readonly [keyword: string]: unknown;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** Returns a part of a document, and all that is within it. */
function partsOf(value: unknown): Schema[] {
  if (typeof value !== 'object' || value === null) return [];
  return [{ ...value }, ...Object.values(value).flatMap(partsOf)];
}
