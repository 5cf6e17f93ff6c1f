import { formCases, type OAuthTable, oauthCases, serviceCases } from '../../lambdas/auth/routes.ts';
import { type AuthOperation, ref, type ServiceResponse } from './description.ts';
import type { HeaderNames } from './headers.ts';

/** Returns the error responses for an {auth_url} operation, by status. */
export function oauthResponses({ access, errors }: AuthOperation): Record<string, ServiceResponse> {
  const listed = Object.fromEntries(errors.map(name => [name, oauthCases[name]]));
  const cases: OAuthTable = { ...(access === 'client' && formCases), ...listed, ...serviceCases };
  const byStatus = Map.groupBy(Object.entries(cases), ([, [status]]) => status);
  return Object.fromEntries(
    [...byStatus].map(([status, rows]) => [status, oauthResponse(status, Object.fromEntries(rows))]),
  );
}

/** Returns the error response for a status, with an example for each case. */
export function oauthResponse(status: number, cases: OAuthTable): ServiceResponse {
  const codes = [...new Set(Object.values(cases).map(([, code]) => code))];
  return {
    description: `${reasons[status]}: ${codes.map(code => `\`${code}\``).join(', ')}.`,
    schema: ref('OAuthError'),
    examples: Object.fromEntries(
      Object.entries(cases).map(([name, [, error, error_description]]) => [
        name,
        { summary: error, value: { error, error_description } },
      ]),
    ),
    headers: {
      ...noStoreHeaders,
      ...(status === 401 && { 'WWW-Authenticate': 'BasicChallenge' as const }),
      ...((status === 429 || status === 503) && { 'Retry-After': 'RetryAfter' as const }),
    },
  };
}

/** The caching headers of every token response. */
export const noStoreHeaders: HeaderNames = { 'Cache-Control': 'NoStore', Pragma: 'Pragma' };

/** The meaning of each status. */
const reasons: Readonly<Record<number, string>> = {
  400: 'The request or the grant is invalid',
  401: 'The client is not authenticated',
  404: 'The path does not exist',
  405: 'The path does not support this method',
  413: 'The form is too large',
  429: 'Too many failed attempts',
  500: 'The service has an internal error',
  503: 'The service is busy',
};
