import { Readable } from 'node:stream';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Credential, parseCredential } from '../../../../lambdas/auth/principals/user.ts';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { makeUserStore, type UserStore } from '../../../../ops/stores/user-store.ts';
import { type NumberedLine, readLines } from '../../../../ops/tenants/import-lines.ts';
import { importLines, parseUserLine } from '../../../../ops/tenants/import-users.ts';
import { frozenClock } from '../../../support/clock.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';
import { passwordHashing } from '../../../support/password-hashing.ts';

const passwordHash = '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';
const [salt, tag] = ['MDEyMzQ1Njc4OWFiY2RlZg', 'C8AL1H1mP0dcugAmf50VJE/DcscRE3FJ6f8SqRBdJ0U'];
const userLine = (email: string, more: object = {}) =>
  JSON.stringify({ email, account: 'acme', role: 'admin', password_hash: passwordHash, ...more });

async function* numbered(texts: Iterable<string>): AsyncGenerator<NumberedLine> {
  let number = 0;
  for (const text of texts) {
    number += 1;
    yield { number, text };
  }
}

describe('the lines of a file', () => {
  const read = async (chunks: readonly Buffer[], longest = 64) => {
    const lines: NumberedLine[] = [];
    for await (const line of readLines(Readable.from(chunks), longest)) lines.push(line);
    return lines;
  };

  it('are those of the text, however it comes in pieces', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 }).map(given => given.replaceAll('\uFEFF', ''));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 8 }), fc.array(fc.nat(9)), async (texts, cuts) => {
        const whole = Buffer.from(texts.join('\n'));
        const chunks: Buffer[] = [];
        let start = 0;
        for (const cut of [...cuts, whole.length]) {
          chunks.push(whole.subarray(start, start + cut));
          start += cut;
        }
        const expected = texts
          .join('\n')
          .split('\n')
          .map((line, at) => ({ number: at + 1, text: line }));
        expect(await read(chunks, 4_096)).toEqual(expected.filter(({ text: line }) => line.trim() !== ''));
      }),
      { numRuns: 300 },
    );
  });

  it('have no text where they are too long or no UTF-8, and the next one has its number', async () => {
    const lines = await read([
      Buffer.from('a\n'),
      Buffer.alloc(1_000_000, 'x'),
      Buffer.from('\n\r\n'),
      Buffer.from([0xff, 0x0a, 0x62]),
    ]);
    expect(lines).toEqual([
      { number: 1, text: 'a' },
      { number: 2, text: undefined },
      { number: 4, text: undefined },
      { number: 5, text: 'b' },
    ]);
  });

  it('begin after a byte order mark', async () => {
    expect(await read([Buffer.from('\uFEFF{}\n')])).toEqual([{ number: 1, text: '{}' }]);
  });
});

