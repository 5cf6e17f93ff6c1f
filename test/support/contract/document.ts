import { readFileSync } from 'node:fs';
import path from 'node:path';

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

/**
 * Returns a document whose schemas of answers and events are closed: what is published accepts any field and any value of a list,
 * the service is held to those of today. Of the forms of a schema one must be met.
 */
function closed<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(closed) as Part;
  if (typeof part !== 'object' || part === null) return part;
  const inner = Object.fromEntries(Object.entries(part).map(([name, member]) => [name, closed(member)]));
  return { ...inner, ...ownRules(part) } as Part;
}

function ownRules(schema: OpenSchema): object {
  const { additionalProperties, 'x-extensible-enum': values, 'x-forms': forms } = schema;
  const isNullable = Array.isArray(schema.type) && schema.type.includes('null');
  return {
    ...(typeof additionalProperties === 'object' && { additionalProperties: false }),
    ...(values && { enum: isNullable ? [...values, null] : values }),
    ...(forms && { anyOf: forms.map(onlyForm) }),
  };
}

function onlyForm({ required, optional }: Form): object {
  return { required, propertyNames: { enum: [...required, ...optional] } };
}

interface OpenSchema {
  readonly type?: unknown;
  readonly additionalProperties?: unknown;
  readonly 'x-extensible-enum'?: readonly string[];
  readonly 'x-forms'?: readonly Form[];
}

interface Form {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}
