import { wireReasons } from '../../lambdas/webhooks/representation.ts';
import { reads } from './audit.ts';
import type { LateCause, LateDeliveries } from './late-deliveries.ts';
import { isUnread } from './operator.ts';
import type { RolledBack } from './rolled-back.ts';
import { adviceOn } from './stack-states.ts';
import { isLeftOver, type StageStacks, stackNameOf } from './stage-stacks.ts';
import { type Facts, readFacts } from './status-facts.ts';
import type { Task } from './target.ts';

/** The operators' questions about a whole stage. */
export const actions = { readStatus: reads(readStatus) };

/** The facts, and what needs somebody, with what to do, in sentences. */
export interface Status extends Facts {
  readonly problems: readonly string[];
}

/** Reads what is deployed of a target, how it does, and what needs somebody. It writes nothing, and its reads are bounded. */
async function readStatus({ target, progress }: Task): Promise<Status> {
  const facts = await readFacts(target, progress);
  return { ...facts, problems: findProblems(facts, target.deployed, target.clock.now()) };
}

/**
 * Finds what needs somebody, each in a sentence with what to do, the worst first.
 *
 * @param now - milliseconds since the epoch.
 */
export function findProblems(facts: Facts, deployed: StageStacks | undefined, now: number): readonly string[] {
  return [
    ...(deployed ? [...missingStacks(deployed), ...stackStates(deployed), ...versions(facts, deployed)] : []),
    ...(deployed ? protection(facts, deployed) : []),
    ...rollbacks(facts),
    ...alarms(facts),
    ...deliveries(facts),
    ...backlog(facts),
    ...deadLetters(facts),
    ...webhooks(facts, now),
    ...users(facts),
    ...keys(facts, now),
  ];
}

function missingStacks({ configuration: { stage }, region, account, stacks }: StageStacks): readonly string[] {
  const missing = stacks.filter(({ found }) => found === undefined);
  if (missing.length === 0) return [];
  const next = `npm run preflight -- --stage ${stage}, then npx cdk deploy --all -c stage=${stage}`;
  return missing.length === stacks.length
    ? [`stage ${stage} is not deployed in ${region} of account ${account}: ${next}.`]
    : [`stage ${stage} is deployed in part: without ${list(missing.map(({ stackName }) => stackName))}. ${next}.`];
}

function stackStates(deployed: StageStacks): readonly string[] {
  return deployed.stacks.flatMap(stack => adviceOn(stack, deployed)?.text ?? []);
}

function versions({ stacks }: Pick<Facts, 'stacks'>, deployed: StageStacks): readonly string[] {
  const { configuration } = deployed;
  const { stage } = configuration;
  const leftOver = deployed.stacks.filter(stack => isLeftOver(stack, configuration)).map(({ stackName }) => stackName);
  const byVersion = new Map<string, string[]>();
  for (const { name, version, state } of stacks ?? []) {
    if (state !== null && !leftOver.includes(name))
      byVersion.set(version ?? 'unknown', [...(byVersion.get(version ?? 'unknown') ?? []), name]);
  }
  if (byVersion.size < 2) return [];
  const told = [...byVersion].map(([version, names]) => `${version} (${list(names)})`);
  return [
    `the stacks are at different versions, ${list(told)}: a deployment did not get to its end. npx cdk deploy --all -c stage=${stage}.`,
  ];
}

/** Only a stage that keeps its data must be protected: the others are there to be deleted. */
function protection(facts: Facts, { configuration }: StageStacks): readonly string[] {
  const { stage, removalPolicy } = configuration;
  if (removalPolicy !== 'retain') return [];
  const holdsNothing = stackNameOf(stage, 'Smoke');
  const stacks = (facts.stacks ?? []).filter(
    ({ name, state, terminationProtection }) => name !== holdsNothing && state !== null && !terminationProtection,
  );
  const tables = isUnread(facts.tables) ? [] : facts.tables.filter(table => !table.deletionProtection);
  if (stacks.length + tables.length === 0) return [];
  const open = [
    ...(stacks.length > 0 ? [count(stacks.length, 'stack')] : []),
    ...(tables.length > 0 ? [count(tables.length, 'table')] : []),
  ];
  const next = configuration.protection
    ? `the file stages/${stage}.ts asks for it: npx cdk deploy --all -c stage=${stage}`
    : `once the first deployment is complete, set protection to true in stages/${stage}.ts and deploy again`;
  return [`${list(open)} can be deleted by mistake: nothing protects them. ${capital(next)}.`];
}

