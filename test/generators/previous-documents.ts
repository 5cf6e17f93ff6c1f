import { readFileSync } from 'node:fs';
import path from 'node:path';
import { command } from './commands.ts';
import type { DocumentName } from './languages.ts';

/** The part of an OpenAPI document that is compared. */
export interface Document {
  readonly servers?: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly webhooks?: Readonly<Record<string, PathItem>>;
}

/** A document of the release before, and what is known of it. */
export interface Previous {
  readonly document: Document;
  /** Rules of oasdiff that a change of form breaks, and no client: without a level for them all of it would be reported. */
  readonly unjudged: readonly string[];
}

/** Returns a document as the release before published it. @throws where the history lacks that release. */
export async function previousDocument(name: DocumentName): Promise<Previous> {
  const { commit } = JSON.parse(readFileSync(path.join(import.meta.dirname, '../release/previous.json'), 'utf8'));
  const files = (await command(['git', 'ls-tree', '--name-only', commit, 'docs/api/'])).split('\n');
  const own = `docs/api/${name}.openapi.json`;
  if (files.includes(own))
    return { document: JSON.parse(await command(['git', 'show', `${commit}:${own}`])), unjudged: [] };
  const both: Document = JSON.parse(await command(['git', 'show', `${commit}:docs/api/emissor.openapi.json`]));
  return { document: ofHost(both, name), unjudged: rewritten };
}

/**
 * Release 0.2.0 described both hosts in one document: a path has its servers, those of {base_url} are the document's. Its bodies
 * are unions, whose parts the documents of a host name; nothing of what is sent or taken has changed with that.
 */
function ofHost({ paths, webhooks, ...rest }: Document, name: DocumentName): Document {
  const baseUrl = rest.servers?.[0]?.url;
  const own = Object.entries(paths).filter(
    ([, { servers }]) => (servers?.[0]?.url === baseUrl) === (name === 'webhooks'),
  );
  return {
    ...rest,
    servers: [],
    paths: Object.fromEntries(own.map(([pattern, { servers: _, ...item }]) => [pattern, item])),
    ...(name === 'webhooks' && webhooks && { webhooks }),
  };
}

interface PathItem {
  readonly servers?: readonly { readonly url: string }[];
  readonly post?: { readonly requestBody?: { readonly content: object } };
}

const rewritten = [
  'new-required-request-property', // `grant_type` was in both parts of a union
  'request-body-one-of-removed',
  'request-body-type-changed',
  'request-property-list-of-types-narrowed', // `anyOf` with null
  'request-property-pattern-added',
  'response-body-type-changed', // `allOf` and `oneOf` of refusals
  'response-property-became-nullable', // `anyOf` with null
  'response-property-const-removed', // lists are open
  'response-property-type-changed',
];