describe('a line', () => {
  it('describes a user, whose address is normalised', () => {
    expect(parseUserLine(userLine(' Ana@ACME.example '))).toEqual({
      user: { email: 'ana@acme.example', accountId: 'acme', role: 'admin', passwordHash },
    });
  });

  // passlib 1.7.4 and Django 5.2
  it.each([
    [
      'passlib',
      '$pbkdf2-sha256$29000$....................AQ$ZwNN92r66jv7Qq9drE65JCzfA4FC29qg5zKr/.5f1Y8',
      '$pbkdf2-sha256$i=29000$++++++++++++++++++++AQ$ZwNN92r66jv7Qq9drE65JCzfA4FC29qg5zKr/+5f1Y8',
    ],
    [
      'passlib, with SHA-512',
      '$pbkdf2-sha512$25000$....................AQ$8yN5uRy4DDcxaCnzf48q5DWV2pyVNfIJYl7kSHiWs7yeRjLnm6itZRdyJmxge7qg4R.7eh9uPQPa5.N7JfF6Vw',
      '$pbkdf2-sha512$i=25000$++++++++++++++++++++AQ$8yN5uRy4DDcxaCnzf48q5DWV2pyVNfIJYl7kSHiWs7yeRjLnm6itZRdyJmxge7qg4R+7eh9uPQPa5+N7JfF6Vw',
    ],
    [
      'Django',
      'pbkdf2_sha256$1000$seasalt2017AB$/sp3zqGuGlnUmKGZ7H9+D+bTE44VxMrHfPKpQoGXZLg=',
      '$pbkdf2-sha256$i=1000$c2Vhc2FsdDIwMTdBQg$/sp3zqGuGlnUmKGZ7H9+D+bTE44VxMrHfPKpQoGXZLg',
    ],
    [
      'Django, with SHA-512',
      'pbkdf2_sha512$1000$seasalt2017AB$PlEuIDLujr0beREMXpURUMSM/KArLgWC4rNndKLL/1h4V9pshk8ddOGINejQa5jnWDOJLJMkIp4VVavKwxCaQQ==',
      '$pbkdf2-sha512$i=1000$c2Vhc2FsdDIwMTdBQg$PlEuIDLujr0beREMXpURUMSM/KArLgWC4rNndKLL/1h4V9pshk8ddOGINejQa5jnWDOJLJMkIp4VVavKwxCaQQ',
    ],
  ])('has PBKDF2 as %s writes it converted, for the same password', async (_case, password_hash, converted) => {
    expect(parseUserLine(userLine('a@b.example', { password_hash })).user?.passwordHash).toBe(converted);
    expect(await passwordHashing.verify('pa ss+é', `imported${converted}`)).toBe(true);
  });

  it.each([
    ['two million rounds of passlib', `$pbkdf2-sha512$2000000$${salt}$${tag}`, true],
    ['one more', `$pbkdf2-sha512$2000001$${salt}$${tag}`, false],
    ['passlib with the base64 of others', `$pbkdf2-sha256$29000$${salt.replace('M', '+')}$${tag}`, false],
    ['two million rounds of Django', `pbkdf2_sha256$2000000$seasalt2017AB$${tag}=`, true],
    ['one more', `pbkdf2_sha256$2000001$seasalt2017AB$${tag}=`, false],
    ['Django without padding', `pbkdf2_sha256$1000$seasalt2017AB$${tag}`, false],
    ['Django with too much padding', `pbkdf2_sha256$1000$seasalt2017AB$${tag}==`, false],
    ['Django with unused bits', `pbkdf2_sha256$1000$seasalt2017AB$${tag.replace(/.$/, 'V')}=`, false],
    ['Django with a salt that is too short', `pbkdf2_sha256$1000$seasalt$${tag}=`, false],
    ['Django with SHA-1', `pbkdf2_sha1$1000$seasalt2017AB$${tag}=`, false],
  ])('with a hash of %s: %s', (_case, password_hash, isTaken) => {
    expect(parseUserLine(userLine('a@b.example', { password_hash })).user !== undefined).toBe(isTaken);
  });

  it.each([
    ['PHC', `$scrypt$ln=14,r=8,p=5$${salt}$${tag}`],
    ['Django', `scrypt$16384$seasalt2017AB$8$5$${tag}=`],
    ['Werkzeug', 'scrypt:32768:8:1$canary$00'],
  ])('with a hash of scrypt, as in %s, is refused for that reason', (_case, password_hash) => {
    const { user, problem } = parseUserLine(userLine('a@b.example', { password_hash }));
    expect(user).toBeUndefined();
    expect(problem).toBe(
      '"password_hash" is a scrypt hash, which is not supported: leave the line out, and create the user with a new password.',
    );
  });

  it.each([
    ['no JSON', '{"email":', /not JSON/],
    ['no object', '[]', /no JSON object/],
    ['null', 'null', /no JSON object/],
    ['a field more', userLine('a@b.example', { name: 'Ana' }), /another field/],
    ['no address', userLine('ana'), /"email" must be an e-mail address/],
    ['a control character in the address', userLine('a\u0007@acme.com'), /"email" must be an e-mail address/],
    ['an invisible character in the address', userLine('a\u200b@acme.com'), /"email" contains the .* U\+200B\.$/],
    ['a domain without a dot', userLine('a@acme'), /^"email" has a domain without a dot\.$/],
    ['no text as the address', userLine('', { email: 1 }), /^"email" must be an e-mail address/],
    ['an address that is too long', userLine(`${'a'.repeat(250)}@b.example`), /"email"/],
    ['an account that cannot be', userLine('a@b.example', { account: 'a b' }), /"account"/],
    ['a reserved account', userLine('a@b.example', { account: '_smoke' }), /"account"/],
    ['an unknown role', userLine('a@b.example', { role: 'owner' }), /"role" must be admin or member/],
    ['a password in place of a hash', userLine('a@b.example', { password_hash: 'canary-secret' }), /"password_hash"/],
    [
      'a hash that takes too much work',
      userLine('a@b.example', { password_hash: passwordHash.replace('$10$', '$14$') }),
      /"password_hash"/,
    ],
    ['no hash', JSON.stringify({ email: 'a@b.example', account: 'acme', role: 'admin' }), /"password_hash"/],
  ])('that is %s is refused, and quoted nowhere', (_case, text, problem) => {
    const parsed = parseUserLine(text);
    expect(parsed.user).toBeUndefined();
    expect(parsed.problem).toMatch(problem);
    expect(parsed.problem).not.toMatch(/canary|N9qo/);
  });
});

