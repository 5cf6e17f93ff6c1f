import type { Answer, Context, Handler, Parameters } from '../page.ts';
import { errorPage } from '../page-parts.ts';
import { accountPage, eventsPage } from './account.ts';
import { askDiscard, askRedrive, discard, letterPage, lettersPage, redrive } from './dead-letters.ts';
import { bodyPage, deliveryPage, resend } from './delivery.ts';
import { findPage } from './find.ts';
import { clearSandbox, publishSample, sandboxPage } from './sandbox.ts';
import { startPage } from './start.ts';
import { askReplay, askSuspend, reactivate, replay, suspend, test, webhookPage } from './webhook.ts';

/** Answers a request for a page, or the form of one. @param form - `null` for a page that is looked at. */
export async function answerPage(context: Context, form: URLSearchParams | null): Promise<Answer> {
  const steps = stepsOf(context.path);
  for (const [pattern, page, change] of pages) {
    const parameters = steps && match(pattern, steps);
    if (!parameters) continue;
    if (form && !context.source.mayChange && change !== 'look') break;
    if (form) return change && change !== 'look' ? change(context, parameters, form) : page(context, parameters, form);
    return page(context, parameters, context.query);
  }
  return {
    title: context.texts.refused,
    content: errorPage(context, context.texts.notFound),
    status: 404,
    isLive: false,
  };
}

/**
 * The pages by their paths, and what a POST there does. `look` is a page that is asked for by a POST, since the look itself is
 * written down.
 */
const pages: readonly (readonly [pattern: string, page: Handler, change?: Handler | 'look'])[] = [
  ['/', startPage],
  ['/accounts', startPage],
  ['/accounts/:account', accountPage],
  ['/accounts/:account/events', eventsPage],
  ['/accounts/:account/webhooks/:event', webhookPage],
  ['/accounts/:account/webhooks/:event/test', webhookPage, test],
  ['/accounts/:account/webhooks/:event/suspend', askSuspend, suspend],
  ['/accounts/:account/webhooks/:event/reactivate', webhookPage, reactivate],
  ['/accounts/:account/webhooks/:event/replay', askReplay, replay],
  ['/accounts/:account/webhooks/:event/deliveries/:id', deliveryPage],
  ['/accounts/:account/webhooks/:event/deliveries/:id/body', deliveryPage, bodyPage],
  ['/accounts/:account/webhooks/:event/deliveries/:id/resend', deliveryPage, resend],
  ['/find', findPage],
  ['/dead-letters', lettersPage],
  ['/dead-letters/redrive', askRedrive, redrive],
  ['/dead-letters/ask-discard', lettersPage, askDiscard],
  ['/dead-letters/discard', lettersPage, discard],
  ['/dead-letters/:id', letterPage],
  ['/sandbox', sandboxPage],
  ['/sandbox/publish', sandboxPage, publishSample],
  ['/sandbox/clear', sandboxPage, clearSandbox],
];

function stepsOf(path: string): readonly string[] | undefined {
  try {
    return (path.split('?')[0] ?? '').split('/').map(decodeURIComponent);
  } catch {
    return undefined; // malformed percent-encoding
  }
}

function match(pattern: string, steps: readonly string[]): Parameters | undefined {
  const expected = pattern.split('/');
  if (expected.length !== steps.length) return undefined;
  if (!expected.every((step, at) => (step.startsWith(':') ? steps[at] !== '' : step === steps[at]))) return undefined;
  return Object.fromEntries(
    expected.flatMap((step, at) => (step.startsWith(':') ? [[step.slice(1), steps[at] ?? '']] : [])),
  );
}
