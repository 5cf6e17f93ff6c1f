import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startSqs } from '../../src/local/sqs.ts';
import { readState, saveState } from '../../src/local/state.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const parent = temporaryDirectory();
let folders = 0;
let file = '';

beforeEach(() => {
  const folder = join(parent, String(folders++));
  mkdirSync(folder);
  file = join(folder, 'state.json');
});

const master = Buffer.alloc(32, 7);
const definition = { TableName: 'T', KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }] };

const messageOf = (id: string) => ({
  ...{ id, body: `of ${id}`, group: '', sender: 'me', attributes: { name: { DataType: 'String', StringValue: id } } },
  ...{ sentAt: 1, receives: 0, firstReceivedAt: 0, visibleAt: 1 },
});

/** Starts to save a state that tests change through `ids`. */
const make = () => {
  const ids: string[] = [];
  const problems: string[] = [];
  const snapshot = () => ({
    master,
    tables: [{ definition, items: ids.map(id => ({ id: { S: id } })) }],
    queues: { q: ids.map(messageOf) },
  });
  const end = saveState(file, { snapshot, changes: () => ids.length }, problem => problems.push(problem));
  onTestFinished(end);
  return { ids, end, problems };
};

const read = () => readState(file)?.tables[0]?.items.map(({ id }) => id?.S);

describe('the state of a run', () => {
  it('contains the messages of all queues, including queues that a client created', async () => {
    const first = await startSqs();
    for (const name of ['q', 'of a client']) first.ensureQueue({ name });
    const end = saveState(
      file,
      { ...first, snapshot: () => ({ master, tables: [], queues: first.snapshot() }) },
      () => {},
    );
    first.find('q').send({ body: 'taken' }, 'me');
    const [taken] = first.find('q').receive(1);
    for (const name of ['q', 'of a client']) first.find(name).send({ body: 'waits' }, 'me');
    await first.stop();
    await end();

    const second = await startSqs({ stored: readState(file)?.queues });
    onTestFinished(second.stop);
    for (const name of ['q', 'of a client']) {
      expect(() => second.find(name)).toThrow(name); // the queue and its messages exist only after `ensureQueue`
      second.ensureQueue({ name });
      expect(second.find(name).receive(2)).toMatchObject([{ body: 'waits' }]);
    }
    second.find('q').hide(String(taken?.receipt), 0);
    expect(second.find('q').receive(1)).toMatchObject([{ id: taken?.id, body: 'taken' }]);
  });

  it('is written at the end if it has changed, and is readable only by its owner', async () => {
    expect(readState(file)).toBeUndefined();
    const first = make();
    first.ids.push('a', 'b');
    await first.end();
    expect(readState(file)).toMatchObject({
      master,
      tables: [{ definition }],
      queues: { q: [messageOf('a'), messageOf('b')] },
    });
    expect(read()).toEqual(['a', 'b']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const written = statSync(file).ino;
    await make().end();
    expect(statSync(file).ino).toBe(written); // each write creates a new file
  });

  it('is written every 3 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { ids } = make();
    for (const id of ['a', 'b']) {
      ids.push(id);
      vi.advanceTimersByTime(3_000);
      await expect.poll(read).toEqual([...ids]);
    }
    expect(existsSync(`${file}.draft`)).toBe(false);
  });

  it('is not replaced if writing fails, and the error is reported', async () => {
    const { ids, end, problems } = make();
    ids.push('a');
    await end();
    mkdirSync(`${file}.draft`);
    ids.push('b');
    await end();
    expect(problems).toEqual([expect.stringMatching(/^Could not write the state to \S+state\.json: EISDIR/)]);
    expect(read()).toEqual(['a']);
  });

  it.each([
    ['truncated', (text: string) => text.slice(0, -5)],
    ['empty', () => ''],
    ['from another program', () => '{"tables": []}'],
    ['from another version', (text: string) => text.replace('run 1', 'run 2')],
    ['without a key', (text: string) => text.replace('master', 'key')],
    ['with an invalid item', (text: string) => text.replace('"a"', '5')],
  ])('is rejected if it is %s', async (_what, spoil) => {
    const { ids, end } = make();
    ids.push('a');
    await end();
    writeFileSync(file, spoil(readFileSync(file, 'utf8')));
    expect(() => readState(file)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^\S+state\.json is not the state of a local run \([^\n]+\)$/),
        problem: 'data-damaged',
      }),
    );
  });
});
