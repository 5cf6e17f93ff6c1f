import { constants, X509Certificate } from 'node:crypto';
import { Agent, type AgentOptions } from 'node:https';
import { isIP } from 'node:net';
import { DEFAULT_CIPHERS, type PeerCertificate } from 'node:tls';

/** Makes a pool of connections; `https.Agent` unless a test says otherwise. */
export type MakeAgent = (options: AgentOptions) => Agent;

/** Where connections come from. */
export interface Connections {
  /** Connections that are kept for a moment, for the next exchange with the same address under the same name. */
  readonly kept: Agent;
  /** Connections for one exchange. */
  readonly fresh: Agent;
}

/**
 * Makes both pools. Agents key their connections on address *and* name, so a kept one is only used again when the same
 * address has just been judged again.
 */
export function makeConnections(makeAgent: MakeAgent = options => new Agent(options)): Connections {
  const secure = {
    rejectUnauthorized: true,
    checkServerIdentity: checkAlternativeNames,
    ciphers: cheapCiphers,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION, // a receiver may ask thousands of times a second
  };
  return {
    kept: makeAgent({ ...secure, keepAlive: true, timeout: idleMs }),
    fresh: makeAgent({ ...secure, keepAlive: false }),
  };
}

/** Draws the addresses to try, in the order to try them in. */
export function drawAddresses(addresses: readonly string[], random: () => number): readonly string[] {
  const left = [...addresses];
  const drawn: string[] = [];
  while (drawn.length < mostAddresses && left.length > 0) {
    drawn.push(...left.splice(Math.floor(random() * left.length), 1));
  }
  return drawn;
}

/**
 * Node's own choice without finite-field Diffie-Hellman: the receiver chooses its group, and one of ten thousand bits costs
 * us most of a second of processor time, before any certificate is looked at.
 */
const cheapCiphers = `${DEFAULT_CIPHERS}:!kDHE`;

/**
 * How long an idle connection is kept, in milliseconds. Lambda freezes functions between invocations, and a connection
 * that slept through one is closed at the other end more often than not.
 */
const idleMs = 1_000;

/** The most addresses that an attempt tries. */
const mostAddresses = 3;

/**
 * Whether a certificate names the host, by its subject alternative names only, with a wildcard as a whole label or not at all
 * (RFC 9525 sections 2 and 6.3). Node's own check takes the common name too, and wildcards within a label.
 */
function checkAlternativeNames(host: string, { raw }: PeerCertificate): Error | undefined {
  const certificate = new X509Certificate(raw);
  const isNamed = isIP(host)
    ? certificate.checkIP(host)
    : certificate.checkHost(host.replace(/\.$/, ''), { subject: 'never', partialWildcards: false });
  if (isNamed) return undefined;
  return Object.assign(new Error('The certificate does not name the host.'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
}