describe('an import', () => {
  const clock = frozenClock();
  let database: Database;
  let store: UserStore;
  beforeAll(async () => {
    database = await startDatabase('Users', 'Credentials');
    store = makeUserStore({
      dynamo: database.dynamo,
      tables: { users: 'Users', credentials: 'Credentials' },
      now: clock.now,
      makeId: randomId,
      hash: passwordHashing.hash,
    });
  });
  afterAll(() => database.stop());

  const credentialOf = async (email: string): Promise<Credential | undefined> =>
    parseCredential((await database.dynamo(new GetCommand({ TableName: 'Credentials', Key: { email } }))).Item);

  async function run(texts: Iterable<string>, importUser = store.importUser) {
    const warnings: string[] = [];
    const result = await importLines({
      lines: numbered(texts),
      importUser,
      progress: () => {},
      warn: text => void warnings.push(text),
    }).catch(error => error);
    return { result, warnings };
  }

  it('creates what is missing, and changes nothing when it is repeated', async () => {
    const texts = Array.from({ length: 200 }, (_, at) => userLine(`user${at}@example.com`));
    expect((await run(texts.slice(0, 120))).result).toMatchObject({ lines: 120, created: 120, existing: 0 });
    const before = await store.findUserByEmail('user7@example.com');
    expect((await run(texts)).result).toMatchObject({ lines: 200, created: 80, existing: 120 });
    expect(await store.findUserByEmail('user7@example.com')).toEqual(before);
    expect(await credentialOf('user7@example.com')).toMatchObject({ passwordHash: `imported${passwordHash}` });
  });

  it('changes nothing of a user that was there, whatever the line says', async () => {
    const user = await store.createUser({
      email: 'there@example.com',
      password: 'secret',
      accountId: 'acme',
      role: 'member',
    });
    const { passwordHash: own } = (await credentialOf(user.email)) ?? {};
    expect((await run([userLine(user.email)])).result).toMatchObject({ existing: 1 });
    expect(await store.findUser(user.userId)).toEqual(user);
    expect((await credentialOf(user.email))?.passwordHash).toBe(own);
  });

  it('goes on after lines that cannot be imported, names them, and fails in the end', async () => {
    await store.createUser({ email: 'theirs@example.com', password: 'secret', accountId: 'other', role: 'admin' });
    const { result, warnings } = await run([
      userLine('ok1@example.com'),
      '{',
      userLine('theirs@example.com'),
      userLine('ok2@example.com'),
    ]);
    const details = { lines: 4, created: 2, existing: 0, taken: 1, wrong: 1 };
    expect(result).toMatchObject({ name: 'CliError', message: expect.stringMatching(/^2 of 4 lines/), details });
    expect(warnings).toEqual([
      'line 2: it is not JSON: each line is an object of its own.',
      'line 3: a user of another account has this e-mail address.',
    ]);
  });

  it('tells of hashes weaker than ours, by kind, and only of those that it took', async () => {
    const weak = passwordHash.replace('$10$', '$08$');
    const pbkdf2 = '$pbkdf2-sha256$29000$MDEyMzQ1Njc4OWFiY2RlZg$C8AL1H1mP0dcugAmf50VJE/DcscRE3FJ6f8SqRBdJ0U';
    const texts = [
      userLine('weak1@example.com', { password_hash: weak }),
      userLine('weak2@example.com', { password_hash: weak }),
      userLine('weak3@example.com', { password_hash: pbkdf2 }),
      userLine('strong@example.com'),
    ];
    const { result, warnings } = await run(texts);
    expect(result).toMatchObject({ created: 4, weaker: { bcrypt: 2, 'PBKDF2-SHA256': 1 } });
    expect(warnings).toEqual([
      'hashes weaker than ours, until the first login of each user: bcrypt: 2, PBKDF2-SHA256: 1.',
    ]);
    expect(await run(texts)).toMatchObject({ result: { created: 0, weaker: {} }, warnings: [] });
  });

  it('judges the second of two lines with one address by what the first wrote, in any form of the address', async () => {
    const emails = ['twice@example.com', ' TWICE@example.com', 'twice@Example.com '];
    expect((await run(emails.map(email => userLine(email)))).result).toMatchObject({ created: 1, existing: 2 });
    const { result } = await run([userLine('two@example.com'), userLine('two@example.com', { account: 'other' })]);
    expect(result).toMatchObject({ details: { created: 1, taken: 1 } });
  });

  it('makes one user of an address, however many run it at once', async () => {
    const texts = Array.from({ length: 40 }, (_, at) => userLine(`race${at}@example.com`));
    const results = await Promise.all([1, 2, 3].map(() => run(texts)));
    expect(results.map(({ result }) => result.created).reduce((sum, count) => sum + count)).toBe(40);
    expect(results.map(({ result }) => result.created + result.existing)).toEqual([40, 40, 40]);
  });

  it('ends at the first failure of the store, and writes nothing after it', async () => {
    let calls = 0;
    const failing = async () => {
      calls += 1;
      if (calls >= 3) throw new Error('no table');
      return 'created' as const;
    };
    const { result } = await run(
      Array.from({ length: 500 }, (_, at) => userLine(`n${at}@example.com`)),
      failing,
    );
    expect(result.message).toBe('no table');
    const atTheEnd = calls;
    await new Promise(setImmediate);
    expect(calls).toBe(atTheEnd);
    expect(calls).toBeLessThan(100);
  });
});
