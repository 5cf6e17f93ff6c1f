import type { Principal } from '../auth/bearer.ts';
import type { HttpRequest, HttpResponse } from '../platform/http.ts';
import type { NeededScope } from './access.ts';
import { webhookNotFound } from './problem.ts';
import { type EventName, isEventName } from './webhook.ts';

/** An admitted request. */
export interface Call {
  readonly caller: Principal;
  readonly request: HttpRequest;
  /** What the named groups of the resource's path matched, decoded. Any text: it may name nothing that is there. */
  readonly path: Readonly<Record<string, string>>;
}

/** Does what a method and path stand for. @throws {Problem} for what the caller can mend. */
export type Operation = (call: Call) => Promise<HttpResponse>;

/** What a method of a path stands for, and who may call it. */
export interface Endpoint {
  readonly needs: NeededScope;
  readonly run: Operation;
}

/** A path and what can be done with it. */
export interface Resource {
  readonly path: RegExp;
  /** In the order that `Allow` lists them. */
  readonly methods: Readonly<Record<string, Endpoint>>;
}

/** An endpoint that only shows. */
export const reading = (run: Operation): Endpoint => ({ needs: 'webhooks:read', run });

/** An endpoint that changes or sends something. */
export const managing = (run: Operation): Endpoint => ({ needs: 'webhooks:manage', run });

/** The event that the path names. @throws {Problem} when it is none: no account has a webhook for it. */
export const eventIn = ({ path: { evento = '' } }: Call): EventName => {
  if (!isEventName(evento)) throw webhookNotFound();
  return evento;
};

/** A response with a JSON body. */
export const answer = (statusCode: number, body: object, headers: Record<string, string> = {}): HttpResponse => ({
  statusCode,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify(body),
});

/** The response of a deletion. */
export const noContent: HttpResponse = { statusCode: 204, headers: { 'cache-control': 'no-store' } };
