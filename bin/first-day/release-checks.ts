import { setTimeout as pause } from 'node:timers/promises';
import { authRoutes } from '../../lambdas/auth/routes.ts';
import { ownStacks } from '../actions/latest-deployment.ts';
import { readLiveFunctions } from '../actions/live-functions.ts';
import { requireOutput } from '../actions/target.ts';
import { type Check, must, until, type World } from './check.ts';

/** The checks of releases. They deploy versions of the discovery function that differ in how long its documents may be cached. */
export const releaseChecks: readonly Check[] = [
  {
    name: 'roll-back',
    claim:
      '`ops rollback` leads functions back within seconds, and the next deployment publishes a new version of every function, although its template is the one before',
    run: checkRollback,
  },
  {
    name: 'canary',
    claim:
      'With `gradual`, CodeDeploy takes a version back that fails, and the deployment fails; `ops rollback` is refused while a deployment is under way, and works after it',
    emulated: 'CodeDeploy is only written down',
    run: checkCanary,
  },
];

async function checkRollback({ target, workshop, ops, progress }: World): Promise<string> {
  must(target.deployed, 'the stage is not deployed');
  const stacks = ownStacks(target.deployed);
  const versions = async () =>
    new Map((await readLiveFunctions(target.connect, stacks)).map(({ name, version }) => [name, version]));
  progress('deploying a version that is to be taken back');
  const bad = await workshop.deploy(cachedFor('1'));
  must(bad.succeeded, `the deployment failed:\n${bad.output.slice(-2_000)}`);
  await isCachedFor(target, '1');
  const before = await versions();

  const began = Date.now();
  const { moved } = await ops<{ moved: { function: string; from: number; to: number }[] }>('rollback');
  const seconds = ((Date.now() - began) / 1_000).toFixed(1);
  must(
    moved.some(({ function: name }) => name === 'Discovery'),
    `the roll-back moved ${moved.map(({ function: name }) => name).join(', ') || 'nothing'}`,
  );
  await isCachedFor(target, '300');

  progress('deploying what is right');
  const right = await workshop.deploy({});
  must(right.succeeded, `the deployment failed:\n${right.output.slice(-2_000)}`);
  await isCachedFor(target, '300');
  const left = [...(await versions())].filter(([name, version]) => version <= (before.get(name) ?? 0));
  must(left.length === 0, `the deployment after the roll-back left ${left.map(([name]) => name).join(', ')} behind`);
  return `${moved.map(({ function: name, from, to }) => `${name} ${from} to ${to}`).join(', ')} in ${seconds} s; then every function had a new version`;
}

async function checkCanary({ target, workshop, ops, progress }: World): Promise<string> {
  const values = { gradual: 'true' };
  const deploy = async (change: object, what: string) => {
    progress(what);
    const { succeeded, output } = await workshop.deploy({ ...change, values });
    must(succeeded, `${what} failed:\n${output.slice(-2_000)}`);
  };
  await deploy({}, 'switching gradual releases on');

  const callers = callAllTheWhile(target);
  try {
    progress('deploying a version that fails');
    const { succeeded, output } = await workshop.deploy({ ...failing, values });
    must(!succeeded, 'a version that answers 500 was deployed, although it is to be taken back');
    must(/roll/i.test(output), `the deployment failed for something else:\n${output.slice(-2_000)}`);
    await isCachedFor(target, '300');

    const underWay = deploy(cachedFor('299'), 'deploying a version that is right, for five minutes');
    underWay.catch(() => {}); // it is looked at below
    try {
      await pause(120_000); // by then CodeDeploy shifts
      const refusal = await ops('rollback').then(() => 'it was not refused', String);
      must(refusal.includes('cancel-update-stack'), `a roll-back during the deployment: ${refusal}`);
    } finally {
      await underWay; // nothing else is deployed meanwhile
    }
    await isCachedFor(target, '299');
    await ops('rollback');
    await isCachedFor(target, '300');
    const failures = callers.stop();
    return `the failing version was taken back after ${failures} answers with 500; the roll-back was refused during the deployment, and worked after it`;
  } finally {
    callers.stop();
    progress('switching gradual releases off');
    await workshop.deploy({});
  }
}

const discovery = 'lambdas/auth/endpoints/discovery.ts';

function cachedFor(seconds: string) {
  return { file: discovery, text: "'public, max-age=300'", replacement: `'public, max-age=${seconds}'` };
}

const failing = {
  file: discovery,
  text: 'const body = JSON.stringify(await document(request));',
  replacement:
    "if (Date.now() > 0) throw new Error('first day'); const body = JSON.stringify(await document(request));",
};

/** An alias may lead back a few seconds after it was told to. */
async function isCachedFor(target: World['target'], seconds: string): Promise<void> {
  const url = `${requireOutput(target, 'AuthUrl')}${authRoutes.Jwks.path}`;
  await until(`a document of the version with max-age=${seconds}`, 1, async () => {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    return answer.headers.get('cache-control') === `public, max-age=${seconds}` ? true : undefined;
  });
}

/** An alarm of a release needs requests. Returns what ends them, and says how many were answered with 5xx. */
function callAllTheWhile(target: World['target']) {
  const url = `${requireOutput(target, 'AuthUrl')}${authRoutes.Jwks.path}`;
  let failures = 0;
  const timer = setInterval(() => {
    fetch(url).then(
      ({ status }) => {
        if (status >= 500) failures += 1;
      },
      () => undefined,
    );
  }, 500);
  return {
    stop: () => {
      clearInterval(timer);
      return failures;
    },
  };
}
