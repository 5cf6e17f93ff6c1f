import { isAccountId } from '../../../lambdas/auth/principals/account.ts';
import { isDeliveryId } from '../../../lambdas/delivery/delivery.ts';
import { isEventName } from '../../../lambdas/webhooks/webhook.ts';
import { type Answer, type Context, type Handler, type Parameters, stepsOf } from '../page.ts';
import { errorPage } from '../page-parts.ts';
import { NotThere } from '../views.ts';
import { accountPage } from './account.ts';
import {
  askDiscard,
  askRedrive,
  cancelRedrive,
  discard,
  letterBody,
  letterPage,
  lettersPage,
  redrive,
  redrivePage,
} from './dead-letters.ts';
import { bodyPage, deliveryPage, resend } from './delivery.ts';
import { docsPage } from './docs.ts';
import { eventsPage } from './events.ts';
import { findPage } from './find.ts';
import { firstStepsPage, registerFirst, sendFirst, takeToken } from './first-steps.ts';
import { clearSandbox, publishSample, sandboxPage } from './sandbox.ts';
import { askRemove, askRotate, change, register, registerPage, remove, rotate, settingsPage } from './settings.ts';
import { startPage } from './start.ts';
import { askSuspend, reactivate, suspend, test, webhookPage } from './webhook.ts';
import { askReplay, cancelReplay, replay } from './webhook-replay.ts';

/** Answers a request for a page, or the form of one. @param form - `null` for a page that is looked at. */
export async function answerPage(context: Context, form: URLSearchParams | null): Promise<Answer> {
  const steps = stepsOf(context.path);
  for (const [pattern, page, change, effect] of pages) {
    const parameters = steps && match(pattern, steps);
    if (!parameters) continue;
    if (form && !context.source.mayChange && effect !== 'reads') break;
    const elsewhere = judge(context, parameters);
    if (elsewhere) return elsewhere;
    return form && change ? change(context, parameters, form) : page(context, parameters, form ?? context.query);
  }
  return {
    title: context.texts.notFoundTitle,
    content: errorPage(context, context.texts.notFoundTitle, context.texts.notFound),
    status: 404,
    isLive: false,
  };
}

/**
 * The pages by their paths, and what a POST there does. One that only `reads` is a POST since the look itself is written down; who may
 * only read may do it.
 */
export const pages: readonly (readonly [pattern: string, page: Handler, change?: Handler, effect?: 'reads'])[] = [
  ['/', startPage],
  ['/accounts', startPage],
  ['/accounts/:account', accountPage],
  ['/accounts/:account/events', eventsPage],
  ['/accounts/:account/webhooks/new', registerPage, register],
  ['/accounts/:account/webhooks/:event/settings', settingsPage, change],
  ['/accounts/:account/webhooks/:event/rotate', askRotate, rotate],
  ['/accounts/:account/webhooks/:event/remove', askRemove, remove],
  ['/accounts/:account/webhooks/:event', webhookPage],
  ['/accounts/:account/webhooks/:event/test', webhookPage, test],
  ['/accounts/:account/webhooks/:event/suspend', askSuspend, suspend],
  ['/accounts/:account/webhooks/:event/reactivate', webhookPage, reactivate],
  ['/accounts/:account/webhooks/:event/replay', askReplay, replay],
  ['/accounts/:account/webhooks/:event/replay/cancel', webhookPage, cancelReplay],
  ['/accounts/:account/webhooks/:event/deliveries/:id', deliveryPage],
  ['/accounts/:account/webhooks/:event/deliveries/:id/body', deliveryPage, bodyPage, 'reads'],
  ['/accounts/:account/webhooks/:event/deliveries/:id/resend', deliveryPage, resend],
  ['/find', findPage],
  ['/dead-letters', lettersPage],
  ['/dead-letters/ask-redrive', lettersPage, askRedrive],
  ['/dead-letters/redrive', redrivePage, redrive],
  ['/dead-letters/cancel', redrivePage, cancelRedrive],
  ['/dead-letters/ask-discard', lettersPage, askDiscard],
  ['/dead-letters/discard', lettersPage, discard],
  ['/dead-letters/:id', letterPage],
  ['/dead-letters/:id/body', letterPage, letterBody, 'reads'],
  ['/sandbox', sandboxPage],
  ['/sandbox/publish', sandboxPage, publishSample],
  ['/sandbox/clear', sandboxPage, clearSandbox],
  ['/docs/:name', docsPage],
  ['/first-steps', firstStepsPage],
  ['/first-steps/token', firstStepsPage, takeToken],
  ['/first-steps/register', firstStepsPage, registerFirst],
  ['/first-steps/send', firstStepsPage, sendFirst],
];

/**
 * Judges the account and the event of a path. Returns where to go instead for the id of a delivery.
 *
 * @throws {NotThere} where there can be none of that name: the command line takes none either. An integrator's events are the API's to
 * judge, which may know later ones.
 */
function judge({ source, say }: Context, { account, event }: Parameters): Answer | undefined {
  if (account !== undefined && isDeliveryId(account)) return { location: `/find?id=${account}` };
  if (account !== undefined && !isAccountId(account)) {
    throw new NotThere(
      say(
        `There is no account "${account}": an id is 1 to 64 letters, digits, "_" or "-".`,
        `Não há conta "${account}": um id tem de 1 a 64 letras, dígitos, "_" ou "-".`,
      ),
    );
  }
  if (event !== undefined && source.operator && !isEventName(event))
    throw new NotThere(say(`There is no event "${event}".`, `Não há evento "${event}".`));
  return undefined;
}

function match(pattern: string, steps: readonly string[]): Parameters | undefined {
  const expected = pattern.split('/');
  if (expected.length !== steps.length) return undefined;
  if (!expected.every((step, at) => (step.startsWith(':') ? steps[at] !== '' : step === steps[at]))) return undefined;
  return Object.fromEntries(
    expected.flatMap((step, at) => (step.startsWith(':') ? [[step.slice(1), steps[at] ?? '']] : [])),
  );
}
