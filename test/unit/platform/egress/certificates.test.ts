import { describe, expect, it } from 'vitest';
import { ok, otherAddress, outcomeOf, publicAddress, request, say, start } from './posting.ts';
import type { Names } from './tls-receiver.ts';

const literal = `https://${publicAddress}/`;
const underscored = 'https://a_b.example.com/';

// By RFC 9525, a certificate must contain the host in its SAN. `failure-causes.test.ts` tests untrusted and expired certificates.
describe('a certificate', () => {
  it.each<[string, Names, string]>([
    ['only the name', { dns: ['receiver.example.com'] }, request.url],
    ['the name among others', { dns: ['a.example.com', 'receiver.example.com'] }, request.url],
    ['the name in capital letters', { dns: ['Receiver.Example.COM'] }, request.url],
    ['a wildcard for the domain', { dns: ['*.example.com'] }, request.url],
    // OpenSSL does not match an underscore with a wildcard, but certificates for such names are always wildcards.
    ['a wildcard for a name with an underscore', { dns: ['a-b.example.com', '*.example.com'] }, underscored],
    ['a name with an underscore', { dns: ['a_b.example.com'] }, underscored],
    ['the name, without a trailing dot', { dns: ['receiver.example.com'] }, 'https://receiver.example.com./'],
    ['the address of an IP literal', { ip: [publicAddress] }, literal],
  ])('with %s in its SAN is accepted', async (_case, names, url) => {
    expect(await outcomeOf(say(ok), { url }, { names })).toMatchObject({ outcome: 'response', status: 200 });
  });

  // By RFC 9525 section 2, the common name does not identify the host.
  it.each<[string, Names, string]>([
    ['only a common name', { commonName: 'receiver.example.com' }, request.url],
    ['a common name and addresses', { commonName: 'receiver.example.com', ip: [publicAddress] }, request.url],
    ['a common name, another in the SAN', { commonName: 'receiver.example.com', dns: ['a.example.com'] }, request.url],
    ['another name', { dns: ['other.example.com'] }, request.url],
    ['only the domain', { dns: ['example.com'] }, request.url],
    ['a wildcard for a part of a label', { dns: ['rec*.example.com', 'r*r.example.com'] }, request.url],
    ['wildcards at another level', { dns: ['*.com', '*.receiver.example.com'] }, request.url],
    ['names that resemble a name with an underscore', { dns: ['a-b.example.com', '-.example.com'] }, underscored],
    ['partial wildcards', { dns: ['a*.example.com', 'a_*.example.com', '*b.example.com'] }, underscored],
    ['other wildcards', { dns: ['*.example.net', '*.com', 'x.*.example.com', '*.*.example.com'] }, underscored],
    ['wildcards for more than one label', { dns: ['*.example.com', '*.com'] }, 'https://a_b.c.example.com/'],
    ['a wildcard for a top-level domain', { dns: ['*.com'] }, 'https://a_b.com/'],
    ['an IP literal as a DNS name', { dns: [publicAddress] }, literal],
    ['an IP literal as the common name', { commonName: publicAddress }, literal],
    ['another address', { ip: [otherAddress] }, literal],
    ['only the address, for a URL with a name', { ip: [publicAddress] }, request.url],
  ])('with %s causes a TLS failure, and no request is sent', async (_case, names, url) => {
    const { receiver, post } = await start(say(ok), { names });
    expect(await post({ ...request, url })).toMatchObject({
      outcome: 'tls',
      errorCode: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(receiver.requests).toHaveLength(0);
  });
});
