import type { Principal } from '../auth/sessions/bearer.ts';
import type { HttpRequest, HttpResponse } from '../platform/http.ts';
import type { NeededScope } from './authorization.ts';

/** An admitted request. */
export interface RequestContext {
  readonly caller: Principal;
  readonly request: HttpRequest;
  /** What stands at the `{…}` of the resource's path, decoded. Any text: it may name nothing that is there. */
  readonly path: Readonly<Record<string, string>>;
}

/** Does what a method and path stand for. @throws {Problem} for what the caller can mend. */
export type RouteHandler = (context: RequestContext) => Promise<HttpResponse>;

/** What a method of a path stands for, and who may call it. */
export interface Endpoint {
  readonly needs: NeededScope;
  /** Whether the operation reads a body. Where it does not, a small one is ignored. */
  readonly takesBody: boolean;
  readonly run: RouteHandler;
}

/** An endpoint that anybody may context, without a token. */
export interface PublicEndpoint {
  readonly needs: 'nothing';
  readonly respond: () => HttpResponse;
}

/** A path and what can be done with it. */
export interface Resource {
  /** Such as `/v1/webhooks/{evento}`: a `{…}` stands for one segment that is not empty. */
  readonly path: string;
  /** In the order that `Allow` lists them. HEAD is not among them: it is answered wherever there is GET. */
  readonly methods: Readonly<Record<string, Endpoint | PublicEndpoint>>;
}

/** An endpoint that only shows. */
export function reading(run: RouteHandler): Endpoint {
  return { needs: 'webhooks:read', takesBody: false, run };
}

/** An endpoint that changes or sends something, and needs no body for that. */
export function managing(run: RouteHandler): Endpoint {
  return { needs: 'webhooks:manage', takesBody: false, run };
}

/** An endpoint that changes something as its body says. */
export function managingByBody(run: RouteHandler): Endpoint {
  return { needs: 'webhooks:manage', takesBody: true, run };
}

/** What stands at the `{…}` of a resource's path, where a request's path is one of those. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  const fits = (name: string, at: number) => (name.startsWith('{') ? given[at] !== '' : given[at] === name);
  if (wanted.length !== given.length || !wanted.every(fits)) return undefined;
  const places = wanted.flatMap((name, at) => (name.startsWith('{') ? [[name.slice(1, -1), given[at] ?? '']] : []));
  return Object.fromEntries(places);
}

/** The methods of a resource as `Allow` lists them (RFC 9110 section 10.2.1). */
export function allowedMethods({ methods }: Resource): string {
  return Object.keys(methods)
    .flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
}

/** A response with a JSON body. */
export function answer(statusCode: number, body: object, headers: Record<string, string> = {}): HttpResponse {
  return {
    statusCode,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(body),
  };
}

/** The response of a deletion. */
export const noContent: HttpResponse = { statusCode: 204, headers: { 'cache-control': 'no-store' } };
