import type { Handler } from '../view.ts';
import { deliveryPage, resend } from './delivery.tsx';
import { firstStepsPage, sendSample } from './first-steps.tsx';
import { cancelReplay, replayPage, startReplay } from './replay.tsx';
import * as settings from './settings.tsx';
import { reactivate, test, webhookPage } from './webhook.tsx';
import { webhooksPage } from './webhooks.tsx';

export const pages: Readonly<Record<string, Handler>> = {
  '/': webhooksPage,
  '/first-steps': firstStepsPage,
  '/register': settings.registerPage,
  '/webhooks/:event': webhookPage,
  '/webhooks/:event/change': settings.changePage,
  '/webhooks/:event/secret': settings.secretPage,
  '/webhooks/:event/delete': settings.removePage,
  '/webhooks/:event/replay': replayPage,
  '/webhooks/:event/deliveries/:id': deliveryPage,
};

/** The form actions. If an action fails, the page one level up shows the reason. */
export const actions: Readonly<Record<string, Handler>> = {
  '/first-steps/sample': sendSample,
  '/register': settings.register,
  '/webhooks/:event/test': test,
  '/webhooks/:event/reactivate': reactivate,
  '/webhooks/:event/change': settings.change,
  '/webhooks/:event/secret': settings.replaceSecret,
  '/webhooks/:event/delete': settings.remove,
  '/webhooks/:event/replay': startReplay,
  '/webhooks/:event/cancel-replay': cancelReplay,
  '/webhooks/:event/deliveries/:id/resend': resend,
};
