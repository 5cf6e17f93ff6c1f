import { type Answer, type Context, type Handler, type Parameters, stepsOf } from '../page.ts';
import { errorPage } from '../page-parts.ts';
import { deliveryPage, resend } from './delivery.ts';
import { findPage } from './find.ts';
import { firstStepsPage, sendFirst } from './first-steps.ts';
import { panelPage } from './panel.ts';
import { askRemove, askRotate, change, register, registerPage, remove, rotate, settingsPage } from './settings.ts';
import { reactivate, test, webhookPage } from './webhook.ts';
import { askReplay, cancelReplay, replay } from './webhook-replay.ts';

/** Answers a request for a page, or the form of one. @param form - `null` for a page that is looked at. */
export async function answerPage(context: Context, form: URLSearchParams | null): Promise<Answer> {
  const steps = stepsOf(context.path);
  for (const [pattern, page, change, access] of pages) {
    const parameters = steps && match(pattern, steps);
    if (!parameters) continue;
    if (!context.source.mayChange && (form || access === 'writers')) break;
    return form && change ? change(context, parameters, form) : page(context, parameters, form ?? context.query);
  }
  return {
    title: context.texts.notFoundTitle,
    content: errorPage(context, context.texts.notFoundTitle, context.texts.notFound),
    status: 404,
    isLive: false,
  };
}

/** The pages by their paths, and what a POST there does. Pages for `writers` are not there for a token that may only read. */
export const pages: readonly (readonly [pattern: string, page: Handler, change?: Handler, access?: 'writers'])[] = [
  ['/', panelPage],
  ['/webhooks/new', registerPage, register, 'writers'],
  ['/webhooks/:event', webhookPage],
  ['/webhooks/:event/settings', settingsPage, change, 'writers'],
  ['/webhooks/:event/rotate', askRotate, rotate, 'writers'],
  ['/webhooks/:event/remove', askRemove, remove, 'writers'],
  ['/webhooks/:event/test', webhookPage, test],
  ['/webhooks/:event/reactivate', webhookPage, reactivate],
  ['/webhooks/:event/replay', askReplay, replay, 'writers'],
  ['/webhooks/:event/replay/cancel', webhookPage, cancelReplay],
  ['/webhooks/:event/deliveries/:id', deliveryPage],
  ['/webhooks/:event/deliveries/:id/resend', deliveryPage, resend],
  ['/find', findPage],
  ['/first-steps', firstStepsPage],
  ['/first-steps/send', firstStepsPage, sendFirst],
];

function match(pattern: string, steps: readonly string[]): Parameters | undefined {
  const expected = pattern.split('/');
  if (expected.length !== steps.length) return undefined;
  if (!expected.every((step, at) => (step.startsWith(':') ? steps[at] !== '' : step === steps[at]))) return undefined;
  return Object.fromEntries(
    expected.flatMap((step, at) => (step.startsWith(':') ? [[step.slice(1), steps[at] ?? '']] : [])),
  );
}
