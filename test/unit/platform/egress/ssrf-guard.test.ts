import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardAddresses, isPublicAddress } from '../../../../lambdas/platform/egress/ssrf-guard.ts';

/** The special IPv4 blocks, each with the document that reserves it. Addresses next to a block are public or in another block. */
const specialIpv4 = (
  [
    ['0.0.0.0', 8, 'this network, RFC 1122'],
    ['10.0.0.0', 8, 'private, RFC 1918'],
    ['100.64.0.0', 10, 'carrier-grade NAT, RFC 6598'],
    ['127.0.0.0', 8, 'loopback, RFC 1122'],
    ['169.254.0.0', 16, 'link-local, RFC 3927'],
    ['172.16.0.0', 12, 'private, RFC 1918'],
    ['192.0.0.0', 24, 'protocol assignments, RFC 6890'],
    ['192.0.2.0', 24, 'documentation, RFC 5737'],
    ['192.31.196.0', 24, 'AS112, RFC 7535'],
    ['192.52.193.0', 24, 'multicast relays, RFC 7450'],
    ['192.88.99.0', 24, '6to4 relays, RFC 7526'],
    ['192.168.0.0', 16, 'private, RFC 1918'],
    ['192.175.48.0', 24, 'AS112, RFC 7534'],
    ['198.18.0.0', 15, 'benchmarking, RFC 2544'],
    ['198.51.100.0', 24, 'documentation, RFC 5737'],
    ['203.0.113.0', 24, 'documentation, RFC 5737'],
    ['224.0.0.0', 3, 'multicast and reserved, RFC 5771 and RFC 1112'],
  ] as const
).map(([block, length, document]) => {
  const first = block.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  return { block: `${block}/${length}`, document, first, last: first + 2 ** (32 - length) - 1 };
});
const isSpecialIpv4 = (value: number) => specialIpv4.some(({ first, last }) => first <= value && value <= last);

const allowed = [
  ...['1.1.1.1', '8.8.8.8', '93.184.216.34'],
  ...['2001:200::1', '2001:4860:4860::8888', '2001:db7:ffff::1', '2001:db9::1', '2003::1'],
  ...['2606:4700:4700::1111', '2A00:1450:4001::200E', '3ffe:ffff::1'],
];

/** Addresses that attackers use, and the special IPv6 blocks, each with the document that reserves it. */
const rejected: Record<string, readonly string[]> = {
  'Lambda Runtime API, ECS credentials, VPC DNS': ['169.254.100.1', '169.254.170.2', '169.254.169.253'],
  'instance metadata services': ['169.254.169.254', '100.100.100.200', '192.0.0.192'],
  'unspecified and loopback, RFC 4291': ['::', '::1', '0:0:0:0:0:0:0:1'],
  'IPv4-compatible, RFC 4291': ['::127.0.0.1', '::7f00:1', '::8.8.8.8'],
  'IPv4-mapped, RFC 4291': ['::ffff:169.254.169.254', '::ffff:7f00:1', '::FFFF:8.8.8.8', '0:0:0:0:0:ffff:7f00:1'],
  'IPv4-translated, RFC 2765': ['::ffff:0:7f00:1', '::ffff:0:808:808'],
  'NAT64, RFC 6052 and RFC 8215': ['64:ff9b::a9fe:a9fe', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '64:ff9b:1:fffe::1'],
  unassigned: ['64:ff9c::1', '200::1', '400::1', '1fff::1', '4000::1', '8000::1', 'e000::1'],
  'discard-only, RFC 6666': ['100::', '100::1'],
  'Teredo, RFC 4380': ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'protocol assignments, RFC 2928': ['2001:1::1', '2001:2::1', '2001:10::1', '2001:20::1', '2001:1ff:ffff::1'],
  'documentation, RFC 3849 and RFC 9637': ['2001:db8::1', '2001:db8:ffff::1', '3fff::1', '3fff:fff::1'],
  '6to4, RFC 3056': ['2002::', '2002:a9fe:a9fe::1', '2002:808:808::1'],
  'segment routing, RFC 9602': ['5f00::1'],
  'unique local, RFC 4193': ['fc00::1', 'fd00:ec2::254', 'fd00:ec2::253', 'fd7a:115c:a1e0::1', 'fdff:ffff::1'],
  'link-local, RFC 4291': ['fe80::1', 'febf:ffff::1', 'fe80::1%eth0'],
  'site-local, RFC 3879': ['fec0::1', 'feff:ffff::1'],
  'multicast, RFC 4291': ['ff02::1', 'ff0e::1'],
  'ISATAP, RFC 5214': ['2a00:1450::5efe:7f00:1', '2a00:1450::200:5efe:10.0.0.1', 'fe80::5efe:a9fe:a9fe'],
  'forms that only some parsers accept': ['0x7f.1', '0177.0.0.1', '2130706433', '08.8.8.8', '1.2.3', '8.8.8.8 '],
  'not addresses': ['', 'localhost', '[::1]', '2606:4700::1%1'],
};

