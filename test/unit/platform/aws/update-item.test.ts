import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { attribute, expression, type ItemUpdate, updateItem } from '../../../../lambdas/platform/aws/update-item.ts';
import { startDatabase } from '../../../support/database/database.ts';

const database = await startDatabase('Clients');
afterAll(() => database.stop());

const item = { table: 'Clients', key: { clientId: 'one' } };
const update = (change: ItemUpdate) => updateItem(database.dynamo, item, change);
const stored = async () =>
  (await database.dynamo(new GetCommand({ TableName: item.table, Key: item.key, ConsistentRead: true }))).Item;
const put = (attributes: object) =>
  database.dynamo(new PutCommand({ TableName: item.table, Item: { ...item.key, ...attributes } }));

beforeEach(() => put({ count: 1, status: 'new', list: ['a', 'b'], gone: true }));

// Every change is one conditional write (docs/delivery.md), even if the SDK repeats it.
describe('an update of an item', () => {
  it('sets attributes, including reserved words, and removes undefined attributes', async () => {
    await update({ set: { count: 2, status: null, ttl: 5, gone: undefined } });
    expect(await stored()).toEqual({ clientId: 'one', count: 2, status: null, ttl: 5, list: ['a', 'b'] });
  });

  it('sets attributes to expressions', async () => {
    await update({
      set: {
        count: expression`if_not_exists(count, ${0}) + ${5}`,
        other: expression`if_not_exists(other, ${10}) + ${5}`,
      },
    });
    expect(await stored()).toMatchObject({ count: 6, other: 15 });
  });

  it.each([
    ['is met', expression`count = ${1} AND attribute_not_exists(ttl)`, true],
    ['is not met', expression`count = ${1} AND attribute_exists(ttl)`, false],
    ['is met in one of its parts', expression`(${expression`count > ${5}`} OR ${expression`status = ${'new'}`})`, true],
    ['contains a list element', expression`list[1] = ${'b'}`, true],
    ['contains a name that is not a word', expression`attribute_not_exists(${attribute('a-b')})`, true],
  ])('takes effect only if its condition is met: the condition %s: %o', async (_case, when, isMade) => {
    expect(await update({ set: { 'a-b': 2 }, when })).toEqual(isMade ? {} : undefined);
    expect((await stored())?.['a-b']).toBe(isMade ? 2 : undefined);
  });

  it('fails if its condition is not met, even if the item already has the values', async () => {
    expect(await update({ set: { status: 'new' }, when: expression`count = ${2}` })).toBeUndefined();
  });

  it('returns the updated item on request', async () => {
    expect(await update({ set: { count: 2 } })).toEqual({});
    expect(await update({ set: { count: 3 }, returns: 'ALL_NEW' })).toEqual({ ...(await stored()), count: 3 });
  });

  describe('that the SDK repeated after a lost response', () => {
    const repeated = (change: ItemUpdate) => {
      database.repeatNext('UpdateItemCommand');
      return update(change);
    };
    const isNew = expression`status = ${'new'}`;

    it.each<[string, object, ItemUpdate, object | undefined]>([
      ['succeeds if the item has the values', {}, { set: { status: 'old', gone: undefined } }, {}],
      [
        'returns the item on request',
        {},
        { set: { count: expression`count + ${1}`, map: { c: [1], d: undefined }, status: 'old' }, returns: 'ALL_NEW' },
        { clientId: 'one', count: 2, status: 'old', list: ['a', 'b'], map: { c: [1] }, gone: true },
      ],
      ['fails if the item has another value', { status: 'other' }, { set: { status: 'old' } }, undefined],
      [
        'fails if only the expiry can be compared',
        { status: 'other', ttl: 5, count: 1 },
        { set: { ttl: 5, count: expression`count + ${1}` } },
        undefined,
      ],
    ])('%s', async (_case, before, change, expected) => {
      if (Object.keys(before).length > 0) await put(before);
      expect(await repeated({ ...change, when: isNew })).toEqual(expected);
    });

    it('fails if the item was deleted', async () => {
      const missingItem = { ...item, key: { clientId: 'nobody' } };
      database.repeatNext('UpdateItemCommand');
      expect(await updateItem(database.dynamo, missingItem, { set: { gone: undefined }, when: isNew })).toBeUndefined();
    });
  });
});
