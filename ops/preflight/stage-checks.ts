import { ownStacks } from '../deployment/latest-deployment.ts';
import { functionOf } from '../deployment/live-functions.ts';
import { isDeployed } from '../deployment/stack-states.ts';
import { outputsOfStacks, stackNameOf } from '../stage/stage-stacks.ts';
import { type Check, type Finding, ok, problem, type Subject, unknown } from './checks.ts';
import { resourcesOf, type Template } from './synthesis.ts';

/** The checks of all that is already there of the stage, and must not be hurt. */
export const stageChecks: readonly Check[] = [
  {
    name: 'roll-backs',
    needs: ['cloudformation:DescribeStacks', 'cloudformation:ListStackResources', 'lambda:GetAlias'],
    check: checkRollbacks,
  },
  { name: 'protection', needs: ['cloudformation:DescribeStacks'], check: checkProtection },
  { name: 'version', needs: ['cloudformation:DescribeStacks'], check: checkVersion },
  { name: 'other Regions', needs: ['iam:ListRoles'], check: checkOtherRegions },
  {
    name: 'left-overs',
    needs: ['cloudformation:DescribeStacks', 'dynamodb:ListTables', 'sqs:ListQueues'],
    check: checkLeftOvers,
  },
  {
    name: 'alarm recipients',
    needs: ['cloudformation:DescribeStacks', 'cloudformation:GetTemplate', 'sns:ListSubscriptionsByTopic'],
    check: checkRecipients,
  },
];

/**
 * A roll-back is for a while: what it took back comes again with the next deployment, unless somebody mended it, and where that fails,
 * as it was. CodeDeploy shifts from the version that CloudFormation led to last, which is the one that was taken back.
 */
async function checkRollbacks(subject: Subject): Promise<Finding> {
  const { configuration, stacks, aws, synthesis } = subject;
  const found = await aws.rolledBack(ownStacks({ configuration, stacks: await stacks() }));
  if (found.length === 0) return ok('no function is rolled back');
  const rollback = `npm run ops -- --stage ${configuration.stage} rollback`;
  const inUse = found.filter(({ state }) => state !== 'rolled back');
  if (inUse.length > 0) {
    const told = inUse.map(({ function: name, from, state }) =>
      state === 'returned' ? `${name} is at ${from} again, which was taken back` : `${name} still shifts to ${from}`,
    );
    return problem(told.join(', '), `${rollback}, at once: it leads them back`);
  }
  const shifted = Object.values(synthesis.templates)
    .flatMap(template => resourcesOf(template, 'AWS::Lambda::Alias'))
    .filter(([, { UpdatePolicy }]) => UpdatePolicy !== undefined)
    .map(([id]) => functionOf(id));
  const gradual = found.filter(({ function: name }) => shifted.includes(name));
  const told = found.map(({ function: name, from, to, at }) => `${name} (from ${from} to ${to} at ${at})`);
  const text = `the stage is rolled back: ${told.join(', ')}`;
  if (gradual.length > 0) {
    return problem(
      `${text}. A gradual deployment may shift ${gradual.map(({ function: name }) => name).join(', ')} from what was taken back`,
      `set gradual: false in stages/${configuration.stage}.ts for this deployment, and true again after it`,
    );
  }
  return ok(
    `${text}. This deployment publishes a new version of every function and leads all to it: what was wrong must be mended in it. If it fails, what was taken back may be in use again: ${rollback}, at once`,
  );
}

/** A protected stack whose first deployment fails can neither be updated nor deleted, nor can its tables. */
async function checkProtection(subject: Subject): Promise<Finding> {
  const { stage, protection, removalPolicy } = subject.configuration;
  // The stack for smoke tests holds nothing, and is never protected.
  const missing = (await subject.stacks()).filter(stack => stack.name !== 'Smoke' && !isDeployed(stack));
  const names = missing.map(({ stackName }) => stackName).join(', ');
  if (protection && missing.some(({ name }) => name === 'Data')) {
    return problem(
      `protection is on before the first deployment of ${names}: if that fails, CloudFormation cannot take away what it made`,
      `write protection: false into stages/${stage}.ts, deploy, then switch it on and deploy again`,
    );
  }
  if (protection && missing.length > 0) {
    return ok(
      `on, and must stay on. If the first deployment of ${names} fails, take the protection off that one stack (aws cloudformation update-termination-protection --no-enable-termination-protection), and deploy again`,
    );
  }
  if (protection) return ok('on');
  if (removalPolicy === 'destroy') return ok('off, for a stage that is there to be deleted');
  return ok(
    missing.length > 0
      ? 'off, as it must be for the first deployment: switch it on after that'
      : `off, although the stage keeps data: write protection: true into stages/${stage}.ts`,
  );
}

/** A release has the next version. A repair in an emergency should bring nothing else that was made since. */
async function checkVersion(subject: Subject): Promise<Finding> {
  const next = String(subject.synthesis.templates.Data?.Outputs?.ServiceVersion?.Value);
  const stacks = await subject.stacks();
  const deployed = new Set(stacks.flatMap(stack => outputsOfStacks([stack]).ServiceVersion ?? []));
  if (deployed.size === 0) return ok(`${next}, the first that is deployed`);
  if (deployed.size === 1 && deployed.has(next)) return ok(`${next}, as what was deployed last`);
  return ok(
    `${[...deployed].join(' and ')} is deployed, and this checkout is ${next}: a repair is deployed from the release that is deployed (docs/runbook.md, "Releasing")`,
  );
}

