/**
 * The routes of a part of the service, by name: a path of the gateway each, with the operations that a function answers there. It
 * is plain data that functions, infrastructure and the OpenAPI document read.
 */
export type RouteTable<Access extends string = string, Refusal extends string = string> = Readonly<
  Record<string, Route<Access, Refusal>>
>;

/** A path of a host. */
export interface Route<Access extends string = string, Refusal extends string = string> {
  /** Such as `/v1/webhooks/{evento}`: a parameter `{…}` matches one segment that is not empty. */
  readonly path: string;
  readonly throttle: ThrottleClass;
  /** By operation id, in the order of the `Allow` header. HEAD is not listed: it is answered wherever GET is. */
  readonly operations: Readonly<Record<string, RouteOperation<Access, Refusal>>>;
}

/** A method of a path. */
export interface RouteOperation<Access extends string = string, Refusal extends string = string> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The proof that a caller must show: `public` is none. */
  readonly access: Access;
  /** The handler reads the body; otherwise a small body is ignored. */
  readonly takesBody?: true;
  /** What it refuses beyond what all operations of its kind do, by names of the tables of refusals. It can refuse nothing else. */
  readonly refusals: readonly Refusal[];
}

/** The callers of a route, which decide how many requests it takes. */
export type ThrottleClass = 'token' | 'auth' | 'management' | 'public';

export type OperationId<Table extends RouteTable> = NamesIn<Operations<Table>>;

export type OperationOf<Table extends RouteTable, Id extends OperationId<Table>> = Extract<
  Operations<Table>,
  Readonly<Record<Id, unknown>>
>[Id];

type Operations<Table extends RouteTable> = Table[keyof Table]['operations'];

type NamesIn<Union> = Union extends unknown ? keyof Union & string : never;
