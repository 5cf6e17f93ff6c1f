import { expect, it } from 'vitest';
import {
  type Deployment,
  type HookEffects,
  makePreTrafficHook,
} from '../../../../lambdas/platform/deployment/pre-traffic-hook.ts';
import { frozenClock } from '../../../support/clock.ts';

// CodeDeploy waits an hour for the status of a hook (AppSpec 'hooks', BeforeAllowTraffic), so the hook always reports a status.

const event = { DeploymentId: 'd-1', LifecycleEventHookExecutionId: 'e-1' };
const denied = () => Object.assign(new Error('secret text'), { name: 'AccessDeniedException' });

/** Runs the hook for a deployment. Time passes only during pauses. */
async function run(deployment: Deployment, changes: Partial<HookEffects> = {}) {
  const clock = frozenClock();
  const checked: string[] = [];
  const reported: unknown[] = [];
  const lines: string[] = [];
  const hook = makePreTrafficHook({
    now: clock.now,
    pause: async milliseconds => clock.advance(milliseconds),
    log: {
      info: (name, fields) => void lines.push(JSON.stringify({ name, ...fields })),
      error: (name, fields) => void lines.push(JSON.stringify({ name, ...fields })),
    },
    versions: { 'group-token': 'arn:token:7', 'group-revoke': 'arn:revoke:3' },
    getDeployment: async () => deployment,
    getStackStatus: async () => 'UPDATE_IN_PROGRESS',
    checkVersion: async version => void checked.push(version),
    report: async (hookEvent, status) => void reported.push([hookEvent, status]),
    ...changes,
  });
  await hook(event);
  return { checked, reported, lines };
}

const tokenDeployment = { creator: 'user', deploymentGroupName: 'group-token' };

it('checks the new version of the deployment group, and reports success', async () => {
  const { checked, reported } = await run(tokenDeployment);
  expect(checked).toEqual(['arn:token:7']);
  expect(reported).toEqual([[event, 'Succeeded']]);
});

it.each<[string, Deployment, Partial<HookEffects>]>([
  ['the self-check fails', tokenDeployment, { checkVersion: () => Promise.reject(new TypeError('secret text')) }],
  ['IAM still denies access after 3 minutes', tokenDeployment, { checkVersion: () => Promise.reject(denied()) }],
  ['CodeDeploy does not return the deployment', {}, { getDeployment: () => Promise.reject(denied()) }],
  ['the hook has no version of the group', { ...tokenDeployment, deploymentGroupName: 'another' }, {}],
])('reports a failure and does not log the error message if %s', async (_case, deployment, changes) => {
  const { reported, lines } = await run(deployment, changes);
  expect(reported).toEqual([[event, 'Failed']]);
  expect(lines.join()).toContain('"version.failed"');
  expect(lines.join()).not.toContain('secret text');
});

it('waits until an IAM permission becomes effective', async () => {
  let calls = 0;
  const later = async () => {
    calls += 1;
    if (calls < 10) throw denied();
  };
  expect((await run(tokenDeployment, { checkVersion: later })).reported).toEqual([[event, 'Succeeded']]);
  expect((await run(tokenDeployment, { report: later })).lines).toHaveLength(1);
});

// After a failed rollback, a stack accepts no further deployment.
it.each<[string, Partial<Deployment>, string]>([
  ['CodeDeploy', { creator: 'codeDeployRollback' }, 'UPDATE_IN_PROGRESS'],
  ['CloudFormation', {}, 'UPDATE_ROLLBACK_IN_PROGRESS'],
])('allows a rollback by %s without a check', async (_case, changes, status) => {
  const { checked, reported } = await run({ ...tokenDeployment, ...changes }, { getStackStatus: async () => status });
  expect({ checked, reported }).toEqual({ checked: [], reported: [[event, 'Succeeded']] });
});
