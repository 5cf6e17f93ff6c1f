import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { type NumberedLine, readLines } from '../../../../ops/tenants/import-lines.ts';
import { importLines, parseUserLine } from '../../../../ops/tenants/import-users.ts';
import { type Conditions, fail, interrupt, startOperatedTables } from '../../../support/operated-tables.ts';
import { passwordHashing } from '../../../support/password-hashing.ts';

const passwordHash = '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';
const expensiveHash = passwordHash.replace('$10$', '$14$');
const [salt, tag] = ['MDEyMzQ1Njc4OWFiY2RlZg', 'C8AL1H1mP0dcugAmf50VJE/DcscRE3FJ6f8SqRBdJ0U'];
const userLine = (email: string, more: object = {}) =>
  JSON.stringify({ email, account: 'acme', role: 'admin', password_hash: passwordHash, ...more });

describe('the lines of a file', () => {
  const read = async (chunks: readonly Buffer[], maxBytes = 64) => {
    const lines: NumberedLine[] = [];
    for await (const line of readLines(Readable.from(chunks), maxBytes)) lines.push(line);
    return lines;
  };

  it('do not depend on the chunks of the file', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 }).map(line => line.replaceAll('\uFEFF', ''));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 8 }), fc.array(fc.nat(9)), async (texts, cuts) => {
        const whole = Buffer.from(texts.join('\n'));
        const chunks: Buffer[] = [];
        let start = 0;
        for (const cut of [...cuts, whole.length]) {
          chunks.push(whole.subarray(start, start + cut));
          start += cut;
        }
        const lines = `${whole}`.split('\n').map((line, at) => ({ number: at + 1, text: line }));
        expect(await read(chunks, 4_096)).toEqual(lines.filter(({ text: line }) => line.trim() !== ''));
      }),
      { numRuns: 300 },
    );
  });

  it('have no text if they are too long or not UTF-8, and later lines keep their numbers', async () => {
    const long = Buffer.alloc(1_000_000, 'x');
    const lines = await read([Buffer.from('a\n'), long, Buffer.from('\n\r\n'), Buffer.from([0xff, 0x0a, 0x62])]);
    expect(lines.map(({ number, text }) => `${number} ${text}`)).toEqual(['1 a', '2 undefined', '4 undefined', '5 b']);
  });

  it('start after a byte order mark', async () => {
    expect(await read([Buffer.from('\uFEFF{}\n')])).toEqual([{ number: 1, text: '{}' }]);
  });
});

