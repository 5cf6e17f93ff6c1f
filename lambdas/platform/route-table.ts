/**
 * The routes for a part of the service, by name. A route is a gateway path with the operations that a function handles. The table is plain
 * data for functions, infrastructure and the OpenAPI document.
 */
export type RouteTable<Access extends string = string, ErrorName extends string = string> = Readonly<
  Record<string, Route<Access, ErrorName>>
>;

export interface Route<Access extends string = string, ErrorName extends string = string> {
  /** The path, such as `/v1/webhooks/{evento}`. A parameter `{…}` matches one non-empty segment. */
  readonly path: string;
  readonly throttle: ThrottleClass;
  /** The operations by id, in the order of the `Allow` header. HEAD is not listed, because every path with GET supports it. */
  readonly operations: Readonly<Record<string, RouteOperation<Access, ErrorName>>>;
}

export interface RouteOperation<Access extends string = string, ErrorName extends string = string> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The required authentication. `public` allows anonymous requests. */
  readonly access: Access;
  /** True if the handler reads the body. Otherwise, a small body is ignored. */
  readonly takesBody?: true;
  /** All errors that are specific to the operation, by name. Errors that are common to all such operations are not listed. */
  readonly errors: readonly ErrorName[];
}

/** A route's caller class, which determines the rate limit. */
export type ThrottleClass = 'token' | 'auth' | 'management' | 'public';

export type OperationId<Table extends RouteTable> = NamesIn<Operations<Table>>;

export type OperationOf<Table extends RouteTable, Id extends OperationId<Table>> = Extract<
  Operations<Table>,
  Readonly<Record<Id, unknown>>
>[Id];

type Operations<Table extends RouteTable> = Table[keyof Table]['operations'];

type NamesIn<Union> = Union extends unknown ? keyof Union & string : never;
