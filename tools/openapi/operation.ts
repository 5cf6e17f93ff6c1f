import type { OwnResponse } from './response.ts';
import type { Schema } from './schemas.ts';

/** A method of a path, as the document describes it. */
export interface Operation {
  readonly id: string;
  readonly host: 'auth' | 'base';
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  readonly tag: 'Tokens' | 'Discovery' | 'Webhooks' | 'Deliveries' | 'Replays';
  readonly summary: string;
  readonly description: string;
  /** Any one of these; none where nobody has to authenticate. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly object[];
  readonly body?: RequestBody;
  /** By status. */
  readonly responses: Readonly<Record<string, OwnResponse>>;
}

/** The body of a request. */
export interface RequestBody {
  readonly required: boolean;
  readonly mediaType: string;
  readonly schema: Schema;
  readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: object }>>;
}

/** A parameter in the path. */
export function pathParameter(name: string, description: string, schema: Schema, example: string): object {
  return { name, in: 'path', required: true, description, schema, example };
}
