import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseEmailAddress } from '../../../../ops/stage/email-address.ts';
import { type AuthService, type ClientCredentials, startAuthService } from '../../../support/auth-service.ts';

let service: AuthService;
let client: ClientCredentials;
beforeAll(async () => {
  service = await startAuthService();
  client = await service.makeClient();
});
afterAll(() => service.stop());

const password = 'a password of enough characters';
const create = (email: string) => service.users.createUser({ email, password, accountId: 'acme', role: 'admin' });
const logIn = (username: string) => service.logIn(client, { username, password });

/** Parts of addresses: separators, letters of several scripts, and invalid characters. */
const part = fc.oneof(
  fc.constantFrom(...'@.\u3002\u00fc\u00df\u1e9e\u0130', 'com', 'acme', 'U\u0308', 'xn--mnchen-3ya'),
  fc.constantFrom(...'\uff21\ufe0f\u200b\u200d\u00ad\ufeff \u3000\n/:_-1', '%41'),
  fc.string({ unit: 'grapheme', maxLength: 2 }),
  fc.string({ unit: 'binary', maxLength: 1 }),
);
const text = fc.oneof(
  fc.array(part, { maxLength: 8 }).map(parts => parts.join('')),
  fc
    .tuple(fc.array(part, { minLength: 1, maxLength: 2 }), fc.array(part, { maxLength: 2 }))
    .map(([local, domain]) => `${local.join('')}@${domain.join('')}acme.com`),
);

describe('an e-mail address for a user', () => {
  it.each([
    [' Ana@ACME.example ', 'ana@acme.example'],
    ['jos\u00e9@sub.acme.com.br', 'jos\u00e9@sub.acme.com.br'],
    ['ana@m\u00fcnchen.de', 'ana@xn--mnchen-3ya.de'],
    ['ana@xn--mnchen-3ya.de', 'ana@xn--mnchen-3ya.de'],
    [`${'a'.repeat(241)}@example.com`, `${'a'.repeat(241)}@example.com`],
    ['\ufeffana@acme.com', 'ana@acme.com'],
  ])('is parsed from %s', (typed, email) => {
    expect(parseEmailAddress(typed)).toEqual({ email });
  });

  it.each([
    ['ana\u200b@acme.com', 'contains the invisible character U+200B'],
    ['\u202aana@acme.com', 'contains the invisible character U+202A'],
    ['ana@ac\u00adme.com', 'contains the invisible character U+00AD'],
    ['ana@m\u00fcn\u200dchen.de', 'contains the invisible character U+200D'],
    ['ana@acme.com\u{e0001}', 'contains the invisible character U+E0001'],
    ['ana@acme', 'has a domain without a dot'],
    ['ana@m\u00fcnchen', 'has a domain without a dot'],
    ['ana@\u00fc\u00a0.com', 'must be an e-mail address of at most 254 bytes'],
    ['ana@\u0308\ufffd.com', 'has a domain that is not a valid domain name'],
    ['ana@acme.com/x', 'has a domain that is not a valid domain name'],
    ['ana@acme_shop.com', 'has a domain that is not a valid domain name'],
    ['ana@1.2', 'has a domain that is not a valid domain name'],
    ['ana@\uff11.2', 'has a domain that is not a valid domain name'],
    ['ana@acme.com.', 'has a domain that is not a valid domain name'],
    ['ana@acme..com', 'has a domain that is not a valid domain name'],
    ['ana', 'must be an e-mail address of at most 254 bytes'],
    ['@acme.com', 'must be an e-mail address of at most 254 bytes'],
    ['ana@eva@acme.com', 'must be an e-mail address of at most 254 bytes'],
    ['an a@acme.com', 'must be an e-mail address of at most 254 bytes'],
    ['ana\u0007@acme.com', 'must be an e-mail address of at most 254 bytes'],
    ['ana\ud800@acme.com', 'must be an e-mail address of at most 254 bytes'],
    [`${'a'.repeat(243)}@example.com`, 'must be an e-mail address of at most 254 bytes'],
    [`ana@acme${'\ufe0f'.repeat(400)}.com`, 'must be an e-mail address of at most 254 bytes'],
  ])('is rejected: %j', (typed, problem) => {
    expect(parseEmailAddress(typed)).toEqual({ problem });
  });

  it('works for logins as typed and in its stored form', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(text, async typed => {
        const { email } = parseEmailAddress(typed);
        fc.pre(email !== undefined);
        if (!(await service.users.findUserByEmail(email))) await create(email);
        expect(await logIn(typed)).toMatchObject({ status: 200 });
        expect(await logIn(email)).toMatchObject({ status: 200 });
        expect(parseEmailAddress(email)).toEqual({ email });
        accepted += 1;
      }),
      { numRuns: 60 },
    );
    expect(accepted).toBe(60);
  });

  it('causes a 400 response at login if it is invalid', async () => {
    await fc.assert(
      fc.asyncProperty(text, async typed => {
        fc.pre(parseEmailAddress(typed).email === undefined);
        const error = expect.stringMatching(/^invalid_(grant|request)$/);
        expect(await logIn(typed)).toMatchObject({ status: 400, json: { error } });
      }),
      { numRuns: 200 },
    );
  });
});
