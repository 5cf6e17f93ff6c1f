import type { FunctionDefinition, InvocationContext, ProcessRuntime } from '@emissor/cloud/virtual';
import type { HttpRequest, HttpResponse } from '../../../lambdas/platform/http.ts';
import type { WorldRuntime } from '../process-runtime.ts';
import { countCosts } from '../request-costs.ts';
import { deliveryEnvironment, ownUrls, requestLimits, type Stage, type Tokens } from '../stage.ts';
import { second } from '../times.ts';
import type { WorldTelemetry } from '../world-telemetry.ts';

/** Returns the two functions behind {base_url}. */
export function baseApiFunctions({
  compositions,
  runtimeOf,
  telemetryOf,
  tokens,
  costs,
}: Stage): readonly FunctionDefinition<ProcessRuntime>[] {
  return [
    apiFunction('webhooks-api', (runtime, telemetry) => compositions.webhooksApi(environment, runtime, telemetry)),
    apiFunction('deliveries-api', (runtime, telemetry) =>
      compositions.deliveriesApi(environment, runtime, telemetry, requestLimits),
    ),
  ];

  function apiFunction(name: string, compose: Compose): FunctionDefinition<ProcessRuntime> {
    return {
      name,
      timeout: 15 * second,
      start: process => {
        const telemetry = telemetryOf(name, process);
        const counted = countCosts(runtimeOf(process));
        const api = compose(counted.runtime, telemetry);
        return (event: HttpRequest, context: InvocationContext) => {
          telemetry.startInvocation(context, event.requestContext.requestId);
          const cost = { method: event.requestContext.http.method, path: event.rawPath, calls: 0, itemsRead: 0 };
          costs.push(cost);
          counted.startRequest(cost);
          return api(withToken(event, tokens));
        };
      },
    };
  }
}

type Compose = (runtime: WorldRuntime, telemetry: WorldTelemetry) => (request: HttpRequest) => Promise<HttpResponse>;

/** Replaces the account id in the event with a token. Events contain no tokens, because random ECDSA signatures would change the digest. */
function withToken(event: HttpRequest, tokens: Tokens): HttpRequest {
  const token = tokens.get(event.headers.authorization ?? '');
  if (token === undefined) return event;
  return { ...event, headers: { ...event.headers, authorization: `Bearer ${token}` } };
}

export const environment = {
  ...deliveryEnvironment,
  clientsTable: 'Clients',
  usersTable: 'Users',
  sessionsTable: 'Sessions',
  keyringTable: 'Keyring',
  issuer: ownUrls.auth,
  audience: ownUrls.base,
  ownHosts: [new URL(ownUrls.base).host],
  demandsUrl: 'https://demandas.example.com',
  docsUrl: undefined,
};
