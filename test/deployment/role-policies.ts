import {
  CreateRoleCommand,
  GetRolePolicyCommand,
  IAMClient,
  ListRolePoliciesCommand,
  PutRolePolicyCommand,
  paginateListRoles,
} from '@aws-sdk/client-iam';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import type { ClientSettings } from './inventory.ts';

/** A statement of a policy, as CloudFormation writes it. */
export interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * Changes the statements of one role that allow an action.
 *
 * @param part - what the role's name holds, such as `Auth-Token`.
 * @param change - what becomes of each of those statements; `undefined` takes it away.
 * @returns what undoes it.
 * @throws when there is not one such role, or nothing of it allows the action.
 */
export async function changePolicies(
  settings: ClientSettings,
  part: string,
  action: string,
  change: (statement: Statement) => Statement | undefined,
): Promise<() => Promise<void>> {
  const client = new IAMClient(settings);
  const RoleName = await roleNamed(client, part);
  const undo: (() => Promise<unknown>)[] = [];
  const { PolicyNames = [] } = await client.send(new ListRolePoliciesCommand({ RoleName }));
  for (const PolicyName of PolicyNames) {
    const { PolicyDocument = '' } = await client.send(new GetRolePolicyCommand({ RoleName, PolicyName }));
    const document = decodeURIComponent(PolicyDocument);
    const policy: { readonly Statement: readonly Statement[] } = JSON.parse(document);
    if (!policy.Statement.some(statement => actionsOf(statement).includes(action))) continue;
    const Statement = policy.Statement.flatMap(statement =>
      actionsOf(statement).includes(action) ? (change(statement) ?? []) : statement,
    );
    const put = (text: string) => client.send(new PutRolePolicyCommand({ RoleName, PolicyName, PolicyDocument: text }));
    await put(JSON.stringify({ ...policy, Statement }));
    undo.push(() => put(document));
  }
  if (undo.length === 0) throw new Error(`No policy of ${RoleName} allows ${action}.`);
  return async () => {
    for (const put of undo) await put();
  };
}

/** Returns a statement without one of its actions. */
export function without(action: string): (statement: Statement) => Statement | undefined {
  return statement => {
    const Action = actionsOf(statement).filter(other => other !== action);
    return Action.length === 0 ? undefined : { ...statement, Action };
  };
}

/** Makes a role that may send to a queue. Returns the settings of a client that has assumed it. */
export async function assumeSender(root: ClientSettings, name: string, account: string, Resource: string) {
  const iam = new IAMClient(root);
  const policy = (statement: object) => JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  const trust = policy({ Effect: 'Allow', Principal: { AWS: '*' }, Action: 'sts:AssumeRole' });
  const sending = policy({ Effect: 'Allow', Action: 'sqs:SendMessage', Resource });
  await iam.send(new CreateRoleCommand({ RoleName: name, AssumeRolePolicyDocument: trust }));
  await iam.send(new PutRolePolicyCommand({ RoleName: name, PolicyName: name, PolicyDocument: sending }));
  const role = { RoleArn: `arn:aws:iam::${account}:role/${name}`, RoleSessionName: name };
  const { Credentials } = await new STSClient(root).send(new AssumeRoleCommand(role));
  const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '' } = Credentials ?? {};
  return {
    ...root,
    credentials: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken },
  };
}

async function roleNamed(client: IAMClient, part: string): Promise<string> {
  const names: string[] = [];
  for await (const { Roles = [] } of paginateListRoles({ client }, {})) {
    names.push(...Roles.flatMap(({ RoleName = '' }) => (RoleName.includes(part) ? RoleName : [])));
  }
  const [name, ...others] = names;
  if (name === undefined || others.length > 0) throw new Error(`Roles with ${part}: ${names.join(', ') || 'none'}.`);
  return name;
}

function actionsOf({ Action }: Statement): readonly string[] {
  return typeof Action === 'string' ? [Action] : Action;
}