const octets = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255] as const;
const dotted = (value: number) => octets(value).join('.');
const groups = (value: number) => `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
const anyIpv4 = fc.integer({ min: 0, max: 0xffffffff });
const group = fc.integer({ min: 0, max: 0xffff }).map(value => value.toString(16));
/** A prefix that is global unicast. */
const publicPrefix = fc.constantFrom('2606:4700:4700:1', '2a00:1450:4001:800', '2400:cb00:2048:1', '2c0f:fb50:4003:0');

describe('isPublicAddress', () => {
  it.each(allowed)('allows %s', address => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(Object.entries(rejected).flatMap(([block, addresses]) => addresses.map(address => [address, block])))(
    'rejects %s (%s)',
    address => {
      expect(isPublicAddress(address)).toBe(false);
    },
  );

  it.each(specialIpv4)('rejects all of $block ($document), but not the addresses next to it', one => {
    const { first, last } = one;
    for (const value of [first, first + 1, last - 1, last]) expect(isPublicAddress(dotted(value))).toBe(false);
    for (const value of [first - 1, last + 1].map(next => next >>> 0))
      expect(isPublicAddress(dotted(value))).toBe(!isSpecialIpv4(value));
  });

  it('matches the list of special blocks for the whole IPv4 address space', () => {
    fc.assert(
      fc.property(anyIpv4, value => isPublicAddress(dotted(value)) === !isSpecialIpv4(value)),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['mapped', (value: number) => [`::ffff:${dotted(value)}`, `::ffff:${groups(value)}`]],
    ['compatible', (value: number) => [`::${groups(value)}`, `0:0:0:0:0:0:${dotted(value)}`]],
    ['translated', (value: number) => [`::ffff:0:${groups(value)}`]],
    ['NAT64', (value: number) => [`64:ff9b::${groups(value)}`, `64:ff9b:1:2:3:4:${groups(value)}`]],
    ['6to4', (value: number) => [`2002:${groups(value)}::1`, `2002:${groups(value)}:1:2:3:4:5`]],
    [
      'Teredo',
      (value: number) => [`2001:0:${groups(value)}:8000:63bf:3fff:fdd2`, `2001::8000:63bf:${groups(~value >>> 0)}`],
    ],
  ])('rejects every IPv4 address in its %s form', (_form, embed) => {
    fc.assert(
      fc.property(anyIpv4, value => !embed(value).some(isPublicAddress)),
      { numRuns: 1_000 },
    );
  });

  it('rejects every IPv4 address in its ISATAP form with any prefix', () => {
    fc.assert(
      fc.property(publicPrefix, anyIpv4, fc.constantFrom('0', '200'), (prefix, value, first) => {
        return !isPublicAddress(`${prefix}:${first}:5efe:${groups(value)}`);
      }),
      { numRuns: 1_000 },
    );
  });

  it('rejects every IPv6 address outside 2000::/3', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 0xffff }).filter(first => first >>> 13 !== 1),
        fc.array(group, { minLength: 7, maxLength: 7 }),
        (first, rest) => !isPublicAddress([first.toString(16), ...rest].join(':')),
      ),
      { numRuns: 1_000 },
    );
  });

  it('never throws for any text', () => {
    fc.assert(fc.property(fc.string(), text => typeof isPublicAddress(text) === 'boolean'));
  });
});

describe('guardAddresses', () => {
  it('returns the unique IPv4 addresses', () => {
    expect(guardAddresses(['2606:4700::1', '93.184.216.34', '1.1.1.1', '93.184.216.34'])).toEqual({
      outcome: 'allowed',
      addresses: ['93.184.216.34', '1.1.1.1'],
    });
  });

  it('rejects the host if one address is forbidden, at any position', () => {
    const bad = fc.constantFrom(...Object.values(rejected).flat());
    const good = fc.array(fc.constantFrom(...allowed), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(good, bad, fc.nat(6), (addresses, address, at) => {
        return guardAddresses(addresses.toSpliced(at, 0, address)).outcome === 'rejected';
      }),
    );
  });

  it.each([
    ['there is no address', []],
    ['there are only IPv6 addresses', ['2606:4700::1', '2001:4860:4860::8888']],
  ])('rejects the host if %s', (_case, addresses) => {
    expect(guardAddresses(addresses).outcome).toBe('rejected');
  });

  it('returns the forbidden address', () => {
    expect(guardAddresses(['93.184.216.34', '10.0.0.7'])).toMatchObject({
      finding: { detail: expect.stringContaining('10.0.0.7') },
    });
  });
});
