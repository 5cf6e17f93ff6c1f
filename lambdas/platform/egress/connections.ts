import { X509Certificate } from 'node:crypto';
import type { Agent } from 'node:https';
import { isIP, connect as netConnect } from 'node:net';
import { DEFAULT_CIPHERS, type PeerCertificate } from 'node:tls';
import { BudgetedAgent, type Connect } from './byte-budget.ts';

/** The network that connections are opened in; the machine's own unless a test says otherwise. */
export interface Network {
  readonly connect?: Connect;
  /** Certificate authorities to trust in place of Node's. */
  readonly ca?: string;
}

export type Connections = ReturnType<typeof makeConnections>;

/**
 * Makes both pools. Agents key their connections by account, address *and* name, so a kept one is reused only when the SSRF guard
 * has just allowed the same address again.
 */
export function makeConnections({ connect = netConnect, ca }: Network = {}) {
  const secure = {
    ...(ca !== undefined && { ca }),
    rejectUnauthorized: true,
    checkServerIdentity: checkAlternativeNames,
    ciphers: affordableCiphers,
  };
  return {
    /** Keeps connections for a while, for the next request to the same address under the same name. */
    kept: limitIdle(new BudgetedAgent({ ...secure, keepAlive: true, timeout: idleMs }, connect)),
    /** Opens a connection for one request. */
    fresh: new BudgetedAgent({ ...secure, keepAlive: false }, connect),
  };
}

/** Picks up to three addresses at random, in the order to try them in. `random` draws from [0, 1). */
export function pickAddresses(addresses: readonly string[], random: () => number): readonly string[] {
  const left = [...addresses];
  const picked: string[] = [];
  while (picked.length < maximumAddresses && left.length > 0) {
    picked.push(...left.splice(Math.floor(random() * left.length), 1));
  }
  return picked;
}

/**
 * Refuses a certificate that does not name the host. Only subject alternative names count, and a wildcard only as a whole label
 * (RFC 9525 sections 2 and 6.3). Node's own check also takes the common name, and wildcards within a label.
 */
function checkAlternativeNames(host: string, { raw }: PeerCertificate): Error | undefined {
  const certificate = new X509Certificate(raw);
  const isNamed = isIP(host) ? certificate.checkIP(host) : namesHost(certificate, host.replace(/\.$/, ''));
  if (isNamed) return undefined;
  return Object.assign(new Error('The certificate does not name the host.'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
}

/**
 * Returns whether a certificate names a host. OpenSSL lets a wildcard stand for letters, digits and hyphens alone. So a first label
 * with an underscore is also looked for as `-`, which no authority certifies, and then only a wildcard counts.
 */
function namesHost(certificate: X509Certificate, host: string): boolean {
  const match = (name: string) => certificate.checkHost(name, { subject: 'never', partialWildcards: false });
  return match(host) !== undefined || match(host.replace(/^[^.]*_[^.]*/, '-'))?.startsWith('*.') === true;
}

/**
 * Node's default without finite-field Diffie-Hellman: there the receiver chooses the group, and a group of ten thousand bits
 * costs us most of a second of processor time before any certificate is checked.
 */
const affordableCiphers = `${DEFAULT_CIPHERS}:!kDHE`;

/** Closes the connection that has been idle about longest, when there are too many. */
function limitIdle(agent: Agent): Agent {
  return agent.on('free', () => {
    const idle = Object.values(agent.freeSockets).flatMap(sockets => sockets ?? []);
    if (idle.length > maximumIdle) idle[0]?.destroy();
  });
}

/**
 * The time that an idle connection is kept, in milliseconds. At an event every five seconds 87 % of attempts reuse one, which
 * halves their cost; with 1 s it is 14 %, and a minute brings no more. A connection that the receiver closed while Lambda
 * had frozen the process is replaced silently.
 */
const idleMs = 20_000;

/**
 * The most idle connections of a process. Lambda allows it 1,024 file descriptors: 300 attempts take one each, or two while a name
 * is resolved by TCP; the clients of three AWS services have pools of 50; the runtime itself has about 30.
 */
const maximumIdle = 200;

/** The most addresses that one attempt tries. */
const maximumAddresses = 3;
