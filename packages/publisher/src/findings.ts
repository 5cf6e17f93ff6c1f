import { commonFields, eventFields, eventReasons, fieldRules, optionalFields } from './events.ts';

/** A fault of an event. It names a field and never repeats its value. */
export interface Finding {
  /** The name of the field; empty where the event as a whole is meant. */
  readonly field: string;
  readonly reason: string;
}

/**
 * Returns what keeps an event from being published: what the service would refuse, and fields that the event does not have, so
 * that a misspelt `id` is not silently ignored. Empty for a valid event.
 */
export function findingsOf(event: unknown): readonly Finding[] {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    return [{ field: '', reason: eventReasons.notObject }];
  }
  const values: Readonly<Record<string, unknown>> = { ...event };
  const name = values.event;
  if (name === undefined) {
    const absent = ['event', ...commonFields].filter(field => values[field] === undefined);
    return absent.map(field => ({ field, reason: missing }));
  }
  if (typeof name !== 'string') return [{ field: 'event', reason: eventReasons.notText }];
  const fields = Object.hasOwn(eventFields, name) ? eventFields[name] : undefined;
  if (!fields) return [{ field: 'event', reason: eventReasons.unknown }];

  const wrong = fields.flatMap(field => findingOf(field, values[field]) ?? []);
  const unknown = Object.keys(values).filter(
    field => values[field] !== undefined && field !== 'event' && !fields.includes(field),
  );
  return [...wrong, ...unknownFields(unknown)];
}

const missing = 'is missing';

/** Names the first ten that can be names of fields. Findings stay short, and never repeat a value that is in place of a name. */
function unknownFields(names: readonly string[]): Finding[] {
  const told = names.filter(name => /^\w{1,64}$/.test(name)).slice(0, 10);
  const findings = told.map(field => ({ field, reason: 'is no field of this event' }));
  if (told.length < names.length)
    findings.push({ field: '', reason: 'it has more fields that are none of this event' });
  return findings;
}

function findingOf(field: string, value: unknown): Finding | undefined {
  if (value === undefined) return optionalFields.includes(field) ? undefined : { field, reason: missing };
  const rule = fieldRules[field];
  if (!rule || meets(value, rule)) return undefined;
  return { field, reason: rule.reason };
}

function meets(value: unknown, rule: (typeof fieldRules)[string]): boolean {
  if ('minimum' in rule)
    return Number.isInteger(value) && Number(value) >= rule.minimum && Number(value) <= rule.maximum;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, reserved } = rule;
  if (typeof value !== 'string' || value === reserved || !hasLength(value, minLength, maxLength)) return false;
  return pattern === undefined || new RegExp(pattern).test(value);
}

/** A code point has at most two UTF-16 units: a text that is far too long is not counted. */
function hasLength(text: string, least: number, most: number): boolean {
  if (text.length > 2 * most) return false;
  if (least === 0 && most === Number.POSITIVE_INFINITY) return true;
  const { length } = [...text];
  return length >= least && length <= most;
}