async function checkOtherRegions({ configuration: { stage }, aws, region }: Subject): Promise<Finding> {
  const others = (await aws.regionsOfRoles()).filter(found => found !== region);
  if (others.length === 0) return ok(`no function of stage ${stage} is in another Region`);
  return problem(
    `stage ${stage} is deployed in ${others.join(', ')} of this account already`,
    `a stage is in one Region: copy stages/${stage}.ts to a stage of another name, or delete the other one first`,
  );
}

/** Finds what outlived an earlier deployment of that name. It is not taken over: the new stage would begin empty beside it. */
async function checkLeftOvers(subject: Subject): Promise<Finding> {
  const { configuration, aws, region } = subject;
  const { stage, removalPolicy } = configuration;
  const stacks = await subject.stacks();
  if (stacks.some(({ found }) => found?.StackStatus?.endsWith('_IN_PROGRESS'))) {
    return unknown('a deployment is under way: what belongs to the stage is not known before it has ended');
  }
  const own = Object.values(outputsOfStacks(stacks));
  const [tables, ...queues] = await Promise.all([
    aws.tables(`${stackNameOf(stage, 'Data')}-`),
    aws.queues(`${stackNameOf(stage, 'Data')}-`),
    aws.queues(`${stackNameOf(stage, 'Delivery')}-`),
  ]);
  const left = [...tables.names, ...queues.flat()].filter(name => !own.includes(name));
  const looked = tables.isCutOff ? ' among the first 1,000 tables' : '';
  if (left.length === 0) return ok(`nothing remains of an earlier deployment${looked}`);
  const names = groups(left.map(name => name.slice(name.lastIndexOf('/') + 1)));
  const isFirst = stacks.every(stack => !isDeployed(stack));
  const text = `${left.length} tables and queues remain of an earlier deployment: ${names}`;
  if (!isFirst || removalPolicy === 'destroy') return ok(`${text}; nobody uses them`);
  return problem(
    `${text}. The stage would begin without their data`,
    `if their data is wanted, do not deploy: docs/runbook.md, "Restoring". If not, delete them and the KMS key described as "Emissor ${stage}: …" in ${region}; or deploy in spite of this finding: they stay as they are`,
  );
}

/** Names by their stack, since a stage has a dozen of them: `8 of Emissor-prod-Data (Emissor-prod-Data-Clients…)`. */
function groups(names: readonly string[]): string {
  const byStack = Map.groupBy(names, name => name.split('-').slice(0, -2).join('-') || name);
  return [...byStack]
    .map(([stack, own]) => `${own.length} of ${stack} (${own[0]}${own.length > 1 ? ', …' : ''})`)
    .join(', ');
}

/** CloudFormation does not know whether anybody confirmed, and makes no subscription again that was removed. */
async function checkRecipients(subject: Subject): Promise<Finding> {
  const { alarmRecipients } = subject.configuration;
  const stacks = await subject.stacks();
  const { PagesTopicArn, TicketsTopicArn } = outputsOfStacks(stacks);
  const topicArns = [PagesTopicArn, TicketsTopicArn].filter(topicArn => topicArn !== undefined);
  if (alarmRecipients.length === 0) return ok('the stage names none: alarms go to who subscribed to its topics');
  if (topicArns.length === 0) {
    return ok(`${alarmRecipients.join(', ')} must confirm the e-mails that come with the first deployment`);
  }
  const findings = await Promise.all(topicArns.map(topicArn => checkTopic(subject, topicArn)));
  return findings.find(({ state }) => state !== 'ok') ?? (findings[0] as Finding);
}

async function checkTopic(subject: Subject, topicArn: string): Promise<Finding> {
  const { alarmRecipients } = subject.configuration;
  const mailboxes = await subject.aws.mailboxes(topicArn);
  const inState = (wanted?: string) => alarmRecipients.filter(address => mailboxes.get(address) === wanted);
  const [confirmed, pending, missing] = [inState('confirmed'), inState('not confirmed'), inState()];
  const asked = subscribedBy((await subject.deployedTemplates()).get('Data'));
  const dropped = missing.filter(address => asked.includes(address));
  if (pending.length > 0) {
    return problem(
      `${pending.join(', ')} did not confirm the subscription: no alarm arrives there`,
      `each confirms by the link in the e-mail of AWS Notifications. Where that is lost: ${subscribe(topicArn)}`,
    );
  }
  if (dropped.length > 0) {
    return problem(
      `${dropped.join(', ')} has no subscription any more: nobody confirmed it, or somebody ended it, and a deployment does not make it again`,
      subscribe(topicArn),
    );
  }
  return ok(
    [
      ...(confirmed.length > 0 ? [`${confirmed.join(', ')} confirmed`] : []),
      ...(missing.length > 0 ? [`${missing.join(', ')} gets an e-mail by this deployment, and must confirm it`] : []),
    ].join('; '),
  );
}

function subscribedBy(template: Template | undefined): readonly unknown[] {
  return resourcesOf(template ?? {}, 'AWS::SNS::Subscription').map(([, { Properties }]) => Properties?.Endpoint);
}

function subscribe(topicArn: string): string {
  return `aws sns subscribe --region ${topicArn.split(':')[3]} --topic-arn ${topicArn} --protocol email --notification-endpoint ADDRESS`;
}
