import { minOtherLanes, reservedConcurrency, unreservedConcurrency } from './account-concurrency.ts';
import { type LaneConcurrency, laneConcurrency } from './lane-concurrency.ts';
import type { StageValues } from './stage-values.ts';

/** Returns a message for each rule that a stage's values violate. The message names the key to change and its valid values. */
export function violatedRules(values: StageValues): readonly string[] {
  return rules.map(rule => rule(values)).filter(problem => problem !== false);
}

const rules: readonly ((values: StageValues) => string | false)[] = [
  ({ account, region }) => !account !== !region && 'account and region must be set together',
  ({ authDomain, baseDomain }) =>
    authDomain !== undefined &&
    authDomain.name === baseDomain?.name &&
    'baseDomain must not be authDomain: each API needs its own host',
  ({ authDomain, ...home }) =>
    isElsewhere(authDomain, home) && 'authDomain certificateArn must be in the account and Region of the stage',
  ({ baseDomain, ...home }) =>
    isElsewhere(baseDomain, home) && 'baseDomain certificateArn must be in the account and Region of the stage',
  ({ smokeReceiverUrl, authDomain, baseDomain }) =>
    smokeReceiverUrl !== undefined &&
    [authDomain?.name, baseDomain?.name].includes(new URL(smokeReceiverUrl).hostname) &&
    'smokeReceiverUrl must not be authDomain or baseDomain: Emissor never delivers to itself',
  ({ removalPolicy, protection }) =>
    removalPolicy === 'destroy' && protection && 'protection must be false if removalPolicy is destroy',
  ({ retrySchedule }) =>
    retrySchedule.reduce((sum, wait) => sum + wait, 0) > 9 * day &&
    'retrySchedule must be at most 9d in total: a delayed delivery ends 10 days after its event, and Retry-After may add 1 day. Remove or shorten waits',
  accountTooSmall,
];

const day = 86_400_000;

function isElsewhere(
  domain: StageValues['authDomain'],
  { account, region }: Pick<StageValues, 'account' | 'region'>,
): boolean {
  return domain !== undefined && account !== undefined && !domain.certificateArn.includes(`:acm:${region}:${account}:`);
}

/** Returns a message if the reservations leave too little for Lambda's unreserved minimum, or for the lanes, the sweeper and a request. */
function accountTooSmall(values: StageValues): string | false {
  const { accountConcurrency, tokenConcurrency, smokeReceiverUrl } = values;
  if (tokenConcurrency === 0) return false;
  const reserved = reservedConcurrency(values);
  const lanes = sumOf(laneConcurrency(accountConcurrency));
  const others = Math.max(unreservedConcurrency, lanes + minOtherLanes);
  if (accountConcurrency >= reserved + others) return false;
  const owners =
    smokeReceiverUrl === undefined ? 'tokenConcurrency and the smoke receiver reserve' : 'tokenConcurrency reserves';
  return `accountConcurrency must be at least ${reserved + others}, because ${owners} ${reserved} and all other functions need ${others}. Request a higher quota (Service Quotas, AWS Lambda, Concurrent executions), or lower tokenConcurrency`;
}

function sumOf(lanes: LaneConcurrency): number {
  return Object.values(lanes).reduce((sum, concurrency) => sum + concurrency, 0);
}
