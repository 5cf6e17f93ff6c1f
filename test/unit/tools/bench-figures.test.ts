import { Resolver } from 'node:dns/promises';
import { describe, expect, it } from 'vitest';
import { median, rotated, spreadOf } from '../../../tools/bench/figures.ts';
import { startNameServer } from '../../../tools/bench/name-server.ts';
import { pageOf, sectionsOf } from '../../../tools/bench/page.ts';
import { descendants, parseState } from '../../../tools/bench/processes.ts';

describe('the figures of the benchmark', () => {
  it('are medians, and the times that half, 95 % and 99 % do not exceed', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(spreadOf(Array.from({ length: 200 }, (_, index) => index + 1))).toEqual({ p50: 100, p95: 190, p99: 198 });
    expect(spreadOf([7])).toEqual({ p50: 7, p95: 7, p99: 7 });
  });

  it('are taken in another order each round', () => {
    expect([0, 1, 2, 3].map(round => rotated(['a', 'b', 'c'], round).join(''))).toEqual(['abc', 'bca', 'cab', 'abc']);
  });
});

describe('the processes that are counted', () => {
  it('are the descendants of one: a function of another run on the machine was among them', () => {
    const parents = { 2: 1, 3: 2, 4: 2, 5: 3, 6: 1, 7: 6 };
    const states = new Map(Object.entries(parents).map(([id, parent]) => [Number(id), { parent }]));
    expect(descendants(states, 2).toSorted()).toEqual([3, 4, 5]);
    expect(descendants(states, 7)).toEqual([]);
  });

  it('are read by fields after the name, which may hold brackets and blanks', () => {
    const rest = `S 41 ${'0 '.repeat(9)}120 30 0`;
    expect(parseState(`42 (node) x) ${rest}`)).toEqual({ parent: 41, ticks: 150 });
    expect(parseState('')).toBeUndefined();
  });
});

describe('the page', () => {
  const begins = '# Performance\n\nOn this machine.\n';
  const titles = ['First', 'Second'];

  it('keeps the sections that were not measured again', () => {
    const page = `${begins}\n## First\none\n\n## Second\ntwo\n`;
    const sections = sectionsOf(page, begins).set('Second', 'Second\nnew');
    expect(pageOf(begins, titles, sections)).toEqual({ page: `${begins}\n## First\none\n\n## Second\nnew\n` });
  });

  it('does not mix the figures of two machines', () => {
    const sections = sectionsOf('# Performance\n\nOn another.\n\n## First\none\n', begins).set('Second', 'Second\nnew');
    expect(pageOf(begins, titles, sections)).toEqual({ missing: 'First' });
  });
});

describe('the name server on loopback', () => {
  it('answers a resolver of Node: an address, no address of that session, no such name', async () => {
    const server = await startNameServer(name => (name === 'a.example.com' ? '93.184.0.1' : undefined));
    try {
      const resolver = new Resolver({ timeout: 2_000, tries: 3 });
      resolver.setServers([`127.0.0.1:${server.port}`]);
      await expect(resolver.resolve4('a.example.com')).resolves.toEqual(['93.184.0.1']);
      await expect(resolver.resolve6('a.example.com')).rejects.toMatchObject({ code: 'ENODATA' });
      await expect(resolver.resolve4('b.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    } finally {
      server.stop();
    }
  });
});
