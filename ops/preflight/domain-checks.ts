import { outputsOfStacks } from '../stage/stage-stacks.ts';
import { type Check, type Finding, ok, problem, type Subject } from './checks.ts';

/**
 * The check of custom domains. A stage needs its domains before its first integrator: access tokens and integrators' settings contain
 * the URLs, and another domain changes them.
 */
export const domainCheck: Check = {
  name: 'custom domains',
  needs: ['cloudformation:DescribeStacks'],
  check: checkDomains,
};

async function checkDomains({ configuration, stacks }: Subject): Promise<Finding> {
  const outputs = outputsOfStacks(await stacks());
  const changed = apis.filter(({ api, key }) => {
    const url = outputs[`${api}Url`];
    const deployed = outputs[`${api}DomainTarget`] === undefined ? undefined : url;
    const next = configuration[key] && `https://${configuration[key].name}`;
    return url !== undefined && next !== deployed;
  });
  if (changed.length > 0) {
    return problem(
      `the URLs of ${keysOf(changed)} change: the stage rejects all access tokens that it issued, and integrators still call the old URLs`,
      `restore ${keysOf(changed)} in stages/${configuration.stage}.ts. If the stage has no integrators yet, deploy in spite of this finding`,
    );
  }
  const missing = apis.filter(({ key }) => configuration[key] === undefined);
  if (missing.length === 0) return ok('authDomain and baseDomain are set');
  return ok(
    `${keysOf(missing)} not set: domain before the first integrator. A domain that is set later changes the URLs that access tokens and integrators' settings contain`,
  );
}

function keysOf(some: readonly (typeof apis)[number][]): string {
  return some.map(({ key }) => key).join(' and ');
}

const apis = [
  { api: 'Auth', key: 'authDomain' },
  { api: 'Base', key: 'baseDomain' },
] as const;
