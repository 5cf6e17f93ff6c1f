import type { PathItem } from './paths.ts';
import type { ResponseObject } from './response.ts';

/** Replaces each response that several operations have by a reference to one under `components`. */
export function shareResponses(paths: Readonly<Record<string, PathItem>>): {
  readonly paths: Record<string, object>;
  readonly responses: Record<string, object>;
} {
  const counts = new Map<string, number>();
  for (const [, , response] of responsesIn(paths)) {
    const text = JSON.stringify(response);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const names = new Map<string, string>();
  const responses: Record<string, object> = {};
  for (const [operationId, status, response] of responsesIn(paths)) {
    const text = JSON.stringify(response);
    if (counts.get(text) === 1 || names.has(text)) continue;
    const name = nameOf(status, response, operationId, responses);
    names.set(text, name);
    responses[name] = response;
  }
  return { paths: mapResponses(paths, names), responses };
}

type Method = { readonly operationId: string; readonly responses: Readonly<Record<string, ResponseObject>> };

function* responsesIn(
  paths: Readonly<Record<string, PathItem>>,
): Generator<readonly [operationId: string, status: string, response: ResponseObject]> {
  for (const item of Object.values(paths)) {
    for (const operation of Object.values(item).filter(isMethod)) {
      for (const [status, response] of Object.entries(operation.responses)) {
        yield [operation.operationId, status, response];
      }
    }
  }
}

function isMethod(member: object): member is Method {
  return 'operationId' in member;
}

/** The status and the codes that it can have; where that is taken, by the operation that has it first. */
function nameOf(status: string, { description, content }: ResponseObject, operationId: string, taken: object): string {
  const codes = [...description.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code);
  const name = [status, ...codes, ...(content ? [] : ['headers'])].join('.');
  return name in taken ? `${name}.${operationId}` : name;
}

function mapResponses(
  paths: Readonly<Record<string, PathItem>>,
  names: ReadonlyMap<string, string>,
): Record<string, object> {
  const share = (response: ResponseObject) => {
    const name = names.get(JSON.stringify(response));
    return name === undefined ? response : { $ref: `#/components/responses/${name}` };
  };
  const mapMethod = ({ responses, ...rest }: Method) => ({
    ...rest,
    responses: Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, share(response)])),
  });
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([name, member]) => [name, isMethod(member) ? mapMethod(member) : member]),
      ),
    ]),
  );
}
