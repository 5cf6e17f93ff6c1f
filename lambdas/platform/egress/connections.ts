import { X509Certificate } from 'node:crypto';
import type { Agent } from 'node:https';
import { isIP, connect as netConnect } from 'node:net';
import { DEFAULT_CIPHERS, type PeerCertificate } from 'node:tls';
import { BudgetedAgent, type Connect } from './byte-budget.ts';

/** The network to open connections in. Only tests replace it. */
export interface Network {
  readonly connect?: Connect;
  /** Certificate authorities to trust instead of Node's. */
  readonly ca?: string;
}

export type Connections = ReturnType<typeof makeConnections>;

/**
 * Creates both pools. Agents key connections by account, address *and* name, so a kept connection is reused only after the SSRF
 * guard has allowed the same address again.
 */
export function makeConnections({ connect = netConnect, ca }: Network = {}) {
  const secure = {
    ...(ca !== undefined && { ca }),
    rejectUnauthorized: true,
    checkServerIdentity: checkAlternativeNames,
    ciphers: affordableCiphers,
  };
  return {
    /** Keeps connections alive for the next request to the same address and name. */
    kept: limitIdle(new BudgetedAgent({ ...secure, keepAlive: true, timeout: idleMs }, connect)),
    /** Opens a connection for one request. */
    fresh: new BudgetedAgent({ ...secure, keepAlive: false }, connect),
  };
}

/** Returns up to 3 random addresses, in the order to try them. `random` draws from [0, 1). */
export function pickAddresses(addresses: readonly string[], random: () => number): readonly string[] {
  const left = [...addresses];
  const picked: string[] = [];
  while (picked.length < maximumAddresses && left.length > 0) {
    picked.push(...left.splice(Math.floor(random() * left.length), 1));
  }
  return picked;
}

/**
 * Rejects a certificate that does not name the host. It accepts only subject alternative names, and a wildcard only as a whole label
 * (RFC 9525 sections 2 and 6.3). Node's own check also accepts the common name and partial wildcards.
 */
function checkAlternativeNames(host: string, { raw }: PeerCertificate): Error | undefined {
  const certificate = new X509Certificate(raw);
  const isNamed = isIP(host) ? certificate.checkIP(host) : namesHost(certificate, host.replace(/\.$/, ''));
  if (isNamed) return undefined;
  return Object.assign(new Error('The certificate does not name the host.'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
}

/**
 * Returns whether a certificate names a host. In OpenSSL, a wildcard matches only letters, digits and hyphens. A first label with
 * an underscore is therefore also checked as `-`, which only a wildcard can match.
 */
function namesHost(certificate: X509Certificate, host: string): boolean {
  const match = (name: string) => certificate.checkHost(name, { subject: 'never', partialWildcards: false });
  return match(host) !== undefined || match(host.replace(/^[^.]*_[^.]*/, '-'))?.startsWith('*.') === true;
}

/**
 * Node's default ciphers without finite-field Diffie-Hellman. The receiver would choose its group, and a 10,000-bit group costs us almost
 * 1 s of processor time before any certificate is checked.
 */
const affordableCiphers = `${DEFAULT_CIPHERS}:!kDHE`;

/** Closes one of the longest-idle connections if there are too many. */
function limitIdle(agent: Agent): Agent {
  return agent.on('free', () => {
    const idle = Object.values(agent.freeSockets).flatMap(sockets => sockets ?? []);
    if (idle.length > maximumIdle) idle[0]?.destroy();
  });
}

/**
 * Lifetime of an idle connection in milliseconds. With an event every 5 s, 87 % of attempts reuse a connection, which halves their cost. A
 * lifetime of 1 s achieves 14 %, and 1 minute achieves no more than 20 s. A connection that the receiver closed while Lambda had frozen
 * the process is replaced silently.
 */
const idleMs = 20_000;

/**
 * Maximum number of idle connections per process. Lambda allows 1,024 file descriptors: 300 attempts use one each, or two while they
 * resolve a name over TCP; the clients of three AWS services have pools of 50; the runtime uses about 30.
 */
const maximumIdle = 200;

/** Maximum number of addresses that one attempt tries. */
const maximumAddresses = 3;
