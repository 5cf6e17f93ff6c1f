import { type Answer, type Context, type Parameters, pathOf } from '../page.ts';
import { operatorStart } from './operator-start.ts';
import { panelPage } from './panel.ts';

/** The first page: what needs the operator, and how things are; for an integrator the account's webhooks. */
export async function startPage(context: Context, _: Parameters, values: URLSearchParams): Promise<Answer> {
  const { operator } = context.source;
  const asked = values.get('account')?.trim();
  if (asked) return { location: pathOf({ account: asked }) };
  return operator ? operatorStart(context, operator) : panelPage(context);
}
