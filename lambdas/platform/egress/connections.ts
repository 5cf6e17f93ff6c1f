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
    kept: limitIdle(makeAgent({ ...secure, keepAlive: true, timeout: idleMs })),
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

/**
 * Node's own choice without finite-field Diffie-Hellman: the receiver chooses its group, and one of ten thousand bits costs
 * us most of a second of processor time, before any certificate is looked at.
 */
const cheapCiphers = `${DEFAULT_CIPHERS}:!kDHE`;

/** Closes the connection that has been idle for longest, or nearly so, where there are too many. */
function limitIdle(agent: Agent): Agent {
  return agent.on('free', () => {
    const idle = Object.values(agent.freeSockets).flatMap(sockets => sockets ?? []);
    if (idle.length > mostIdle) idle[0]?.destroy();
  });
}

/**
 * How long an idle connection is kept, in milliseconds. At an event every five seconds 87 % of attempts find one then, and
 * cost half of what a handshake makes them cost; of 1 s it is 14 %, and a minute brings no more. One that was closed at the
 * other end, while Lambda had frozen the process, is replaced silently.
 */
const idleMs = 20_000;

/** Idle connections that a process keeps: Lambda gives it a thousand files, and as many hosts may have been called. */
const mostIdle = 256;

/** The most addresses that an attempt tries. */
const mostAddresses = 3;
