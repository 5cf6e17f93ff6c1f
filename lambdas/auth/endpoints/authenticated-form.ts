import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { HttpRequest } from '../../platform/http.ts';
import { type Parameters, readFormRequest } from '../form-request.ts';
import type { Client } from '../principals/client.ts';
import type { Decision } from '../protection/audit.ts';
import { readRecords } from '../records.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { presentedClient } from './client-credentials.ts';

/** A well-formed form of a client that is who it says it is. */
export interface AuthenticatedForm {
  readonly client: Client;
  readonly parameters: Parameters;
}

/** What reading such forms stands on. */
export interface AuthenticatedFormDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  readonly authentication: ClientAuthentication;
}

/** The steps revocation and introspection share, as at the token endpoint (RFC 7009 section 2.1, RFC 7662 section 2.1). */
export function makeAuthenticatedForm({ documents, authentication }: AuthenticatedFormDependencies) {
  return async function authenticatedForm(request: HttpRequest, decision: Decision): Promise<AuthenticatedForm> {
    const parameters = readFormRequest(request);
    const presented = presentedClient(request.headers.authorization, parameters);
    const records = await readRecords(documents, authentication.reads(presented, decision));
    authentication.limitAddress(records);
    return { client: await authentication.authenticate(presented, records, decision), parameters };
  };
}
