import { folders, type Step, variables } from './collection-steps.ts';
import type { Operation } from './description.ts';

/** Returns the collection of requests, in the format v2.1 of Postman, which Bruno and Insomnia import too. */
export function postmanCollection(operations: readonly Operation[]): object {
  const byId = new Map(operations.map(operation => [operation.id, operation]));
  return {
    info: {
      name: 'Emissor',
      description,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{access_token}}', type: 'string' }] },
    item: Object.entries(folders).map(([name, steps]) => ({
      name,
      item: steps.map(step => toItem(step, byId.get(step.operation))),
    })),
  };
}

/** Returns the environment of a local run on its default ports. Client and user are in `.local/outputs.json`, under `Demo`. */
export function localEnvironment(): object {
  return {
    name: 'Emissor, local run',
    values: variables.map(({ key, value, isSecret }) => ({
      key,
      value,
      type: isSecret ? 'secret' : 'default',
      enabled: true,
    })),
    _postman_variable_scope: 'environment',
  };
}

const description = `Generated from docs/api/emissor.openapi.json: \`npm run openapi\`.

Choose the environment, and fill in \`client_id\`, \`client_secret\`, \`username\` and \`password\`: those of a local run stand in \`.local/outputs.json\`, under \`Demo\`. Then the requests work one by one or all together, from top to bottom: the login keeps the tokens, the registration its signing secret. A run ends at the first request that fails: if the account has a webhook for the \`evento\` of the environment, it stays as it is. **Later requests replace and delete the webhook, and end the login:** choose an event that is not in use. A delivery is sent again where the list has one of an event.`;

function toItem(step: Step, operation: Operation | undefined): object {
  if (!operation) throw new Error(`There is no operation ${step.operation}.`);
  const { status } = operation.success;
  return {
    name: step.name ?? operation.summary,
    event: [
      ...(step.onlyWith === undefined ? [] : [script('prerequest', skipWithout(step.onlyWith))]),
      script('test', [
        `pm.test('${status}', () => pm.response.to.have.status(${status}));`,
        // Without this, a run that is refused the registration would go on and delete the webhook that was there.
        `if (pm.response.code !== ${status}) return pm.execution.setNextRequest(null);`,
        ...Object.entries(step.saves ?? {}).map(
          ([variable, member]) => `pm.environment.set('${variable}', pm.response.json().${member});`,
        ),
        ...(step.script ?? []),
      ]),
    ],
    request: {
      method: operation.method,
      description: operation.description,
      header: [],
      ...(operation.access.startsWith('webhooks:') ? {} : { auth: { type: 'noauth' } }),
      url: urlOf(operation, step),
      ...(step.example !== undefined && { body: bodyOf(operation, step) }),
    },
    response: [],
  };
}

function script(listen: 'prerequest' | 'test', exec: readonly string[]): object {
  return { listen, script: { type: 'text/javascript', exec } };
}

function skipWithout(variable: string): string[] {
  return [`if (!pm.environment.get('${variable}')) pm.execution.skipRequest();`];
}

function urlOf({ host, path, parameters = [] }: Operation, { id = '' }: Step): object {
  const base = `{{${host}_url}}`;
  const segments = path.slice(1).replace('{evento}', '{{evento}}').replace('{id}', id).split('/');
  const query = (parameters as readonly QueryParameter[])
    .filter(parameter => parameter.in === 'query')
    .map(({ name, example = '', description: text }) => ({
      key: name,
      value: String(example),
      description: text,
      disabled: true,
    }));
  return { raw: [base, ...segments].join('/'), host: [base], path: segments, ...(query.length > 0 && { query }) };
}

interface QueryParameter {
  readonly in: string;
  readonly name: string;
  readonly description: string;
  readonly example?: unknown;
}

function bodyOf({ host, body }: Operation, { example = '', fields = {} }: Step): object {
  const value = { ...body?.examples[example]?.value, ...fields };
  if (host === 'base') {
    return { mode: 'raw', raw: JSON.stringify(value, null, 2), options: { raw: { language: 'json' } } };
  }
  const urlencoded = Object.entries(value).map(([key, text]) => ({ key, value: String(text), type: 'text' }));
  return { mode: 'urlencoded', urlencoded };
}
