import {
  type AliasConfiguration,
  DeleteFunctionCommand,
  ListAliasesCommand,
  ListVersionsByFunctionCommand,
} from '@aws-sdk/client-lambda';
import { expect, it } from 'vitest';
import { makeEndRelease, type ReleaseEndRequest } from '../../../../lambdas/platform/deployment/release-end.ts';

const arn = 'arn:aws:lambda:sa-east-1:111122223333:function:token';
const request = (RequestType: ReleaseEndRequest['RequestType'] = 'Update'): ReleaseEndRequest => ({
  RequestType,
  StackId: 'the stack',
  ResourceProperties: { Release: 'r2', Versions: [`${arn}:7`] },
});

/** A function whose versions and aliases come in pages of two and one. */
function cleanerOf({
  status = 'UPDATE_IN_PROGRESS',
  versions = [7, 6, 5, 4, 3],
  aliases = [{ FunctionVersion: '7' }] as readonly AliasConfiguration[],
  fails = false,
}) {
  const deleted: string[] = [];
  const warnings: string[] = [];
  const all = ['$LATEST', ...versions.toReversed().map(String)].map(Version => ({ Version }));
  const page = <Item>(items: readonly Item[], size: number, Marker = '0') => {
    const end = Number(Marker) + size;
    return { items: items.slice(Number(Marker), end), NextMarker: end < items.length ? String(end) : undefined };
  };
  const send = async (command: object) => {
    if (command instanceof ListVersionsByFunctionCommand) {
      const { items: Versions, NextMarker } = page(all, 2, command.input.Marker);
      return { Versions, NextMarker };
    }
    if (command instanceof ListAliasesCommand) {
      const { items: Aliases, NextMarker } = page(aliases, 1, command.input.Marker);
      return { Aliases, NextMarker };
    }
    if (!(command instanceof DeleteFunctionCommand)) throw new Error('unexpected');
    if (fails) throw Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });
    expect(command.input.FunctionName).toBe('token');
    deleted.push(command.input.Qualifier ?? 'the function itself');
    return {};
  };
  const run = makeEndRelease({
    readStackStatus: async () => status,
    lambda: { send } as never,
    warn: text => warnings.push(text),
  });
  return { run, deleted, warnings };
}

it('deletes all but the newest three versions', async () => {
  const { run, deleted } = cleanerOf({});
  await run(request());
  expect(deleted).toEqual(['4', '3']);
});

it('orders versions as numbers', async () => {
  const { run, deleted } = cleanerOf({ versions: [11, 10, 9, 8], aliases: [{ FunctionVersion: '11' }] });
  await run(request());
  expect(deleted).toEqual(['8']);
});

it('keeps what an alias leads to, with all requests or a part of them', async () => {
  const weighted = { FunctionVersion: '7', RoutingConfig: { AdditionalVersionWeights: { '4': 0.1 } } };
  const { run, deleted } = cleanerOf({ versions: [7, 6, 5, 4, 3, 2], aliases: [weighted, { FunctionVersion: '3' }] });
  await run(request());
  expect(deleted).toEqual(['2']);
});

it.each([
  ['after two bad releases', [7, 6, 5, 4, 3, 2, 1], 'rolled back from 6, 5 to 4 at 2026-11-22T00:00:00Z', ['2', '1']],
  ['after many', [9, 8, 7, 6, 5, 4, 3, 2], 'rolled back from 8, 7, 6, 5 to 4 at 2026-11-22T00:00:00Z', ['6', '5', '2']],
  [
    'that it was led back to, long ago',
    [9, 8, 7, 6, 3, 2],
    'rolled back from 5 to 3 at 2026-11-22T00:00:00Z',
    ['6', '2'],
  ],
] as const)('keeps three versions that nobody took back, %s', async (_case, versions, Description, gone) => {
  const live = { FunctionVersion: String(versions[0]), Description };
  const { run, deleted } = cleanerOf({ versions: [...versions], aliases: [live] });
  await run(request());
  expect(deleted).toEqual(gone);
});

it('keeps what the alias led to before this deployment, which may still fail', async () => {
  const { run, deleted } = cleanerOf({});
  await run({ ...request(), OldResourceProperties: { Release: 'r1', Versions: [`${arn}:3`] } });
  expect(deleted).toEqual(['4']);
});

it.each([
  ['it is deleted', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'Delete'],
  ['its stack rolls back', 'UPDATE_ROLLBACK_IN_PROGRESS', 'Update'],
] as const)('deletes nothing where %s', async (_case, status, type) => {
  const { run, deleted } = cleanerOf({ status });
  await run(request(type));
  expect(deleted).toEqual([]);
});

it('fails no deployment: it says what stays', async () => {
  const { run, warnings } = cleanerOf({ fails: true });
  await run(request());
  expect(warnings).toEqual(['old versions of token were not deleted: AccessDeniedException: not authorized']);
});

it('tells the release, and which functions got a version by it', async () => {
  const { run } = cleanerOf({});
  const after = { Release: 'r2', Versions: [`${arn}:7`, `${arn}-two:3`] };
  const before = { Release: 'r1', Versions: [`${arn}:6`, `${arn}-two:3`] };
  const told = async (ResourceProperties: typeof after, OldResourceProperties?: typeof before) => {
    const stack = { StackId: 'the stack', RequestType: 'Update' as const, ResourceProperties };
    return (await run({ ...stack, ...(OldResourceProperties && { OldResourceProperties }) })).Data.Release;
  };
  expect(await told(after, before)).toBe('r2 token');
  expect(await told(after)).toBe('r2 token,token-two');
  expect(await told({ ...after, Versions: before.Versions }, before)).toBe('r2 ');
});
