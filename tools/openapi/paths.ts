import { allowHeader } from './headers.ts';
import { oauthResponses } from './oauth-refusals.ts';
import type { Operation } from './operation.ts';
import { problemResponses } from './problems.ts';
import { type OwnResponse, ownResponse, type Responses, withGateway, withoutContent } from './response.ts';
import { servers } from './servers.ts';

/**
 * The paths of the document. Beside the methods that it takes, a path has its answer to all others, under `x-method-not-allowed`:
 * OpenAPI has no place for that.
 */
export function describePaths(operations: readonly Operation[]): Record<string, PathItem> {
  const byPath = Map.groupBy(operations, ({ path }) => path);
  return Object.fromEntries([...byPath].map(([path, methods]) => [path, pathItem(methods)]));
}

/** What each host answers at a path that it does not have. */
export function notFoundResponses(): Record<Operation['host'], object> {
  return {
    auth: onlyOf(oauthResponses(['no_such_path'])),
    base: onlyOf(problemResponses(['not_found'], {})),
  };
}

/** A path with its methods. */
export interface PathItem {
  readonly servers: readonly object[];
  readonly 'x-method-not-allowed': object;
  readonly [method: string]: DescribedOperation | object;
}

/** An operation as OpenAPI has it. */
interface DescribedOperation {
  readonly operationId: string;
  readonly responses: Responses;
}

function pathItem(operations: readonly Operation[]): PathItem {
  const [first] = operations;
  if (!first) throw new Error('A path has an operation.');
  const methods = operations.flatMap(operation => {
    const own = [operation.method, describe(operation)] as const;
    return operation.method === 'get' ? [own, ['head', describeHead(operation)] as const] : [own];
  });
  const allow = methods.map(([method]) => method.toUpperCase()).join(', ');
  return {
    servers: servers[first.host],
    ...Object.fromEntries(methods),
    'x-method-not-allowed': methodNotAllowed(first.host, allow),
  };
}

function describe(operation: Operation): DescribedOperation {
  const { id, tag, summary, description, security, parameters, body, responses } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security,
    ...(parameters && { parameters }),
    ...(body && {
      requestBody: {
        required: body.required,
        content: { [body.mediaType]: { schema: body.schema, examples: body.examples } },
      },
    }),
    responses: withGateway(responses),
  } as DescribedOperation;
}

function describeHead(get: Operation): DescribedOperation {
  const { responses, ...described } = describe(get);
  return {
    ...described,
    operationId: `${get.id}Head`,
    summary: `${get.summary}: headers alone`,
    description: 'Answers as GET does, without the content.',
    responses: withoutContent(responses),
  } as DescribedOperation;
}

function methodNotAllowed(host: Operation['host'], allow: string): object {
  const responses =
    host === 'base'
      ? problemResponses(['method_not_allowed'], { allow })
      : oauthResponses([allow === 'POST' ? 'method_not_post' : 'method_not_get']);
  const { headers, ...response } = onlyOf(responses);
  return { ...response, headers: { ...headers, Allow: allowHeader(allow) } };
}

function onlyOf(responses: Readonly<Record<string, OwnResponse>>) {
  const [response] = Object.values(responses);
  if (!response) throw new Error('There is one response.');
  return ownResponse(response);
}
