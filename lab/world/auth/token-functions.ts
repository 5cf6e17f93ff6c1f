import type { FunctionDefinition, ProcessRuntime } from '@emissor/cloud/virtual';
import type { HttpRequest, HttpResponse } from '../../../lambdas/platform/http.ts';
import { httpRequestOf } from '../http-request.ts';
import { second } from '../times.ts';
import type { WorldTelemetry } from '../world-telemetry.ts';
import type { Endpoint, EndpointResponse, TokenRequest } from './journal.ts';
import { presentedTokenEnvironment, type TokenRuntime, type TokenStage, tokenEnvironment } from './token-stage.ts';
import { watchCalls } from './watched-calls.ts';

/** The event that a function receives. The journal contains the request. */
interface RequestEvent {
  readonly requestId: string;
}

export interface FunctionResult {
  readonly response: EndpointResponse;
  /** Returns the result without signatures. Signatures are random, so the digest must not contain them. */
  toJSON(): object;
}

/** Returns the functions for the token, revocation and introspection endpoints. */
export function tokenFunctions(stage: TokenStage): readonly FunctionDefinition<ProcessRuntime>[] {
  const { token, revoke, introspect } = stage.compositions;
  return [
    define('token', 15 * second, (...args) => token(tokenEnvironment, ...args)),
    define('revoke', 10 * second, (...args) => revoke(presentedTokenEnvironment, ...args)),
    define('introspect', 10 * second, (...args) =>
      introspect({ ...presentedTokenEnvironment, usersTable: 'Users' }, ...args),
    ),
  ];

  function define(name: Endpoint, timeout: number, compose: Compose): FunctionDefinition<ProcessRuntime> {
    return {
      name,
      timeout,
      start: process => {
        const telemetry = stage.telemetryOf(name, process);
        const calls = watchCalls(stage.runtimeOf(process), stage.journal);
        const handleRequest = compose(calls.runtime, telemetry);
        return async function handle({ requestId }: RequestEvent, context: { readonly awsRequestId: string }) {
          const request = stage.journal.find(requestId);
          calls.startRequest(request);
          telemetry.startInvocation(context, requestId);
          return resultOf(await handleRequest(formRequestOf(request)));
        };
      },
    };
  }
}

type Compose = (
  runtime: TokenRuntime,
  telemetry: WorldTelemetry,
) => (request: HttpRequest) => Promise<HttpResponse | undefined>;

function formRequestOf({ id, endpoint, form, ip }: TokenRequest): HttpRequest {
  return httpRequestOf({
    ...{ method: 'POST', path: `/oauth/v1/${endpoint}`, ip, requestId: id },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  });
}

function resultOf(httpResponse: HttpResponse | undefined): FunctionResult {
  const body: EndpointResponse['body'] = JSON.parse(httpResponse?.body ?? '{}');
  const response = { status: httpResponse?.statusCode ?? 0, body };
  return { response, toJSON: () => ({ ...response, body: withoutSignature(body) }) };
}

function withoutSignature({ access_token: token, ...body }: EndpointResponse['body']): object {
  return typeof token === 'string' ? { ...body, access_token: token.split('.').slice(0, 2) } : body;
}
