import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { readRecords } from '../../platform/batch-get.ts';
import type { HttpRequest } from '../../platform/http.ts';
import { type Parameters, readFormRequest } from '../form-request.ts';
import type { Client } from '../principals/client.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { clientCredentials } from './client-credentials.ts';

/** A well-formed form of a client that is who it says it is. */
export interface AuthenticatedForm {
  readonly client: Client;
  readonly parameters: Parameters;
}

/** What reading such forms stands on. */
export interface AuthenticatedFormDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly authentication: ClientAuthentication;
}

/** The steps revocation and introspection share, as at the token endpoint (RFC 7009 section 2.1, RFC 7662 section 2.1). */
export function makeAuthenticatedForm({ dynamo, authentication }: AuthenticatedFormDependencies) {
  return async function authenticatedForm(
    request: HttpRequest,
    auditContext: AuditContext,
  ): Promise<AuthenticatedForm> {
    const parameters = readFormRequest(request);
    const presented = clientCredentials(request.headers.authorization, parameters);
    const records = await readRecords(dynamo, authentication.reads(presented, auditContext));
    authentication.limitIp(records);
    return { client: await authentication.authenticate(presented, records, auditContext), parameters };
  };
}
