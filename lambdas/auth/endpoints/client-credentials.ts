import { decodeFormComponent } from '../form.ts';
import type { Parameters } from '../form-request.ts';
import { isClientId } from '../principals/client.ts';

/** The unverified client credentials of a request. */
export type ClientCredentials =
  | { readonly outcome: 'presented'; readonly clientId: string; readonly clientSecret: string }
  | { readonly outcome: 'unusable'; readonly oauthCase: UnusableCase };

/** The error for credentials that cannot be verified. */
type UnusableCase = 'client_missing' | 'client_credentials_duplicated' | 'client_ids_differ' | 'basic_malformed';

/**
 * Reads the client credentials of a request from HTTP Basic or the body, never both (RFC 6749 section 2.3). Ignores other
 * authentication schemes, because some HTTP clients automatically send the latest bearer token.
 */
export function clientCredentials(authorization: string | undefined, parameters: Parameters): ClientCredentials {
  const header = authorization?.trim() ?? '';
  const [scheme = ''] = header.split(/[\t ]/, 1);
  if (scheme.toLowerCase() !== 'basic') return fromBody(parameters);
  return fromBasic(header.slice(scheme.length).replace(/^[\t ]+/, ''), parameters);
}

/** Returns the unverified client id of a request, or `undefined` if it is missing or malformed. */
export function claimedClientId(credentials: ClientCredentials): string | undefined {
  return credentials.outcome === 'presented' && isClientId(credentials.clientId) ? credentials.clientId : undefined;
}

function fromBody(parameters: Parameters): ClientCredentials {
  return toCredentials(parameters.get('client_id'), parameters.get('client_secret'));
}

function toCredentials(clientId = '', clientSecret = ''): ClientCredentials {
  return clientId === '' || clientSecret === ''
    ? unusable('client_missing')
    : { outcome: 'presented', clientId, clientSecret };
}

function fromBasic(encoded: string, parameters: Parameters): ClientCredentials {
  const credentials = decodeBasic(encoded);
  if (!credentials) return unusable('basic_malformed');
  const [id, secret] = credentials;
  if (id === '' && secret === '') return fromBody(parameters); // some generated clients also send an empty Basic header
  if (parameters.has('client_secret')) return unusable('client_credentials_duplicated');
  if ((parameters.get('client_id') ?? id) !== id) return unusable('client_ids_differ');
  return toCredentials(id, secret);
}

function unusable(oauthCase: UnusableCase): ClientCredentials {
  return { outcome: 'unusable', oauthCase };
}

/** Decodes RFC 7617 credentials with form-encoded parts (RFC 6749 section 2.3.1). Returns `undefined` if they are malformed. */
function decodeBasic(encoded: string): readonly [id: string, secret: string] | undefined {
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return undefined; // rejects characters that are not base64, which Buffer would skip
  const colon = bytes.indexOf(':');
  if (colon === -1) return undefined;
  const id = decodeFormComponent(bytes.subarray(0, colon));
  const secret = decodeFormComponent(bytes.subarray(colon + 1));
  return id === undefined || secret === undefined ? undefined : [id, secret];
}
