import { expect, it } from 'vitest';
import {
  type Deployment,
  type HookEffects,
  makePreTrafficHook,
} from '../../../../lambdas/platform/deployment/pre-traffic-hook.ts';
import { frozenClock } from '../../../support/clock.ts';

// CodeDeploy waits an hour for the status of a hook (AppSpec 'hooks', BeforeAllowTraffic): it is reported in any case.

const event = { DeploymentId: 'd-1', LifecycleEventHookExecutionId: 'e-1' };
const denied = () => Object.assign(new Error('secret text'), { name: 'AccessDeniedException' });

/** Runs the hook of the deployment of the group of Token. Time passes only while it waits. */
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
    report: async (of, status) => void reported.push([of, status]),
    ...changes,
  });
  await hook(event);
  return { checked, reported, lines };
}

const ofToken = { creator: 'user', deploymentGroupName: 'group-token' };

it('checks the new version of the deployment group, and reports that it may get traffic', async () => {
  const { checked, reported } = await run(ofToken);
  expect(checked).toEqual(['arn:token:7']);
  expect(reported).toEqual([[event, 'Succeeded']]);
});

it.each<[string, Deployment, Partial<HookEffects>]>([
  ['the self-check fails', ofToken, { checkVersion: () => Promise.reject(new TypeError('secret text')) }],
  ['IAM still refuses after three minutes', ofToken, { checkVersion: () => Promise.reject(denied()) }],
  ['CodeDeploy does not return the deployment', {}, { getDeployment: () => Promise.reject(denied()) }],
  ['the hook knows no version of the group', { ...ofToken, deploymentGroupName: 'another' }, {}],
])('reports a failure, and logs no message, if %s', async (_case, deployment, changes) => {
  const { reported, lines } = await run(deployment, changes);
  expect(reported).toEqual([[event, 'Failed']]);
  expect(lines.join()).toContain('"version.failed"');
  expect(lines.join()).not.toContain('secret text');
});

it('waits while IAM spreads a permission', async () => {
  let calls = 0;
  const later = async () => {
    calls += 1;
    if (calls < 10) throw denied();
  };
  expect((await run(ofToken, { checkVersion: later })).reported).toEqual([[event, 'Succeeded']]);
  expect((await run(ofToken, { report: later })).lines).toHaveLength(1);
});

// A stack whose rollback fails takes no further deployment.
it.each<[string, Partial<Deployment>, string]>([
  ['CodeDeploy', { creator: 'codeDeployRollback' }, 'UPDATE_IN_PROGRESS'],
  ['CloudFormation', {}, 'UPDATE_ROLLBACK_IN_PROGRESS'],
])('allows a rollback of %s without a check', async (_case, changes, status) => {
  const { checked, reported } = await run({ ...ofToken, ...changes }, { getStackStatus: async () => status });
  expect({ checked, reported }).toEqual({ checked: [], reported: [[event, 'Succeeded']] });
});
