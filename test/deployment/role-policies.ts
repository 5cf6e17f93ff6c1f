import { region } from './emulator.ts';

/** The policies of the roles of an account. */
export interface RolePolicies {
  /**
   * Changes the statements of one role that allow an action.
   *
   * @param role - what the role's name holds, such as `Auth-Token`.
   * @param change - what becomes of each of those statements; `undefined` takes it away.
   * @returns what undoes it.
   * @throws when there is not one such role, or nothing of it allows the action.
   */
  change(
    role: string,
    action: string,
    change: (statement: Statement) => Statement | undefined,
  ): Promise<() => Promise<void>>;
}

/** A statement of a policy, as CloudFormation writes it. */
export interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Returns a statement without one of its actions. */
export function without(action: string): (statement: Statement) => Statement | undefined {
  return statement => {
    const Action = actionsOf(statement).filter(other => other !== action);
    return Action.length === 0 ? undefined : { ...statement, Action };
  };
}

/** Reads and writes the policies of the account behind an endpoint. The client for IAM is no dependency of this product. */
export function makeRolePolicies(endpoint: string): RolePolicies {
  const call = async (action: string, parameters: Readonly<Record<string, string>> = {}): Promise<string> => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        authorization: `AWS4-HMAC-SHA256 Credential=emulated/20260101/${region}/iam/aws4_request, SignedHeaders=host, Signature=0`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ Action: action, Version: '2010-05-08', ...parameters }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${action}: ${text}`);
    return text;
  };
  const texts = (answer: string, element: string) =>
    [...answer.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g'))].map(([, text = '']) => text);

  return {
    change: async (part, action, change) => {
      const roles = texts(await call('ListRoles', { MaxItems: '1000' }), 'RoleName').filter(name =>
        name.includes(part),
      );
      const [RoleName] = roles;
      if (RoleName === undefined || roles.length > 1)
        throw new Error(`Roles with ${part}: ${roles.join(', ') || 'none'}.`);
      const undo: (() => Promise<unknown>)[] = [];
      for (const PolicyName of texts(await call('ListRolePolicies', { RoleName }), 'member')) {
        const [encoded = ''] = texts(await call('GetRolePolicy', { RoleName, PolicyName }), 'PolicyDocument');
        const document = decodeURIComponent(encoded);
        const policy: { readonly Statement: readonly Statement[] } = JSON.parse(document);
        if (!policy.Statement.some(statement => actionsOf(statement).includes(action))) continue;
        const Statement = policy.Statement.flatMap(statement =>
          actionsOf(statement).includes(action) ? (change(statement) ?? []) : statement,
        );
        const put = (PolicyDocument: string) => call('PutRolePolicy', { RoleName, PolicyName, PolicyDocument });
        await put(JSON.stringify({ ...policy, Statement }));
        undo.push(() => put(document));
      }
      if (undo.length === 0) throw new Error(`No policy of ${RoleName} allows ${action}.`);
      return async () => {
        for (const put of undo) await put();
      };
    },
  };
}

function actionsOf({ Action }: Statement): readonly string[] {
  return typeof Action === 'string' ? [Action] : Action;
}