function rollbacks({ rolledBack, stage }: Pick<Facts, 'rolledBack' | 'stage'>): readonly string[] {
  if (isUnread(rolledBack)) return [];
  const told = (state: RolledBack['state']) =>
    list(
      rolledBack
        .filter(found => found.state === state)
        .map(({ function: name, from, to }) => `${name} (${from} to ${to})`),
    );
  const [back, returned] = [told('rolled back'), told('returned')];
  return [
    ...(returned === ''
      ? []
      : [
          `the versions that were taken back are in use again, since a deployment failed after the roll-back and was undone, of ${returned}: ${opsOf(stage)} rollback takes them back again.`,
        ]),
    ...(back === ''
      ? []
      : [
          `rolled back: ${back}. Correct what was wrong, and deploy: that leads every function to a new version (docs/runbook.md, "A bad version was deployed").`,
        ]),
  ];
}

function alarms({ alarms }: Pick<Facts, 'alarms'>): readonly string[] {
  if (isUnread(alarms) || alarms.ringing.length === 0) return [];
  const { length } = alarms.ringing;
  return [`${length === 1 ? 'an alarm rings' : `${length} alarms ring`}: docs/runbook.md says what each means.`];
}

function deliveries({ deliveries, stage }: Pick<Facts, 'deliveries' | 'stage'>): readonly string[] {
  if (isUnread(deliveries)) return [];
  const { failed, held, isCutOff } = deliveries;
  const total = (found: typeof failed) => found.reduce((sum, { count }) => sum + count, 0);
  const told = (found: typeof failed, state: string, next: string) => {
    const [most] = found;
    if (!most) return [];
    const { account, event } = most;
    const number = `${isCutOff ? 'at least ' : ''}${count(total(found), `${state} delivery`, `${state} deliveries`)}`;
    return [
      `${number}, ${most.count} of account ${account} for ${event}: ${opsOf(stage)} ${next} --account ${account} --event ${event}.`,
    ];
  };
  return [
    ...late(deliveries.late, stage),
    ...told(failed, 'failed', 'deliveries list --state falhou'),
    ...told(held, 'held', 'deliveries list --state retida'),
  ];
}

function late({ groups }: LateDeliveries, stage: Facts['stage']): readonly string[] {
  const told = groups.slice(0, mostLateTold).map(({ account, event, cause, count: number, isCutOff, since, first }) => {
    const many = number === null ? 'deliveries not counted yet' : count(number, 'delivery', 'deliveries');
    const next =
      cause === 'replay'
        ? `replay ${first} does not go on. docs/runbook.md, "RetriesLate"`
        : `${opsOf(stage)} deliveries show ${first} shows the first`;
    return `${isCutOff ? 'at least ' : ''}${many} of account ${account} for ${event} ${whyLate[cause]} ${since}: ${next}.`;
  });
  const untold = groups.length - told.length;
  return [
    ...told,
    ...(untold > 0
      ? [
          `${count(untold, 'more account and event has', 'more accounts and events have')} late deliveries: --json has them.`,
        ]
      : []),
  ];
}

const whyLate: Readonly<Record<LateCause, string>> = {
  'own fault': 'stopped by a fault of our own and tried again at',
  overdue: 'overdue since',
  'slow queue': 'overdue in the slow queue since',
  'no slot': 'waiting for a slot of their slow webhook, which gives none since',
  replay: 'waiting in a replay since',
};

/** Accounts and events whose late deliveries are told in a sentence each. */
const mostLateTold = 5;

