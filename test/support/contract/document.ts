import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The OpenAPI document, as it is committed. */
export const document: OpenApiDocument = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../../docs/api/emissor.openapi.json'), 'utf8'),
);

/** The two hosts. */
export type Host = 'auth' | 'base';

/** The parts of the document that the contract test reads. */
export interface OpenApiDocument {
  readonly servers: readonly [{ readonly url: string }];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly parameters: readonly Reference[] } }>>;
  readonly components: {
    readonly headers: Readonly<Record<string, HeaderObject>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
  readonly 'x-not-found': Readonly<Record<Host, ResponseObject>>;
}

export type PathItem = Readonly<Record<string, Method>> & {
  readonly servers: readonly [{ readonly url: string }];
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

/** Returns the host of a path of the document. */
export function hostOf({ servers }: PathItem): Host {
  return servers[0].url === document.servers[0].url ? 'base' : 'auth';
}

/** Returns the response or header that a part of the document is or refers to, and the JSON Pointer that leads there. */
export function resolved<Part extends object>(
  kind: 'responses' | 'headers',
  part: Part | Reference,
  pointer: string,
): { part: Part; pointer: string } {
  if (!('$ref' in part)) return { part, pointer };
  const target = document.components[kind][part.$ref.split('/').at(-1) ?? ''];
  if (!target) throw new Error(`The document has no ${part.$ref}.`);
  return { part: target as object as Part, pointer: part.$ref };
}

/** Returns a JSON Pointer into the document, as a URI fragment (RFC 6901 section 6). */
export function pointerTo(...names: readonly string[]): string {
  return `#/${names.map(name => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
}
