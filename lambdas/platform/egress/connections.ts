import { X509Certificate } from 'node:crypto';
import type { Agent } from 'node:https';
import { isIP, connect as netConnect } from 'node:net';
import { DEFAULT_CIPHERS, type PeerCertificate } from 'node:tls';
import { BudgetedAgent, type Connect } from './byte-budget.ts';

/** The network in which connections are opened. Only tests replace it. */
export interface Network {
  readonly connect?: Connect;
  /** The certificate authorities to trust instead of the Node.js defaults. */
  readonly ca?: string;
}

export type Connections = ReturnType<typeof makeConnections>;

/**
 * Creates the two connection pools. Agents key connections by account, address and name, so a connection is reused only after the SSRF guard
 * has allowed the same address again.
 */
export function makeConnections({ connect = netConnect, ca }: Network = {}) {
  const tlsOptions = {
    ...(ca !== undefined && { ca }),
    rejectUnauthorized: true,
    checkServerIdentity: checkAlternativeNames,
    ciphers: affordableCiphers,
  };
  return {
    /** Reuses connections for requests to the same address and name. */
    reusable: limitIdle(new BudgetedAgent({ ...tlsOptions, keepAlive: true, timeout: idleMs }, connect)),
    /** Opens a new connection for each request. */
    fresh: new BudgetedAgent({ ...tlsOptions, keepAlive: false }, connect),
  };
}

/** Returns up to 3 random addresses in random order. `random` returns a number in [0, 1). */
export function pickAddresses(addresses: readonly string[], random: () => number): readonly string[] {
  const remaining = [...addresses];
  const picked: string[] = [];
  while (picked.length < maximumAddresses && remaining.length > 0) {
    picked.push(...remaining.splice(Math.floor(random() * remaining.length), 1));
  }
  return picked;
}

/**
 * Rejects a certificate that does not match the host. Accepts only subject alternative names, and a wildcard only as a whole label (RFC 9525
 * sections 2 and 6.3). The default check of Node.js also accepts the common name and partial wildcards.
 */
function checkAlternativeNames(host: string, { raw }: PeerCertificate): Error | undefined {
  const certificate = new X509Certificate(raw);
  const isMatch = isIP(host) ? certificate.checkIP(host) : matchesHost(certificate, host.replace(/\.$/, ''));
  if (isMatch) return undefined;
  return Object.assign(new Error('The certificate does not match the host.'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
}

/**
 * Returns whether a certificate matches a host. In OpenSSL, a wildcard matches only letters, digits and hyphens. The function therefore also
 * checks a first label with an underscore as `-`, which only a wildcard can match.
 */
function matchesHost(certificate: X509Certificate, host: string): boolean {
  const match = (name: string) => certificate.checkHost(name, { subject: 'never', partialWildcards: false });
  return match(host) !== undefined || match(host.replace(/^[^.]*_[^.]*/, '-'))?.startsWith('*.') === true;
}

/**
 * The default ciphers of Node.js without finite-field Diffie-Hellman. The receiver would choose the group, and a 10,000-bit group takes
 * almost 1 s of CPU time before the certificate is checked.
 */
const affordableCiphers = `${DEFAULT_CIPHERS}:!kDHE`;

/** Limits the idle connections of an agent. If there are too many, closes one of those that have been idle longest. */
function limitIdle(agent: Agent): Agent {
  return agent.on('free', () => {
    const idle = Object.values(agent.freeSockets).flatMap(sockets => sockets ?? []);
    if (idle.length > maximumIdle) idle[0]?.destroy();
  });
}

/**
 * The lifetime of an idle connection in milliseconds. With an event every 5 s, 87 % of attempts reuse a connection, which halves their cost.
 * With a lifetime of 1 s, 14 % do. A lifetime of 1 min is no better than 20 s. If the receiver closed a connection while Lambda had frozen
 * the process, the next attempt opens a new connection.
 */
const idleMs = 20_000;

/**
 * The maximum number of idle connections per process. Lambda allows 1,024 file descriptors. 300 attempts use one each, or two while they
 * resolve a name over TCP. The clients of three AWS services have pools of 50, and the runtime uses about 30.
 */
const maximumIdle = 200;

/** The maximum number of addresses that one attempt tries. */
const maximumAddresses = 3;
