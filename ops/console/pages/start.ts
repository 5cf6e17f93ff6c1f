import { html } from '../html.ts';
import { type Answer, type Context, card, type Parameters, pathOf } from '../page.ts';
import { webhookTable } from './account.ts';
import { operatorStart } from './operator-start.ts';

/** The first page: what needs the operator, and how things are; for an integrator the account's webhooks. */
export async function startPage(context: Context, _: Parameters, values: URLSearchParams): Promise<Answer> {
  const { source, texts } = context;
  const asked = values.get('account')?.trim();
  if (asked) return { location: pathOf({ account: asked }) };
  if (source.operator) return operatorStart(context, source.operator);
  const account = source.account ?? '';
  const webhooks = await source.listWebhooks(account);
  return {
    title: texts.webhooks,
    content: html`<h1>${texts.webhooks}</h1><p class="lead">${texts.account} <code>${account}</code></p>
${card(texts.webhooks, webhookTable(context, webhooks), { id: 'webhooks' })}`,
  };
}
