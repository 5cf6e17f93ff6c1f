import { InvalidArgumentError } from 'commander';
import { EVENT_NAMES, type EventName, isEventName } from '../../lambdas/webhooks/webhook.ts';

/** An account id, as the interface allows them. */
export const accountId = (value: string): string => {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(value)) return value;
  throw new InvalidArgumentError('It must be 1 to 64 letters, digits, "_" or "-".');
};

/** A reader of whole numbers from `least` up to `most`, by default the greatest that JSON carries exactly. */
export const wholeNumber =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (value: string): number => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };

/** The name of an event that webhooks are registered for. */
export const eventName = (value: string): EventName => {
  if (isEventName(value)) return value;
  throw new InvalidArgumentError(`It must be one of ${EVENT_NAMES.join(', ')}.`);
};