describe('a line', () => {
  it('is parsed as a user with a normalised address', () => {
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
  ])(
    'is accepted with a PBKDF2 hash of %s, which is converted and matches the same password',
    async (_case, password_hash, converted) => {
      expect(parseUserLine(userLine('a@b.example', { password_hash })).user?.passwordHash).toBe(converted);
      expect(await passwordHashing.verify('pa ss+é', `imported${converted}`)).toBe(true);
    },
  );

  it.each([
    ['two million rounds of passlib', `$pbkdf2-sha512$2000000$${salt}$${tag}`, true],
    ['more than two million rounds of passlib', `$pbkdf2-sha512$2000001$${salt}$${tag}`, false],
    ['passlib with standard base64', `$pbkdf2-sha256$29000$${salt.replace('M', '+')}$${tag}`, false],
    ['two million rounds of Django', `pbkdf2_sha256$2000000$seasalt2017AB$${tag}=`, true],
    ['more than two million rounds of Django', `pbkdf2_sha256$2000001$seasalt2017AB$${tag}=`, false],
    ['Django without padding', `pbkdf2_sha256$1000$seasalt2017AB$${tag}`, false],
    ['Django with too much padding', `pbkdf2_sha256$1000$seasalt2017AB$${tag}==`, false],
    ['Django with unused bits', `pbkdf2_sha256$1000$seasalt2017AB$${tag.replace(/.$/, 'V')}=`, false],
    ['Django with a salt that is too short', `pbkdf2_sha256$1000$seasalt$${tag}=`, false],
    ['Django with SHA-1', `pbkdf2_sha1$1000$seasalt2017AB$${tag}=`, false],
  ])('is accepted with a password hash of %s: %s', (_case, password_hash, isAccepted) => {
    expect(parseUserLine(userLine('a@b.example', { password_hash })).user !== undefined).toBe(isAccepted);
  });

  it.each([
    ['PHC', `$scrypt$ln=14,r=8,p=5$${salt}$${tag}`],
    ['Django', `scrypt$16384$seasalt2017AB$8$5$${tag}=`],
    ['Werkzeug', 'scrypt:32768:8:1$canary$00'],
  ])('is rejected with a scrypt hash of %s', (_case, password_hash) => {
    const problem =
      '"password_hash" is a scrypt hash, which is not supported. Remove the line, and create the user with a new password.';
    expect(parseUserLine(userLine('a@b.example', { password_hash }))).toEqual({ problem });
  });

  it.each([
    ['not JSON', '{"email":', /not JSON/],
    ['not an object', '[]', /not a JSON object/],
    ['null', 'null', /not a JSON object/],
    ['an unknown field', userLine('a@b.example', { name: 'Ana' }), /unknown field/],
    ['no address', userLine('ana'), /"email" must be an e-mail address/],
    ['an invisible character in the address', userLine('a\u200b@acme.com'), /"email" contains the .* U\+200B\.$/],
    ['a number as the address', userLine('', { email: 1 }), /^"email" must be an e-mail address/],
    ['an invalid account', userLine('a@b.example', { account: 'a b' }), /"account"/],
    ['a reserved account', userLine('a@b.example', { account: '_smoke' }), /"account"/],
    ['an unknown role', userLine('a@b.example', { role: 'owner' }), /"role" must be admin or member/],
    ['a password in place of a hash', userLine('a@b.example', { password_hash: 'canary-secret' }), /"password_hash"/],
    ['a hash that takes too much work', userLine('a@b.example', { password_hash: expensiveHash }), /"password_hash"/],
    ['no hash', JSON.stringify({ email: 'a@b.example', account: 'acme', role: 'admin' }), /"password_hash"/],
  ])('is rejected and not quoted if it is or has %s', (_case, text, problem) => {
    const parsed = parseUserLine(text);
    expect(parsed.user).toBeUndefined();
    expect(parsed.problem).toMatch(problem);
    expect(parsed.problem).not.toMatch(/canary|N9qo/);
  });
});

