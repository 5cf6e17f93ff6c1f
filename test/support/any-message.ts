import fc from 'fast-check';
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
export const anyMessage = fc.record(
  {
    id_conta: oftenGood(fc.constantFrom('acme', 'conta_1-A')),
    event: oftenGood(fc.constantFrom(...EVENT_NAMES)),
    id_demanda: oftenGood(fc.maxSafeNat()),
    id_proposta: oftenGood(fc.maxSafeNat()),
    id: anything,
  },
  { requiredKeys: ['event'] },
);

function oftenGood<Value>(good: fc.Arbitrary<Value>) {
  return fc.oneof({ arbitrary: good, weight: 6 }, { arbitrary: anything, weight: 1 });
}
