import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { list, readEnvironment, text, wholeNumber } from '../../../lambdas/platform/environment.ts';

const schema = z.object({ NAME: text, COUNT: wholeNumber, OWN_HOSTS: list });

describe('readEnvironment', () => {
  it('returns texts, whole numbers and lists by camel-case name, and ignores other variables', () => {
    const variables = { NAME: 'a', COUNT: '0900', OWN_HOSTS: ' a.example, ,b.example,', PATH: '/bin' };
    expect(readEnvironment(schema, variables)).toEqual({ name: 'a', count: 900, ownHosts: ['a.example', 'b.example'] });
  });

  it('reports every invalid variable, but no value', () => {
    const read = () => readEnvironment(schema, { NAME: '', COUNT: 'secret' });
    expect(read).toThrow(/: NAME: must be set; COUNT: must be a whole number; OWN_HOSTS: must be set$/);
    expect(read).not.toThrow(/secret/);
  });

  it.each(['', '-1', '1.5', '1e3', ' 1', '0x10', '9'.repeat(16)])('rejects %j as a whole number', COUNT => {
    expect(() => readEnvironment(schema, { NAME: 'a', COUNT, OWN_HOSTS: '' })).toThrow('COUNT');
  });
});
