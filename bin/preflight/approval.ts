import { isDeepStrictEqual } from 'node:util';
import { type StackName, stackNameOf, stackNamesOf } from '../ops/stage-stacks.ts';
import type { Check, Subject } from './checks.ts';
import { type Finding, ok } from './finding.ts';
import { resourcesOf, type Template } from './synthesis.ts';

/** What `cdk deploy` will ask: by default it stops before it widens permissions. */
export const approvalCheck: Check = {
  name: 'questions',
  needs: ['cloudformation:DescribeStacks', 'cloudformation:GetTemplate'],
  check: checkQuestions,
};

async function checkQuestions(subject: Subject): Promise<Finding> {
  const deployed = await subject.deployedTemplates();
  const changes = stackNamesOf(subject.configuration).flatMap(name =>
    describeChange(name, subject.synthesis.templates[name] ?? {}, deployed.get(name)),
  );
  const { stage } = subject.configuration;
  if (changes.length === 0) return ok('deploy asks nothing: permissions stay as they are');
  const told = changes.map(({ name, count, isNew }) => {
    const what = `${count} ${count === 1 ? 'resource' : 'resources'}`;
    return `${stackNameOf(stage, name)} (${isNew ? `new, with ${what}` : what})`;
  });
  return ok(
    `deploy shows what changes in permissions, and stops to ask where they get wider: ${told.join(', ')}. "npx cdk diff --all --security-only --method=template -c stage=${stage}" shows it before. Where nobody can answer, as in CI, look at that first and then deploy with --require-approval never`,
  );
}

/** How many resources that grant something are new or changed in a stack. */
function describeChange(name: StackName, next: Template, before: Template | undefined) {
  const granted = new Map(resourcesOf(before ?? {}, ...grantingTypes));
  const changed = resourcesOf(next, ...grantingTypes).filter(
    ([id, { Properties }]) => !isDeepStrictEqual(granted.get(id)?.Properties, Properties),
  );
  return changed.length === 0 ? [] : [{ name, count: changed.length, isNew: before === undefined }];
}

/** The types of the stacks that grant something: identity and resource policies, and who may invoke a function. */
const grantingTypes = [
  'AWS::IAM::Role',
  'AWS::IAM::Policy',
  'AWS::IAM::ManagedPolicy',
  'AWS::Lambda::Permission',
  'AWS::SQS::QueuePolicy',
  'AWS::SNS::TopicPolicy',
  'AWS::Logs::ResourcePolicy',
  'AWS::KMS::Key',
];
