import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { makeHostMap } from '../../../src/local/internet/host-map.ts';
import { normaliseName, parseHosts, parseMapping } from '../../../src/local/internet/hosts-file.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

describe('normaliseName', () => {
  it.each([
    ['Receiver.Example.COM', 'receiver.example.com'],
    ['receiver.example.com.', 'receiver.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['localhost', 'localhost'],
    ['_dmarc.example.com', '_dmarc.example.com'],
    ['', undefined],
    ['a b', undefined],
    ['.example.com', undefined],
    ['a..b', undefined],
    ['1.2.3.4', undefined],
    ['::1', undefined],
    [`${'a'.repeat(60)}.`.repeat(5), undefined],
  ])('normalises %s to %s', (text, name) => {
    expect(normaliseName(text)).toBe(name);
  });
});

describe('parseMapping', () => {
  it.each([
    ['a.example.com=http://127.0.0.1:9000', { name: 'a.example.com', port: 9000 }],
    ['A.example.com=http://127.0.0.1:1/', { name: 'a.example.com', port: 1 }],
    ['a.example.com=http://localhost:9000', { name: 'a.example.com', port: 9000 }],
  ])('parses %s', (text, mapping) => {
    expect(parseMapping(text)).toEqual(mapping);
  });

  it.each([
    ['a.example.com', /HOST=/],
    ['=http://127.0.0.1:9000', /HOST=/],
    ['a b=http://127.0.0.1:9000', /HOST=/],
    ['a.example.com=https://127.0.0.1:9000', /must map to/],
    ['a.example.com=http://127.0.0.1', /must map to/],
    ['a.example.com=http://127.0.0.1:0', /must map to/],
    ['a.example.com=http://127.0.0.1:65536', /must map to/],
    ['a.example.com=http://10.0.0.1:80', /must map to/],
    ['a.example.com=http://127.0.0.1:80/path', /must map to/],
  ])('rejects %s', (text, message) => {
    expect(() => parseMapping(text)).toThrow(message);
  });
});

describe('parseHosts', () => {
  it('parses mappings and lists of addresses', () => {
    const text = JSON.stringify({
      'A.example.com': 'http://127.0.0.1:9000',
      'b.example.com': ['10.0.0.1', '2001:db8::1'],
      'gone.example.com': [],
    });
    expect(Object.fromEntries(parseHosts(text))).toEqual({
      'a.example.com': 9000,
      'b.example.com': ['10.0.0.1', '2001:db8::1'],
      'gone.example.com': [],
    });
  });

  it.each([
    ['', /not JSON/],
    ['[]', /one JSON object/],
    ['{"a b":"http://127.0.0.1:1"}', /"a b" is not a host name/],
    ['{"a.b":"http://10.0.0.1:1"}', /"a\.b" must be/],
    ['{"a.b":["not an address"]}', /"a\.b" must be/],
    ['{"a.b":9000}', /"a\.b" must be/],
    ['{"a.b":null}', /"a\.b" must be/],
  ])('rejects %s', (text, message) => {
    expect(() => parseHosts(text)).toThrow(message);
  });
});

const hostsFile = join(temporaryDirectory(), 'hosts.json');

const builtIn = new Map([['site.example.com', 4]]);

const write = (hosts: object | string) =>
  writeFileSync(hostsFile, typeof hosts === 'string' ? hosts : JSON.stringify(hosts));

describe('mapped names', () => {
  const names = Array.from({ length: 2_000 }, (_, index) => `n${index}.example.com`);
  const hosts = makeHostMap({ builtIn, mappings: new Map(names.map((name, index) => [name, index + 1])) });

  it('have different public addresses, which are recognised as mapped', () => {
    const addresses = names.map(name => hosts.addressesOf(name)?.[0] ?? '');
    expect(new Set(addresses).size).toBe(names.length);
    expect(addresses.every(address => ipaddr.parse(address).range() === 'unicast')).toBe(true);
    expect(addresses.filter(address => !hosts.isMapped(address))).toEqual([]);
    expect(hosts.portOf('N7.example.com.')).toBe(8);
  });

  it('have the same addresses in every process', () => {
    const other = makeHostMap({ builtIn, mappings: new Map([...names].reverse().map(name => [name, 1])) });
    expect(names.map(name => other.addressesOf(name))).toEqual(names.map(name => hosts.addressesOf(name)));
  });

  it('are the only names and addresses in the map', () => {
    expect(hosts.addressesOf('other.example.com')).toBeUndefined();
    expect(hosts.addressesOf('not a name')).toBeUndefined();
    expect(hosts.portOf('other.example.com')).toBeUndefined();
    expect(hosts.isMapped('10.0.0.1')).toBe(false);
  });
});

describe('a hosts file', () => {
  it('takes effect as soon as it changes, except for names on the command line', () => {
    write({ 'a.example.com': ['10.0.0.1', '::1'], 'fixed.example.com': ['10.0.0.1'] });
    const hosts = makeHostMap({ builtIn, mappings: new Map([['fixed.example.com', 5]]), hostsFile });
    expect(hosts.addressesOf('a.example.com')).toEqual(['10.0.0.1', '::1']);
    expect(hosts.portOf('a.example.com')).toBeUndefined();
    expect(hosts.portOf('fixed.example.com')).toBe(5);
    for (let port = 9_000; port < 9_050; port += 1) {
      write({ 'a.example.com': `http://127.0.0.1:${port}` }); // all versions have the same size
      expect(hosts.portOf('a.example.com')).toBe(port);
    }
    write({});
    expect(hosts.addressesOf('a.example.com')).toBeUndefined();
  });

  it('overrides the name of a site', () => {
    const hosts = makeHostMap({ builtIn, mappings: new Map(), hostsFile });
    write({});
    expect(hosts.portOf('site.example.com')).toBe(4);
    write({ 'site.example.com': ['10.0.0.1'] });
    expect(hosts.addressesOf('site.example.com')).toEqual(['10.0.0.1']);
  });

  it('has no effect while it is malformed, incomplete or missing', () => {
    write({ 'a.example.com': 'http://127.0.0.1:9000' });
    const hosts = makeHostMap({ builtIn, mappings: new Map(), hostsFile });
    expect(hosts.portOf('a.example.com')).toBe(9_000);
    write('{"a.exam');
    expect(hosts.portOf('a.example.com')).toBe(9_000);
    rmSync(hostsFile);
    expect(hosts.portOf('a.example.com')).toBe(9_000);
    write({ 'a.example.com': [] });
    expect(hosts.addressesOf('a.example.com')).toEqual([]);
  });
});
