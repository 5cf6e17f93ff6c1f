import { describe, expect, it } from 'vitest';
import { ok, otherAddress, outcomeOf, publicAddress, request, say, start } from './posting.ts';
import type { Names } from './tls-receiver.ts';

const literal = `https://${publicAddress}/`;
const underscored = 'https://a_b.example.com/';

// RFC 9525: a certificate must name the host in its SAN. `failure-causes.test.ts` has untrusted and expired ones.
describe('a certificate', () => {
  it.each<[string, Names, string]>([
    ['the name', { dns: ['receiver.example.com'] }, request.url],
    ['the name among others', { dns: ['a.example.com', 'receiver.example.com'] }, request.url],
    ['the name in capitals', { dns: ['Receiver.Example.COM'] }, request.url],
    ['all names of the domain', { dns: ['*.example.com'] }, request.url],
    // OpenSSL matches no wildcard to an underscore, and such a name can have no other certificate.
    ['also for a name with an underscore', { dns: ['a-b.example.com', '*.example.com'] }, underscored],
    ['its underscore, too', { dns: ['a_b.example.com'] }, underscored],
    ['the name, asked for with a trailing dot', { dns: ['receiver.example.com'] }, 'https://receiver.example.com./'],
    ['the address of a literal host', { ip: [publicAddress] }, literal],
  ])('that names %s in its SAN is accepted', async (_case, names, url) => {
    expect(await outcomeOf(say(ok), { url }, { names })).toMatchObject({ outcome: 'response', status: 200 });
  });

  // RFC 9525 section 2: the common name does not name hosts.
  it.each<[string, Names, string]>([
    ['a common name only', { commonName: 'receiver.example.com' }, request.url],
    ['a common name, and addresses', { commonName: 'receiver.example.com', ip: [publicAddress] }, request.url],
    ['a common name, another in its SAN', { commonName: 'receiver.example.com', dns: ['a.example.com'] }, request.url],
    ['another name', { dns: ['other.example.com'] }, request.url],
    ['the domain alone', { dns: ['example.com'] }, request.url],
    ['a wildcard for a part of the name', { dns: ['rec*.example.com', 'r*r.example.com'] }, request.url],
    ['names of another depth', { dns: ['*.com', '*.receiver.example.com'] }, request.url],
    ['names like one with an underscore', { dns: ['a-b.example.com', '-.example.com'] }, underscored],
    ['wildcards for a part of that', { dns: ['a*.example.com', 'a_*.example.com', '*b.example.com'] }, underscored],
    ['wildcards elsewhere', { dns: ['*.example.net', '*.com', 'x.*.example.com', '*.*.example.com'] }, underscored],
    ['wildcards for more than a label', { dns: ['*.example.com', '*.com'] }, 'https://a_b.c.example.com/'],
    ['wildcards for less than a domain', { dns: ['*.com'] }, 'https://a_b.com/'],
    ['a literal host as a name', { dns: [publicAddress] }, literal],
    ['a literal host as common name', { commonName: publicAddress }, literal],
    ['another address', { ip: [otherAddress] }, literal],
    ['the address, for a URL with a name', { ip: [publicAddress] }, request.url],
  ])('that has %s is a TLS failure, and no request is sent', async (_case, names, url) => {
    const { receiver, post } = await start(say(ok), { names });
    expect(await post({ ...request, url })).toMatchObject({
      outcome: 'tls',
      errorCode: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(receiver.requests).toHaveLength(0);
  });
});
