import { expect, it } from 'vitest';
import {
  handler,
  makeDeploymentTrigger,
  type TriggerRequest,
} from '../../../../lambdas/platform/deployment/deployment-trigger.ts';
import { notAnswered } from '../../../../lambdas/platform/deployment/patience.ts';

const request = (
  RequestType: TriggerRequest['RequestType'] = 'Update',
  IsRolledBack: 'true' | 'false' = 'false',
): TriggerRequest => ({
  RequestType,
  StackId: 'the stack',
  ResourceProperties: { HandlerArn: 'function:2', Stage: 'prod', IsRolledBack },
});
const throttled = () =>
  Object.assign(new Error('Rate Exceeded.'), { name: 'TooManyRequestsException', $metadata: { httpStatusCode: 429 } });

/** A trigger in virtual time. `outcomes` are those of its invocations, the last of them for all further ones. */
function triggerIn(status: string | (() => string), ...outcomes: (Error | undefined)[]) {
  const invoked: string[] = [];
  let moment = 0;
  const run = makeDeploymentTrigger({
    readStackStatus: async () => (typeof status === 'string' ? status : status()),
    invoke: async version => {
      const outcome = outcomes[Math.min(invoked.push(version), outcomes.length) - 1];
      if (outcome) throw outcome;
    },
    pause: async milliseconds => {
      moment += milliseconds;
    },
    now: () => moment,
  });
  return { run, invoked, elapsed: () => moment };
}

it.each(['Create', 'Update'] as const)('invokes the version at a %s', async type => {
  const { run, invoked } = triggerIn(`${type.toUpperCase()}_IN_PROGRESS`);
  await run(request(type));
  expect(invoked).toEqual(['function:2']);
});

it.each([
  ['it is deleted', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'Delete'],
  ['its stack rolls back an update', 'UPDATE_ROLLBACK_IN_PROGRESS', 'Update'],
  ['its stack rolls back its creation', 'ROLLBACK_IN_PROGRESS', 'Create'],
] as const)('invokes nothing where %s', async (_case, status, type) => {
  const { run, invoked } = triggerIn(status, new Error('both versions fail'));
  await run(request(type));
  expect(invoked).toEqual([]);
});

it('fails with what the version failed with, at once', async () => {
  const { run, invoked } = triggerIn('UPDATE_IN_PROGRESS', new Error('argon2 is missing'));
  await expect(run(request())).rejects.toThrow('argon2 is missing');
  expect(invoked).toHaveLength(1);
});

it.each([
  ['false', 'argon2 is missing'],
  ['true', 'argon2 is missing – after a roll-back: type "npm run ops -- --stage prod rollback" now'],
] as const)('says what to type where that is after a roll-back: %s', async (isRolledBack, message) => {
  const { run } = triggerIn('UPDATE_IN_PROGRESS', new Error('argon2 is missing'));
  const failed = await run(request('Update', isRolledBack)).catch((error: Error) => error);
  expect(failed).toMatchObject({ message, stack: expect.stringContaining(`Error: ${message}\n`) });
});

it('repeats what is throttled, not permitted yet, or answered with a fault', async () => {
  const [denied, fault] = ['AccessDeniedException', notAnswered].map(name =>
    Object.assign(new Error('not yet'), { name }),
  );
  const { run, invoked } = triggerIn('UPDATE_IN_PROGRESS', throttled(), denied, fault, undefined);
  await run(request());
  expect(invoked).toHaveLength(4);
});

it('ends after three minutes without a free place, so that the stack can roll back', async () => {
  const { run, elapsed } = triggerIn('UPDATE_IN_PROGRESS', throttled());
  await expect(run(request())).rejects.toThrow('Rate Exceeded.');
  expect(elapsed()).toBe(180_000);
});

it('ends without a failure where the stack begins to roll back meanwhile', async () => {
  const states = ['UPDATE_IN_PROGRESS', 'UPDATE_ROLLBACK_IN_PROGRESS'];
  const { run, invoked } = triggerIn(() => states.shift() ?? '', throttled());
  await run(request());
  expect(invoked).toHaveLength(1);
});

it('repeats the question about the stack, too', async () => {
  let asked = 0;
  const status = () => {
    asked += 1;
    if (asked === 1) throw Object.assign(new Error('Rate exceeded'), { name: 'Throttling' });
    return 'UPDATE_ROLLBACK_IN_PROGRESS';
  };
  const { run, invoked } = triggerIn(status, new Error('fails'));
  await run(request());
  expect([asked, invoked]).toEqual([2, []]);
});

it('is one function for the start of a release, too: CloudFormation tells which it asks for', async () => {
  const properties = { Gradual: 'true', Versions: [] } as const;
  const start = { ...request('Delete'), ResourceProperties: { ...request().ResourceProperties, ...properties } };
  expect(await handler({ ResourceType: 'Custom::ReleaseStart', ...start })).toEqual({
    Data: { IsRolledBack: 'false' },
  });
  expect(await handler({ ResourceType: 'Custom::Trigger', ...start })).toBeUndefined();
});
