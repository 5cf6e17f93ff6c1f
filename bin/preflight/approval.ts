import { isDeepStrictEqual } from 'node:util';
import { type StackName, stackNamesOf } from '../actions/stage-stacks.ts';
import type { Check, Subject } from './checks.ts';
import { type Finding, ok } from './finding.ts';
import { resourcesOf, type Template } from './synthesis.ts';

/** Finds the questions that `cdk deploy` will ask: by default it stops before it widens permissions. */
export const approvalCheck: Check = {
  name: 'permissions',
  needs: ['cloudformation:DescribeStacks', 'cloudformation:GetTemplate'],
  check: checkPermissions,
};

async function checkPermissions(subject: Subject): Promise<Finding> {
  const deployed = await subject.deployedTemplates();
  const changes = stackNamesOf(subject.configuration).flatMap(name =>
    changeOf(name, subject.synthesis.templates[name] ?? {}, deployed.get(name)),
  );
  const { stage } = subject.configuration;
  if (changes.length === 0) return ok('deploy asks nothing: permissions stay as they are');
  const told = changes.map(({ name, isNew }) => (isNew ? `${name} (new)` : name));
  return ok(
    `deploy shows what changes in permissions, and asks where they get wider: ${told.join(', ')}. To see it before: npx cdk diff --all --security-only --method=template -c stage=${stage}. In CI: read that, then add --require-approval never`,
  );
}

/** Returns a stack in which something that grants is new or changed; none where all of it stays. */
function changeOf(name: StackName, next: Template, before: Template | undefined) {
  const granted = new Map(resourcesOf(before ?? {}, ...grantingTypes));
  const changed = resourcesOf(next, ...grantingTypes).filter(
    ([id, { Properties }]) => !isDeepStrictEqual(granted.get(id)?.Properties, Properties),
  );
  return changed.length === 0 ? [] : [{ name, isNew: before === undefined }];
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
