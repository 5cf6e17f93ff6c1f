import type { IAMClient } from '@aws-sdk/client-iam';
import * as z from 'zod';
import { describeError } from '../stage/operator.ts';

/** The resources of AWS that a version wants, as far as its settings tell. */
export interface Wants {
  readonly roleArn: string;
  readonly region: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Returns the resources that an older version names in its environment, in another way than the version in use, and that its role, as
 * it is now, has no grant on: a version keeps its code and its settings, not its permissions. Which actions it makes use of nobody but
 * its code knows.
 *
 * @returns `unread` where the role's policies could not be read.
 */
export async function readMissingGrants(
  iam: Pick<IAMClient, 'send'>,
  { roleArn, region, environment }: Wants,
  inUse: Wants['environment'],
): Promise<readonly string[] | { readonly unread: string }> {
  try {
    const granted = await readGranted(iam, roleArn);
    const account = roleArn.split(':')[4] ?? '';
    return Object.entries(environment).flatMap(([variable, value]) => {
      const arn = arnOf(variable, value, { region, account });
      if (inUse[variable] === value) return []; // a grant on it is missing today, or on purpose: some only tell what is theirs
      return arn === undefined || granted.some(pattern => matches(pattern, arn)) ? [] : [`${variable} ${value}`];
    });
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('NoSuchEntity')) return [`its role ${roleArn}, which is gone`];
    return { unread: describeError(error, 'AWS does not answer') };
  }
}

/** Returns the resources that the policies of a role allow anything on. Our roles have inline policies and no others. */
async function readGranted(iam: Pick<IAMClient, 'send'>, roleArn: string): Promise<readonly string[]> {
  const { GetRolePolicyCommand, ListRolePoliciesCommand } = await import('@aws-sdk/client-iam');
  const RoleName = roleArn.slice(roleArn.lastIndexOf('/') + 1);
  const { PolicyNames = [] } = await iam.send(new ListRolePoliciesCommand({ RoleName }));
  const documents = await Promise.all(
    PolicyNames.map(async PolicyName => {
      const { PolicyDocument = '{}' } = await iam.send(new GetRolePolicyCommand({ RoleName, PolicyName }));
      return policyDocument.parse(JSON.parse(decodeURIComponent(PolicyDocument)));
    }),
  );
  return documents
    .flatMap(({ Statement }) => Statement)
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Resource }) => Resource);
}

const policyStatement = z.object({
  Effect: z.string(),
  Resource: z.union([z.string(), z.array(z.string())]).default([]),
});

const policyDocument = z.object({
  Statement: z.union([policyStatement.transform(one => [one]), z.array(policyStatement)]).default([]),
});

/** Returns the ARN of the resource that a variable names; `undefined` where it names none. */
function arnOf(variable: string, value: string, { region, account }: { region: string; account: string }) {
  if (value.startsWith('arn:')) return value;
  if (variable.endsWith('_TABLE')) return `arn:aws:dynamodb:${region}:${account}:table/${value}`;
  const [, owner, queue] = /^https?:\/\/[^/]+\/(\d{12})\/([\w-]+)$/.exec(value) ?? [];
  return queue === undefined ? undefined : `arn:aws:sqs:${region}:${owner}:${queue}`;
}

/** Returns whether the resource of a policy, perhaps with wildcards, is that of an ARN, whatever the partition. */
function matches(pattern: string, arn: string): boolean {
  const parts = withoutPartition(pattern)
    .split('*')
    .map(part => part.split('?').map(RegExp.escape).join('.'));
  return new RegExp(`^${parts.join('.*')}$`).test(withoutPartition(arn));
}

function withoutPartition(arn: string): string {
  return arn.replace(/^arn:[^:]+:/, '');
}
