import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export type Host = 'auth' | 'base';

/**
 * The published OpenAPI documents with resolved references. Here, the schemas of responses and events reject unknown fields and
 * values, because the current service must send none.
 */
export const documents: Readonly<Record<Host, OpenApiDocument>> = {
  auth: read('auth.openapi.json'),
  base: read('webhooks.openapi.json'),
};

/** The parts of a document that the contract test reads. */
interface OpenApiDocument {
  readonly paths: Readonly<Record<string, PathItem>>;
  /** The deliveries. Only the document of {base_url} has them. */
  readonly webhooks?: Readonly<Record<string, { readonly post: Webhook }>>;
  readonly 'x-not-found': ResponseObject;
}

type PathItem = Readonly<Record<string, Method>> & { readonly 'x-method-not-allowed': ResponseObject };

export interface Method {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[] | undefined>>[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface Webhook {
  readonly parameters: readonly { readonly name: string; readonly schema: object }[];
  readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: object } } };
}

export interface ResponseObject {
  readonly headers?: Readonly<
    Record<string, { readonly required: boolean; readonly schema: { readonly type?: string } }>
  >;
  readonly content?: Readonly<Record<string, MediaType>>;
}

interface MediaType {
  readonly schema: object;
  readonly examples?: Readonly<Record<string, { readonly value: ErrorBody }>>;
}

/** The members of error bodies from {base_url}, {auth_url} and the gateway. */
export interface ErrorBody {
  readonly status?: number;
  readonly code?: string;
  readonly error?: string;
  readonly error_description?: string;
  readonly message?: string;
  readonly errors?: readonly { readonly code: string }[];
}

/** Validates a value against a schema in the documents. Returns the faults. */
export function faultsOf(value: unknown, schema: object): string[] {
  const validate = ajv.compile(schema); // Ajv caches validators
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'the body'} ${message}`);
}

const ajv = addFormats.default(new Ajv2020({ allErrors: true, strict: false, validateSchema: false }));

function read(file: string): OpenApiDocument {
  const document = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../../docs/api', file), 'utf8'));
  const resolved = new Map<string, unknown>();
  return expand(document);

  function expand<Part>(part: Part): Part {
    if (Array.isArray(part)) return part.map(expand) as Part;
    if (typeof part !== 'object' || part === null) return part;
    if ('$ref' in part) return resolve(String(part.$ref)) as Part;
    const inner = Object.fromEntries(Object.entries(part).map(([name, member]) => [name, expand(member)]));
    return { ...inner, ...ownRules(part) } as Part;
  }

  function resolve(reference: string): unknown {
    const value =
      resolved.get(reference) ?? expand(reference.split('/').reduce((at, name) => at[name] ?? at, document));
    resolved.set(reference, value);
    return value;
  }
}

/** Returns the rules that make a schema reject unknown fields, unknown values, and other combinations of fields. */
function ownRules(schema: OpenSchema): object {
  const { additionalProperties, 'x-extensible-enum': values, 'x-forms': forms, type } = schema;
  const isNullable = Array.isArray(type) && type.includes('null');
  const onlyForm = ({ required, optional }: Form) => ({
    required,
    propertyNames: { enum: [...required, ...optional] },
  });
  return {
    ...(typeof additionalProperties === 'object' && { additionalProperties: false }),
    ...(values && { enum: isNullable ? [...values, null] : values }),
    ...(forms && { anyOf: forms.map(onlyForm) }),
  };
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
