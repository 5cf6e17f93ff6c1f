import { readFileSync } from 'node:fs';
import path from 'node:path';
import { closed } from './closed.ts';

/** The OpenAPI documents, as they are committed, but for their schemas of answers and events: those are closed. */
export const documents: Readonly<Record<Host, OpenApiDocument>> = {
  auth: read('auth.openapi.json'),
  base: read('webhooks.openapi.json'),
};

/** The two hosts. */
export type Host = 'auth' | 'base';

/** The parts of the document that the contract test reads. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, PathItem>>;
  /** Of {base_url} alone. */
  readonly webhooks?: Readonly<Record<string, { readonly post: { readonly parameters: readonly Parameter[] } }>>;
  readonly components: {
    readonly headers: Readonly<Record<string, HeaderObject>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
  readonly 'x-not-found': ResponseObject;
}

export type PathItem = Readonly<Record<string, Method>> & {
  readonly 'x-method-not-allowed': ResponseObject;
};

export interface Method {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[] | undefined>>[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
}

export interface ResponseObject {
  readonly headers?: Readonly<Record<string, HeaderObject | Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface HeaderObject {
  readonly required: boolean;
  readonly schema: object;
}

interface MediaType {
  readonly examples?: Readonly<Record<string, { readonly value: Readonly<Record<string, unknown>> }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
}

interface Reference {
  readonly $ref: string;
}

function read(file: string): OpenApiDocument {
  return closed(JSON.parse(readFileSync(path.join(import.meta.dirname, '../../../docs/api', file), 'utf8')));
}

/** Returns the response or header that a part of the document is or refers to, and the JSON Pointer that leads there. */
export function resolved<Part extends object>(
  host: Host,
  kind: 'responses' | 'headers',
  part: Part | Reference,
  pointer: string,
): { part: Part; pointer: string } {
  if (!('$ref' in part)) return { part, pointer };
  const target = documents[host].components[kind][part.$ref.split('/').at(-1) ?? ''];
  if (!target) throw new Error(`The document has no ${part.$ref}.`);
  return { part: target as object as Part, pointer: part.$ref };
}

/** Returns a JSON Pointer into the document, as a URI fragment (RFC 6901 section 6). */
export function pointerTo(...names: readonly string[]): string {
  return `#/${names.map(name => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
}
