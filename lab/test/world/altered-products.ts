import { composeIntrospect } from '../../../lambdas/auth/endpoints/introspect.composition.ts';
import { composeRevoke } from '../../../lambdas/auth/endpoints/revoke.composition.ts';
import { composeToken } from '../../../lambdas/auth/endpoints/token.composition.ts';
import type { Dynamo, Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { TokenCompositions } from '../../world/auth/token-stage.ts';

/** The product as it is. */
export const product: TokenCompositions = { token: composeToken, revoke: composeRevoke, introspect: composeIntrospect };

/** Returns the product, but that its functions send other commands of DynamoDB than they mean to: each is altered in place. */
export function sending(alter: (command: { readonly input: object }) => void): TokenCompositions {
  return calling(dynamo => (command, options) => {
    alter(command);
    return dynamo(command, options);
  });
}

/** Returns the product, but that its functions read other items by BatchGet than there are: each is altered in place. */
export function reading(alter: (table: string, item: Item) => void): TokenCompositions {
  return calling(dynamo => async (command, options) => {
    const output = await dynamo(command, options);
    const answer: object = output;
    const { Responses = {} }: { readonly Responses?: Record<string, Item[]> } = answer;
    for (const [table, items] of Object.entries(Responses)) for (const item of items) alter(table, item);
    return output;
  });
}

/** Returns the product with other calls of DynamoDB. */
function calling(wrap: (dynamo: Dynamo) => Dynamo): TokenCompositions {
  return {
    token: (environment, outside, telemetry) =>
      composeToken(environment, { ...outside, dynamo: wrap(outside.dynamo) }, telemetry),
    revoke: (environment, outside, telemetry) =>
      composeRevoke(environment, { ...outside, dynamo: wrap(outside.dynamo) }, telemetry),
    introspect: (environment, outside, telemetry) =>
      composeIntrospect(environment, { ...outside, dynamo: wrap(outside.dynamo) }, telemetry),
  };
}
