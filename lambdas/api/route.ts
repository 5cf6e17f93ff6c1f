import type * as z from 'zod/mini';
import type { Principal } from '../auth/sessions/bearer.ts';
import type { HttpRequest, HttpResponse } from '../platform/http.ts';
import type { OperationId, OperationOf, RouteOperation, RouteTable } from '../platform/route-table.ts';
import type { RequiredScope } from './authorization.ts';
import { type MakeProblem, Problem, type ProblemTable } from './problem.ts';
import { bodyProblems } from './problems.ts';

export interface AuthorizedRequest {
  readonly caller: Principal;
  readonly request: HttpRequest;
  /** The decoded path parameters, by name. They may contain any text. */
  readonly path: Readonly<Record<string, string>>;
}

/** An authorized request for an operation, with the function that creates the operation's errors. */
export interface RequestContext<ProblemName extends string> extends AuthorizedRequest {
  readonly makeProblem: MakeProblem<ProblemName>;
}

export type ContextOf<Table extends RouteTable, Id extends OperationId<Table>> = RequestContext<
  ProblemNameOf<Table, Id>
>;

/** The errors that an operation's handler may throw: those that its route lists and, for an operation with a body, `bodyProblems`. */
export type ProblemNameOf<Table extends RouteTable, Id extends OperationId<Table>> = Id extends unknown
  ?
      | OperationOf<Table, Id>['errors'][number]
      | (OperationOf<Table, Id> extends { readonly takesBody: true } ? BodyProblemName : never)
  : never;

export type BodyProblemName = keyof typeof bodyProblems;

/** Handles a method that requires no token. */
export type PublicHandler = (request: HttpRequest) => HttpResponse;

/** The handlers of a table's operations, by operation id. */
export type Handlers<Table extends RouteTable> = {
  readonly [Id in OperationId<Table>]: OperationOf<Table, Id>['access'] extends 'public'
    ? PublicHandler
    : RouteHandler<ProblemNameOf<Table, Id>>;
};

/** A path of a route table, with the endpoint of each method. */
export interface Resource {
  readonly path: string;
  readonly methods: Readonly<Record<string, Endpoint>>;
}

/** The endpoint of a method, which is public or requires a token with a scope. */
export type Endpoint =
  | { readonly access: 'public'; readonly handle: PublicHandler }
  | {
      readonly access: RequiredScope;
      /** True if the handler reads the body. Otherwise, a body within the size limit is ignored. */
      readonly takesBody: boolean;
      /** @throws {Problem} to reject the request. */
      readonly handle: (request: AuthorizedRequest) => Promise<HttpResponse>;
    };

/**
 * Combines the routes of a table with their handlers. Each handler receives the function that creates its errors.
 *
 * @param problems - the errors of the table.
 */
export function resourcesOf<Table extends RouteTable<RequiredScope | 'public'>>(
  table: Table,
  problems: ProblemTable,
  handlers: Handlers<Table>,
): readonly Resource[] {
  const makeProblem = Problem.from<ProblemTable>({ ...bodyProblems, ...problems });
  const byId: Readonly<Record<string, unknown>> = handlers;
  const endpointOf = (id: string, { access, takesBody }: RouteOperation<RequiredScope | 'public'>): Endpoint => {
    if (access === 'public') return { access, handle: byId[id] as PublicHandler };
    const handle = byId[id] as RouteHandler<string>;
    return { access, takesBody: takesBody === true, handle: request => handle({ ...request, makeProblem }) };
  };
  return Object.values(table).map(({ path, operations }) => ({
    path,
    methods: Object.fromEntries(
      Object.entries(operations).map(([id, operation]) => [operation.method, endpointOf(id, operation)]),
    ),
  }));
}

/** Returns the path parameters if the path matches the pattern of a resource. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const names = pattern.split('/');
  const segments = path.split('/');
  const isParameter = (name: string) => name.startsWith('{');
  const isMatch = names.every((name, at) => (isParameter(name) ? segments[at] !== '' : segments[at] === name));
  if (names.length !== segments.length || !isMatch) return undefined;
  return Object.fromEntries(
    names.flatMap((name, at) => (isParameter(name) ? [[name.slice(1, -1), segments[at] ?? '']] : [])),
  );
}

/** Returns the methods of a resource for the `Allow` header (RFC 9110 section 10.2.1). */
export function allowedMethods({ methods }: Resource): string {
  return Object.keys(methods)
    .flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
}

/** Returns a response with a JSON body. The schema determines its type, and also describes it in the OpenAPI document. */
export function jsonResponse<Schema extends z.ZodMiniType = never>(
  statusCode: number,
  body: NoInfer<z.output<Schema>>,
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    statusCode,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(body),
  };
}

export const noContent: HttpResponse = { statusCode: 204, headers: { 'cache-control': 'no-store' } };

/** Handles the requests of an operation. @throws {Problem} to reject a request. */
type RouteHandler<ProblemName extends string> = (context: RequestContext<ProblemName>) => Promise<HttpResponse>;