describe('ops users import', async () => {
  const operated = await startOperatedTables();
  const folder = await mkdtemp(join(tmpdir(), 'emissor-import-'));
  afterAll(async () => {
    await operated.stop();
    await rm(folder, { recursive: true });
  });

  it('has at most 64 lines in flight, for files of any length', async () => {
    let [read, finished, max] = [0, 0, 0];
    async function* counted() {
      for (let number = 1; number <= 20_000; number += 1) {
        read += 1;
        max = Math.max(max, read - finished);
        yield { number, text: userLine(`user${number}@example.com`) };
      }
    }
    const importUser = async () => {
      await new Promise(setImmediate);
      finished += 1;
      return 'created' as const;
    };
    const counts = await importLines({ lines: counted(), importUser, progress: () => {}, warn: () => {} });
    expect(counts).toMatchObject({ lines: 20_000, created: 20_000 });
    expect(max).toBeLessThanOrEqual(64);
  });

  const fileOf = async (texts: Iterable<string>) => {
    const file = join(folder, randomId(8));
    await writeFile(file, [...texts].join('\n'));
    return file;
  };
  const run = async (texts: Iterable<string>, conditions: Conditions = {}) => {
    const { code, stdout, stderr } = await operated
      .under(conditions)
      .run('--json', 'users', 'import', await fileOf(texts));
    return { code, ...JSON.parse(stdout || '{}'), ...JSON.parse(stderr || '{}') };
  };
  const usersOf = (account: string): Promise<{ userId: string; email: string }[]> =>
    operated.json(`users list --account ${account}`);
  const lines = (account: string, count: number) =>
    Array.from({ length: count }, (_, at) => userLine(`${account}${at}@example.com`, { account }));

  it('creates missing users, leaves existing ones unchanged, and can be repeated', async () => {
    const own = await operated.createUser('again', 'again0@example.com');
    const before = await operated.item('Credentials', { email: own.email });
    expect(await run(lines('again', 120))).toMatchObject({ code: 0, lines: 120, created: 119, existing: 1 });
    expect(await run(lines('again', 200))).toMatchObject({ created: 80, existing: 120 });
    expect(await operated.item('Credentials', { email: own.email })).toEqual(before);
    const imported = { passwordHash: `imported${passwordHash}` };
    expect(await operated.item('Credentials', { email: 'again7@example.com' })).toMatchObject(imported);
    const { stdout } = await operated.run('users', 'import', await fileOf([]));
    expect(stdout).toMatch(/^Users created: 0\. Existing users, unchanged: 0/);
  });

  it('continues after invalid lines, reports their line numbers, and fails with all counts in one object', async () => {
    await operated.createUser('other', 'theirs@example.com');
    const texts = [userLine('ok1@example.com'), '{', '', userLine('theirs@example.com'), userLine('ok2@example.com')];
    expect(await run(texts)).toEqual({
      ...{ error: expect.stringMatching(/^2 of 4 lines/), code: 'failed', exitCode: 1 },
      ...{ lines: 4, created: 2, existing: 0, conflicting: 1, invalid: 1, weaker: {} },
      warnings: [
        'line 2: it is not JSON. Each line must be one JSON object.',
        'line 4: a user of another account has this e-mail address.',
      ],
    });
  });

  it('reports imported hashes that are weaker than Emissor’s, by kind', async () => {
    const weak = passwordHash.replace('$10$', '$08$');
    const pbkdf2 = `$pbkdf2-sha256$29000$${salt}$${tag}`;
    const texts = [weak, weak, pbkdf2, passwordHash].map((password_hash, at) =>
      userLine(`weak${at}@example.com`, { password_hash }),
    );
    const warning = expect.stringMatching(/^the first login of each user replaces these weaker hashes: .*bcrypt: 2/);
    expect(await run(texts)).toMatchObject({ created: 4, weaker: { bcrypt: 2, 'PBKDF2-SHA256': 1 }, warning });
    expect(await run(texts)).not.toHaveProperty('warning');
  });

  it('treats every spelling of an address as taken once an earlier line has created the user', async () => {
    const emails = ['twice@example.com', ' TWICE@example.com', 'twice@Example.com '];
    expect(await run(emails.map(email => userLine(email)))).toMatchObject({ created: 1, existing: 2 });
    const two = [userLine('two@example.com'), userLine('two@example.com', { account: 'bolt' })];
    expect(await run(two)).toMatchObject({ created: 1, conflicting: 1 });
  });

  it('stops at the first store failure, and writes nothing after the command ends', async () => {
    const failing = operated.under({ before: ['TransactWrite', 3, fail] });
    const { code, stderr } = await failing.run('users', 'import', await fileOf(lines('down', 500)));
    expect([code, stderr]).toEqual([1, expect.stringContaining('it ended half-way')]);
    const written = (await usersOf('down')).length;
    expect(written).toBeLessThan(100);
    await new Promise(setImmediate);
    expect(await usersOf('down')).toHaveLength(written);
  });

  it.each<[string, readonly string[], Conditions]>([
    ['has an invalid line', [...lines('audited1', 101), '{"email":"nobody"}'], {}],
    ['is interrupted', lines('audited2', 500), { before: ['TransactWrite', 300, interrupt] }],
  ])('records each created user in the audit trail if it %s', async (_case, texts, conditions) => {
    const account = JSON.parse(texts[0] ?? '').account;
    expect(await run(texts, conditions)).toMatchObject({ exitCode: 1 });
    const ids = (await usersOf(account)).map(({ userId }) => userId);
    const [line] = await operated.trail();
    const target = { accounts: [account], count: ids.length };
    expect(line).toMatchObject({ command: 'users import', outcome: 'failed', target });
    expect(line?.parts.flatMap(({ users }) => users).toSorted()).toEqual(ids.toSorted());
    expect(ids.length).toBeLessThan(500);
    expect(ids.length).toBeGreaterThan(100);
  });

  it.each(Object.entries({ none: 'ENOENT', '.': 'EISDIR' }))('reports an unreadable file: %s', async (name, error) => {
    const stderr = expect.stringContaining(`Could not read ${join(folder, name)} (${error})`);
    const failure = { code: 1, stdout: '', stderr };
    expect(await operated.run('users', 'import', join(folder, name))).toEqual(failure);
  });
});
