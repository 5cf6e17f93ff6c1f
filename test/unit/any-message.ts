import fc from 'fast-check';
import type { EventField } from '../../lambdas/delivery/intake/event-field.ts';
import type { EventFormat } from '../../lambdas/delivery/intake/event-format.ts';
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

/** Returns messages as publishers may be given them: some are events, most have something wrong. */
export function anyMessageOf(events: EventFormat): fc.Arbitrary<unknown> {
  const values = Object.entries(events.fields).map(([name, field]) => [name, valuesLike(field)] as const);
  return fc.constantFrom(...EVENT_NAMES).chain(event => {
    const fields: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
      ...Object.fromEntries(values),
      id_conta: oftenGood(fc.constantFrom('acme', 'conta_1-A')),
      event: oftenGood(fc.constant(event)),
      id: anything,
    };
    const names = ['id_conta', 'event', 'id', ...events.rows[event].fields];
    const own = Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
    const requiredKeys = names.filter(name => name !== 'id' && !events.fields[name]?.optional);
    return fc.oneof(
      fc.record(own, { requiredKeys }),
      fc.record(fields, { requiredKeys }),
      fc.record(fields, { requiredKeys: ['event'] }),
    );
  });
}

function valuesLike(field: EventField): fc.Arbitrary<unknown> {
  if (field.kind === 'integer') return oftenGood(fc.maxSafeNat());
  const { maxLength, pattern } = field;
  const longest = fc.string({ unit: 'grapheme', minLength: maxLength - 1, maxLength: maxLength + 2 });
  const fitting = pattern ? fc.stringMatching(pattern) : fc.string({ maxLength });
  const nearly = fitting.map(text => `${text}\n`);
  return oftenGood(fc.oneof(fc.constant(field.example), fitting, nearly, longest));
}

function oftenGood<Value>(good: fc.Arbitrary<Value>) {
  return fc.oneof({ arbitrary: good, weight: 6 }, { arbitrary: anything, weight: 1 });
}
