import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { makeHostMap } from '../../src/internet/host-map.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const hostsFile = join(temporaryDirectory(), 'hosts.json');

const builtIn = new Map([['site.example.com', 4]]);

const write = (hosts: object | string) =>
  writeFileSync(hostsFile, typeof hosts === 'string' ? hosts : JSON.stringify(hosts));

describe('mapped names', () => {
  const names = Array.from({ length: 2_000 }, (_, index) => `n${index}.example.com`);
  const hosts = makeHostMap({ builtIn, mappings: new Map(names.map((name, index) => [name, index + 1])) });

  it('have an address of their own, which looks public, and are found by it', () => {
    const addresses = names.map(name => hosts.addressesOf(name)?.[0] ?? '');
    expect(new Set(addresses).size).toBe(names.length);
    expect(addresses.every(address => ipaddr.parse(address).range() === 'unicast')).toBe(true);
    expect(addresses.map(address => hosts.nameAt(address))).toEqual(names);
    expect(hosts.portOf('N7.example.com.')).toBe(8);
  });

  it('have the same addresses in every process', () => {
    const other = makeHostMap({ builtIn, mappings: new Map([...names].reverse().map(name => [name, 1])) });
    expect(names.map(name => other.addressesOf(name))).toEqual(names.map(name => hosts.addressesOf(name)));
  });

  it('are the only ones that are known', () => {
    expect(hosts.addressesOf('other.example.com')).toBeUndefined();
    expect(hosts.addressesOf('not a name')).toBeUndefined();
    expect(hosts.portOf('other.example.com')).toBeUndefined();
    expect(hosts.nameAt('10.0.0.1')).toBeUndefined();
  });
});

describe('a hosts file', () => {
  it('is read again as soon as it changes; the command line overrides it', () => {
    write({ 'a.example.com': ['10.0.0.1', '::1'], 'fixed.example.com': ['10.0.0.1'] });
    const hosts = makeHostMap({ builtIn, mappings: new Map([['fixed.example.com', 5]]), hostsFile });
    expect(hosts.addressesOf('a.example.com')).toEqual(['10.0.0.1', '::1']);
    expect(hosts.portOf('a.example.com')).toBeUndefined();
    expect(hosts.portOf('fixed.example.com')).toBe(5);
    for (let port = 9_000; port < 9_050; port += 1) {
      write({ 'a.example.com': `http://127.0.0.1:${port}` }); // the same size within the same moment
      expect(hosts.portOf('a.example.com')).toBe(port);
    }
    write({});
    expect(hosts.addressesOf('a.example.com')).toBeUndefined();
  });

  it('may override a site', () => {
    const hosts = makeHostMap({ builtIn, mappings: new Map(), hostsFile });
    write({});
    expect(hosts.portOf('site.example.com')).toBe(4);
    write({ 'site.example.com': ['10.0.0.1'] });
    expect(hosts.addressesOf('site.example.com')).toEqual(['10.0.0.1']);
  });

  it('that is malformed, half written or gone leaves the last good one in force', () => {
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
