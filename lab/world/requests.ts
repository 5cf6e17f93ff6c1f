import type { Outcome, VirtualCloud } from '@emissor/cloud/virtual';
import { matchPath } from '../../lambdas/api/route.ts';
import { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import { httpRequestOf } from './http-request.ts';

/** A request to {base_url} and its response. */
export interface CompletedRequest {
  readonly account: string;
  readonly method: string;
  /** The path with the query string. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly sentAt: number;
  readonly endedAt: number;
  /** The HTTP status. It is 502 if the function did not finish. */
  readonly status: number;
  readonly response: Readonly<Record<string, unknown>>;
}

/** Sends a request. The returned promise resolves in virtual time and never rejects. */
export type Request = (
  method: string,
  path: string,
  sent: { readonly account: string; readonly body?: CompletedRequest['body'] },
) => Promise<CompletedRequest>;

/** Creates a client for {base_url} that records requests and responses. */
export function makeRequests(cloud: () => VirtualCloud) {
  const completed: CompletedRequest[] = [];
  let sent = 0;
  return { request, completed: (): readonly CompletedRequest[] => completed };

  function request(...[method, path, { account, body }]: Parameters<Request>): ReturnType<Request> {
    const [ownPath = '', query = ''] = path.split('?');
    const sentAt = cloud().now();
    sent += 1;
    const event = httpRequestOf({
      ...{ method, path: ownPath, query, ip: '203.0.113.7', requestId: `request-${sent}` },
      headers: { authorization: account, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    });
    return new Promise(resolve => {
      cloud()
        .function(functionOf(ownPath))
        .invoke(event, outcome => {
          const record = { account, method, path, body, sentAt, endedAt: cloud().now(), ...parseOutcome(outcome) };
          completed.push(record);
          resolve(record);
        });
    });
  }
}

/** Returns whether the effect of a request is known. After a 5xx response, the effect is unknown. */
export function hasKnownEffect({ status }: Pick<CompletedRequest, 'status'>): boolean {
  return status < 500;
}

/** Returns the name of the function that handles requests for a path. */
export function functionOf(path: string): string {
  const isOfDeliveries = Object.values(deliveryRoutes).some(route => matchPath(route.path, path) !== undefined);
  return isOfDeliveries ? 'deliveries-api' : 'webhooks-api';
}

function parseOutcome(outcome: Outcome): Pick<CompletedRequest, 'status' | 'response'> {
  const { result } = outcome.status === 'returned' ? outcome : { result: undefined };
  const { statusCode = 502, body = '' } = { ...(typeof result === 'object' ? result : {}) };
  const parsed: unknown = body === '' ? {} : JSON.parse(String(body));
  return { status: Number(statusCode), response: { ...(typeof parsed === 'object' ? parsed : {}) } };
}
