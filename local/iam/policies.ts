import * as z from 'zod';
import { type LiveResource, ofType, readProperties } from '../assembly/resources.ts';
import { functionOf } from '../lambda/definition.ts';
import { policyDocumentSchema, type Statement } from './statement.ts';

/**
 * What each function's role may do, by the function's name.
 *
 * @throws {LocalFault} for a policy that the local cloud cannot read.
 */
export function functionPolicies(
  resources: readonly LiveResource[],
  assets: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly Statement[]> {
  const policies = ofType(resources, 'AWS::IAM::Policy').map(resource => readProperties(policySchema, resource));
  return new Map(
    ofType(resources, 'AWS::Lambda::Function').map(resource => {
      const role = readProperties(roleSchema, resource).Role.split('/').at(-1) ?? '';
      const attached = policies.filter(({ Roles }) => Roles.includes(role));
      return [functionOf(resource, assets).name, attached.flatMap(policy => policy.PolicyDocument.Statement)];
    }),
  );
}

const policySchema = z.object({ PolicyDocument: policyDocumentSchema, Roles: z.array(z.string()) });
const roleSchema = z.object({ Role: z.string() });
