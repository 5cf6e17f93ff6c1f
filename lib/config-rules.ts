import {
  fewestBesideLanes,
  receiverConcurrency,
  reservedConcurrency,
  unreservedConcurrency,
} from './account-concurrency.ts';
import { type LanePlaces, lanePlaces } from './lane-places.ts';
import type { StageValues } from './stage-values.ts';

/** Returns a text for each rule between values that a stage breaks: the key to change, and what its value must be. */
export function brokenRules(values: StageValues): readonly string[] {
  const all = { ...lanePlaces(values.accountConcurrency), ...values };
  return rules.map(rule => rule(all)).filter(problem => problem !== false);
}

const rules: readonly ((values: StageValues & LanePlaces) => string | false)[] = [
  ({ account, region }) => !account !== !region && 'region must be given together with account',
  ({ authDomain, baseDomain }) =>
    authDomain !== undefined &&
    authDomain.name === baseDomain?.name &&
    'baseDomain must not be authDomain: each API has a host of its own',
  ({ authDomain, ...home }) =>
    isElsewhere(authDomain, home) && "authDomain certificateArn must be of the stage's own account and Region",
  ({ baseDomain, ...home }) =>
    isElsewhere(baseDomain, home) && "baseDomain certificateArn must be of the stage's own account and Region",
  ({ smokeReceiverUrl, authDomain, baseDomain }) =>
    smokeReceiverUrl !== undefined &&
    [authDomain?.name, baseDomain?.name].includes(new URL(smokeReceiverUrl).hostname) &&
    'smokeReceiverUrl must not be authDomain or baseDomain: Emissor never delivers to itself',
  ({ removalPolicy, protection }) =>
    removalPolicy === 'destroy' && protection && 'protection must be false where removalPolicy is destroy',
  ({ retrySchedule }) =>
    retrySchedule.reduce((sum, wait) => sum + wait, 0) > 9 * day &&
    'retrySchedule must be 9d at most in all, since from 10 days after its event on a delivery ends, with attempts left, once a slow receiver or a fault of ours delays it, and a receiver may ask for one day more: leave out waits, or shorten them',
  accountTooSmall,
  lanesTooLarge,
];

const day = 86_400_000;

function isElsewhere(
  domain: StageValues['authDomain'],
  { account, region }: Pick<StageValues, 'account' | 'region'>,
): boolean {
  return domain !== undefined && account !== undefined && !domain.certificateArn.includes(`:acm:${region}:${account}:`);
}

/** Where only the receiver of smoke tests would reserve, no rule is broken: it does without. */
function accountTooSmall(values: StageValues): string | false {
  const { accountConcurrency, tokenConcurrency, apiConcurrency, smokeReceiverUrl } = values;
  const reserved = reservedConcurrency(values);
  const needed = reserved + unreservedConcurrency;
  if (tokenConcurrency + apiConcurrency === 0 || accountConcurrency >= needed) return false;
  const whose =
    smokeReceiverUrl === undefined
      ? 'tokenConcurrency, apiConcurrency and the receiver of smoke tests'
      : 'tokenConcurrency and apiConcurrency';
  return `accountConcurrency must be ${needed} at least, because ${whose} reserve ${reserved} and Lambda keeps ${unreservedConcurrency} for all other functions: have the quota raised (Service Quotas, AWS Lambda, Concurrent executions), or set tokenConcurrency and apiConcurrency to 0`;
}

/** Lanes that take all executions leave none to the sweeper, to logins and to the APIs where these reserve none. */
function lanesTooLarge(values: StageValues & LanePlaces): string | false {
  const { accountConcurrency, firstConcurrency, retryConcurrency, slowConcurrency } = values;
  const reserved = reservedConcurrency({ ...values, smokeReceiverUrl: '' }) + (receiverConcurrency(values) ?? 0);
  const most = accountConcurrency - reserved - fewestBesideLanes;
  const lanes = firstConcurrency + retryConcurrency + slowConcurrency;
  return (
    lanes > most &&
    `firstConcurrency, retryConcurrency and slowConcurrency must be ${most} at most together, and are ${lanes}, because the sweeper and all functions that reserve nothing share the rest of accountConcurrency: lower them, tokenConcurrency or apiConcurrency`
  );
}
