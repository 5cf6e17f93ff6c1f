import fc from 'fast-check';
import { type EventValues, eventMessage, exampleValues } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';

/** Texts of all characters, also those that SQS does not take and surrogates that are alone, and values that are no texts. */
const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 130 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 140 }).map(units => String.fromCharCode(...units)),
  fc.integer(),
  fc.double(),
  fc.jsonValue(),
  fc.constant(undefined),
);

/** Messages as publishers may be given them: some are events, most have something wrong. */
export const anyMessage = fc.constantFrom(...EVENT_NAMES).chain(event => {
  const own = eventMessage(event, { id_conta: 'acme' }, exampleValues);
  const fields = {
    ...fieldsLike(exampleValues),
    id_conta: oftenGood(fc.constantFrom('acme', 'conta_1-A')),
    event: oftenGood(fc.constant(event)),
    id: anything,
  };
  const whole = fc.record(fields, { requiredKeys: Object.keys(own) as (keyof typeof fields)[] });
  return fc.oneof(whole, fc.record(fields, { requiredKeys: ['event'] }));
});

function fieldsLike(values: EventValues): Readonly<Record<string, fc.Arbitrary<unknown>>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      oftenGood(typeof value === 'number' ? fc.maxSafeNat() : fc.constant(value)),
    ]),
  );
}

function oftenGood<Value>(good: fc.Arbitrary<Value>) {
  return fc.oneof({ arbitrary: good, weight: 6 }, { arbitrary: anything, weight: 1 });
}
