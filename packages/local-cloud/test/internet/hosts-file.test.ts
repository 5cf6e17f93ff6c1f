import { describe, expect, it } from 'vitest';
import { normaliseName, parseHosts, parseMapping } from '../../src/internet/hosts-file.ts';

describe('names', () => {
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
  ])('%s is %s', (text, name) => {
    expect(normaliseName(text)).toBe(name);
  });
});

describe('a mapping of the command line', () => {
  it.each([
    ['a.example.com=http://127.0.0.1:9000', { name: 'a.example.com', port: 9000 }],
    ['A.example.com=http://127.0.0.1:1/', { name: 'a.example.com', port: 1 }],
    ['a.example.com=http://localhost:9000', { name: 'a.example.com', port: 9000 }],
  ])('%s', (text, mapping) => {
    expect(parseMapping(text)).toEqual(mapping);
  });

  it.each([
    ['a.example.com', /HOST=/],
    ['=http://127.0.0.1:9000', /HOST=/],
    ['a b=http://127.0.0.1:9000', /HOST=/],
    ['a.example.com=https://127.0.0.1:9000', /must lead to/],
    ['a.example.com=http://127.0.0.1', /must lead to/],
    ['a.example.com=http://127.0.0.1:0', /must lead to/],
    ['a.example.com=http://127.0.0.1:65536', /must lead to/],
    ['a.example.com=http://10.0.0.1:80', /must lead to/],
    ['a.example.com=http://127.0.0.1:80/path', /must lead to/],
  ])('%s is refused', (text, message) => {
    expect(() => parseMapping(text)).toThrow(message);
  });
});

describe('a hosts file', () => {
  it('holds mappings and lists of addresses', () => {
    const text = JSON.stringify({
      'A.example.com': 'http://127.0.0.1:9000',
      'b.example.com': ['10.0.0.1', '2001:db8::1'],
      'gone.example.com': [],
      'slow.example.com': { url: 'http://127.0.0.1:9000', resolvesAfter: 1_900, handshakeAfter: 60_000 },
      'plain.example.com': { url: 'http://127.0.0.1:9000' },
    });
    expect(Object.fromEntries(parseHosts(text))).toEqual({
      'a.example.com': { port: 9000 },
      'b.example.com': { addresses: ['10.0.0.1', '2001:db8::1'] },
      'gone.example.com': { addresses: [] },
      'slow.example.com': { port: 9000, delays: { resolvesAfter: 1_900, handshakeAfter: 60_000 } },
      'plain.example.com': { port: 9000, delays: {} },
    });
  });

  it.each([
    ['', /not JSON/],
    ['[]', /one JSON object/],
    ['null', /one JSON object/],
    ['{"a b":"http://127.0.0.1:1"}', /"a b" is not a host name/],
    ['{"a.b":"http://10.0.0.1:1"}', /"a\.b" must be/],
    ['{"a.b":["not an address"]}', /"a\.b" must be/],
    ['{"a.b":9000}', /"a\.b" must be/],
    ['{"a.b":null}', /"a\.b" must be/],
    ['{"a.b":{}}', /"a\.b" must be/],
    ['{"a.b":{"resolvesAfter":1}}', /"a\.b" must be/],
    ['{"a.b":{"url":"http://10.0.0.1:1"}}', /"a\.b" must be/],
    ['{"a.b":{"url":"http://127.0.0.1:1","resolvesAfter":"1"}}', /"a\.b" must be/],
    ['{"a.b":{"url":"http://127.0.0.1:1","handshakeAfter":-1}}', /"a\.b" must be/],
    ['{"a.b":{"url":"http://127.0.0.1:1","resolvesAfter":3600001}}', /"a\.b" must be/],
    ['{"a.b":{"url":"http://127.0.0.1:1","resolveAfter":1}}', /"a\.b" must be/],
  ])('%s is refused', (text, message) => {
    expect(() => parseHosts(text)).toThrow(message);
  });
});