/** Only CloudWatch knows the age of messages; a local run's queues are empty within seconds. */
function backlog({ queues, stage }: Pick<Facts, 'queues' | 'stage'>): readonly string[] {
  if (isUnread(queues)) return [];
  return queues
    .filter(({ queue, waiting, inFlight, oldestSeconds }) => {
      if (queue === 'dead letters') return false;
      return oldestSeconds === null ? waiting + inFlight >= longQueue : waiting > 0 && oldestSeconds > longestInQueue;
    })
    .map(({ queue, waiting, inFlight, oldestSeconds }) => {
      const age = oldestSeconds === null ? '' : `, the oldest for ${oldestSeconds} s`;
      return `${waiting} messages wait in the ${queue} queue, ${inFlight} are in flight${age}: ${opsOf(stage)} webhooks list --slow shows who holds it up.`;
    });
}

/** Messages that wait or are in flight: a look at a quiet run finds fewer. */
const longQueue = 25;

/** Seconds. */
const longestInQueue = 300;

function webhooks({ webhooks, stage }: Pick<Facts, 'webhooks' | 'stage'>, now: number): readonly string[] {
  if (isUnread(webhooks)) return [];
  const long = webhooks.failing.filter(({ since }) => Date.parse(since) <= now - day);
  // What an operator suspended needs nobody: it was meant.
  const suspended = webhooks.suspended.filter(({ reason }) => reason !== wireReasons.operator);
  const told = (found: readonly Troubled[], what: string, option: string) => {
    const [first] = found;
    if (!first) return [];
    const example = `${first.account} for ${first.event} since ${first.since}`;
    return [`${count(found.length, 'webhook')} ${what} (${example}): ${opsOf(stage)} webhooks list ${option}.`];
  };
  return [
    ...told(long, 'had nothing but failures for over a day', '--failing'),
    ...told(suspended, 'suspended for failing', '--suspended'),
  ];
}

function users({ users, stage }: Pick<Facts, 'users' | 'stage'>): readonly string[] {
  if (isUnread(users)) return [];
  const [first] = users.beingDeleted;
  if (!first) return [];
  const number = count(users.beingDeleted.length, 'user is', 'users are');
  return [
    `${number} being deleted (${first.userId} of account ${first.account} since ${first.since}): unless that is under way, ${opsOf(stage)} users delete ${first.userId} completes it.`,
  ];
}

interface Troubled {
  readonly account: string;
  readonly event: string;
  readonly since: string;
}

const day = 86_400_000;

function deadLetters({ queues, stage }: Pick<Facts, 'queues' | 'stage'>): readonly string[] {
  const dead = isUnread(queues) ? undefined : queues.find(({ queue }) => queue === 'dead letters');
  const letters = dead ? dead.waiting + dead.inFlight : 0;
  return letters === 0 ? [] : [`${count(letters, 'dead letter')}: ${opsOf(stage)} dlq list says why.`];
}

function keys({ keys, stage }: Pick<Facts, 'keys' | 'stage'>, now: number): readonly string[] {
  if (isUnread(keys)) return [];
  return keys.flatMap(({ kind, activeSince, nextMadeAt }) => {
    if (activeSince === null) {
      return `there is no ${kind} key: nothing works without one. ${opsOf(stage)} keys rotate makes it.`;
    }
    const isLate = nextMadeAt !== null && now - Date.parse(nextMadeAt) > rotationLateAfter;
    return isLate
      ? `the next ${kind} key has been due since ${nextMadeAt}: does the daily rotation run? ${opsOf(stage)} keys rotate makes it.`
      : [];
  });
}

/** The rotation runs once a day: a key that is due may wait for this long. In milliseconds. */
const rotationLateAfter = 26 * 3_600_000;

/** Returns the operator's command line for the very stage: without its name it works on the local run. */
function opsOf(stage: Facts['stage']): string {
  return stage === null || stage === 'local' ? 'npm run ops --' : `npm run ops -- --stage ${stage}`;
}

function count(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}

function list(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
