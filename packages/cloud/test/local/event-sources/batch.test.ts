import { expect, it } from 'vitest';
import { succeeded } from '../../../src/local/event-sources/batch.ts';

const ids = ['a', 'b', 'c'];
const all = ids;
const none: string[] = [];
const failures = (...itemIdentifiers: unknown[]) => ({
  batchItemFailures: itemIdentifiers.map(itemIdentifier => ({ itemIdentifier })),
});

it.each([
  // The table of the developer guide: complete success …
  [{ batchItemFailures: [] }, all],
  [{ batchItemFailures: null }, all],
  [{}, all],
  [null, all],
  ['', all],
  // … partial success …
  [failures('b'), ['a', 'c']],
  [failures('a', 'b', 'c'), none],
  [failures('a', 'a'), ['b', 'c']],
  // … complete failure.
  ['not an object', none],
  [failures(''), none],
  [failures(null), none],
  [failures('unknown'), none],
  [failures('a', 'unknown'), none],
  [{ batchItemFailures: [{ itemIdentifer: 'a' }] }, none],
  [{ batchItemFailures: 'a' }, none],
])('%j: successful are %j', (answer, done) => {
  expect(succeeded(ids, { outcome: 'returned', payload: JSON.stringify(answer) }, true)).toEqual(done);
});

it('an answer that is not JSON fails the batch', () => {
  expect(succeeded(ids, { outcome: 'returned', payload: '{' }, true)).toEqual(none);
});

it('an error fails the batch, with and without reported failures', () => {
  const error = { errorType: 'Error', errorMessage: '' };
  expect(succeeded(ids, { outcome: 'failed', error }, true)).toEqual(none);
  expect(succeeded(ids, { outcome: 'failed', error }, false)).toEqual(none);
});

it('without reported failures any answer is a success', () => {
  expect(succeeded(ids, { outcome: 'returned', payload: JSON.stringify(failures('a')) }, false)).toEqual(all);
});
