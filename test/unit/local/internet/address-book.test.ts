import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { afterAll, describe, expect, it } from 'vitest';
import { makeAddressBook } from '../../../../local/internet/address-book.ts';

const directory = mkdtempSync(join(tmpdir(), 'emissor-hosts-'));
const hostsFile = join(directory, 'hosts.json');
afterAll(() => rmSync(directory, { recursive: true }));

const builtIn = new Map([['receiver.example.com', 4]]);

const write = (hosts: object | string) =>
  writeFileSync(hostsFile, typeof hosts === 'string' ? hosts : JSON.stringify(hosts));

describe('mapped names', () => {
  const names = Array.from({ length: 2_000 }, (_, index) => `n${index}.example.com`);
  const book = makeAddressBook({ builtIn, mappings: new Map(names.map((name, index) => [name, index + 1])) });

  it('have an address of their own, which looks public, and lead back to it', () => {
    const addresses = names.map(name => book.addressesOf(name)?.[0] ?? '');
    expect(new Set(addresses).size).toBe(names.length);
    expect(addresses.every(address => ipaddr.parse(address).range() === 'unicast')).toBe(true);
    expect(addresses.map(address => book.nameAt(address))).toEqual(names);
    expect(book.portOf('N7.example.com.')).toBe(8);
  });

  it('have the same addresses in every process', () => {
    const other = makeAddressBook({ builtIn, mappings: new Map([...names].reverse().map(name => [name, 1])) });
    expect(names.map(name => other.addressesOf(name))).toEqual(names.map(name => book.addressesOf(name)));
  });

  it('are the only ones that are known', () => {
    expect(book.addressesOf('other.example.com')).toBeUndefined();
    expect(book.addressesOf('not a name')).toBeUndefined();
    expect(book.portOf('other.example.com')).toBeUndefined();
    expect(book.nameAt('10.0.0.1')).toBeUndefined();
  });
});

describe('a hosts file', () => {
  it('is read again as soon as it changes; the command line wins', () => {
    write({ 'a.example.com': ['10.0.0.1', '::1'], 'fixed.example.com': ['10.0.0.1'] });
    const book = makeAddressBook({ builtIn, mappings: new Map([['fixed.example.com', 5]]), hostsFile });
    expect(book.addressesOf('a.example.com')).toEqual(['10.0.0.1', '::1']);
    expect(book.portOf('a.example.com')).toBeUndefined();
    expect(book.portOf('fixed.example.com')).toBe(5);
    for (let port = 9_000; port < 9_050; port += 1) {
      write({ 'a.example.com': `http://127.0.0.1:${port}` }); // the same size within the same moment
      expect(book.portOf('a.example.com')).toBe(port);
    }
    write({});
    expect(book.addressesOf('a.example.com')).toBeUndefined();
  });

  it('may send even the built-in receiver elsewhere', () => {
    const book = makeAddressBook({ builtIn, mappings: new Map(), hostsFile });
    write({});
    expect(book.portOf('receiver.example.com')).toBe(4);
    write({ 'receiver.example.com': ['10.0.0.1'] });
    expect(book.addressesOf('receiver.example.com')).toEqual(['10.0.0.1']);
  });

  it('that is malformed, half written or gone leaves the last good one in force', () => {
    write({ 'a.example.com': 'http://127.0.0.1:9000' });
    const book = makeAddressBook({ builtIn, mappings: new Map(), hostsFile });
    expect(book.portOf('a.example.com')).toBe(9_000);
    write('{"a.exam');
    expect(book.portOf('a.example.com')).toBe(9_000);
    rmSync(hostsFile);
    expect(book.portOf('a.example.com')).toBe(9_000);
    write({ 'a.example.com': [] });
    expect(book.addressesOf('a.example.com')).toEqual([]);
  });
});
