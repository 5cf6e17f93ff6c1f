import type { HttpRequest } from '../../../lambdas/platform/http.ts';

/** A request to the API of webhooks and of their history. */
export interface Sent {
  readonly body?: unknown;
  /** In place of the JSON of `body`. */
  readonly raw?: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  /** `<role>|<scope> <scope>|<account>`; an administrator of `conta-1` with both scopes unless told otherwise. */
  readonly token?: string;
}

/** The API's answer. */
export interface Answered {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON freely
  readonly json: any;
}

/** Returns a request as the gateway hands it over. */
export function toRequest(method: string, rawPath: string, { body, raw, query = '', headers, token }: Sent) {
  const bytes = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return {
    rawPath,
    rawQueryString: query,
    headers: {
      authorization: `Bearer ${token ?? 'admin|webhooks:read webhooks:manage|conta-1'}`,
      ...(bytes !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    requestContext: { http: { method } },
    ...(bytes !== undefined && { body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true }),
  } as unknown as HttpRequest;
}
