import { type OAuthCase, oauthCases } from '../../lambdas/auth/oauth-error.ts';
import { type AuthOperation, type OwnResponse, ref } from './description.ts';
import type { HeaderNames } from './headers.ts';

/** Returns the responses for what an operation of {auth_url} refuses, by status. */
export function oauthResponses({ access, refusals }: AuthOperation): Record<string, OwnResponse> {
  const cases = [...(access === 'client' ? formRefusals : []), ...refusals];
  const byStatus = Map.groupBy(cases, name => oauthCases[name][0]);
  return Object.fromEntries([...byStatus].map(([status, names]) => [status, oauthResponse(status, names)]));
}

/** Returns the response for refusals of one status: their codes and descriptions, with an example of each. */
export function oauthResponse(status: number, names: readonly OAuthCase[]): OwnResponse {
  const codes = [...new Set(names.map(name => oauthCases[name][1]))];
  return {
    description: `${reasons[status]}: ${codes.map(code => `\`${code}\``).join(', ')}.`,
    schema: ref('OAuthError'),
    examples: Object.fromEntries(
      names.map(name => {
        const [, error, error_description] = oauthCases[name];
        return [name, { summary: error, value: { error, error_description } }];
      }),
    ),
    headers: {
      ...uncached,
      ...(status === 401 && { 'WWW-Authenticate': 'BasicChallenge' as const }),
      ...((status === 429 || status === 503) && { 'Retry-After': 'RetryAfter' as const }),
    },
  };
}

/** On every answer that concerns tokens. */
export const uncached: HeaderNames = { 'Cache-Control': 'NoStore', Pragma: 'Pragma' };

/** The meaning of each status of these refusals. */
const reasons: Readonly<Record<number, string>> = {
  400: 'The request is wrong, or the grant is refused',
  401: 'The client is not authenticated',
  404: 'There is nothing at this path',
  405: 'The path does not take this method',
  413: 'The form is too large',
  429: 'Too many refusals',
  500: 'An error of the service',
  503: 'The service is busy',
};

/** The refusals of every endpoint that reads a form and authenticates a client, in the order of their checks. */
const formRefusals: readonly OAuthCase[] = [
  'content_type',
  'body_too_large',
  'malformed_form',
  'duplicate_parameter',
  'secret_in_query',
  'client_missing',
  'client_two_ways',
  'client_ids_differ',
  'basic_malformed',
  'scheme_unsupported',
  'client_refused',
  'ip_rate_limit',
  'dependency_unavailable',
  'unforeseen',
];
