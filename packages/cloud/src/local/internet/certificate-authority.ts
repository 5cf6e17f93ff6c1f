import { createSecureContext, type SecureContext } from 'node:tls';
import { generate } from 'selfsigned';

/** A certificate authority that exists for one local run only. */
export interface CertificateAuthority {
  /** The certificate as PEM. Function processes trust it through NODE_EXTRA_CA_CERTS. */
  readonly certificate: string;
  /** Returns the certificate for that name, which is issued at its first use. */
  contextFor(name: string): Promise<SecureContext>;
}

/** Creates a certificate authority with fresh keys (P-256). */
export async function makeCertificateAuthority(): Promise<CertificateAuthority> {
  const authority = await generate([{ name: 'commonName', value: 'Local cloud' }], {
    ...elliptic,
    notBeforeDate: anHourAgo(),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const contexts = new Map<string, Promise<SecureContext>>();

  const issue = async (name: string): Promise<SecureContext> => {
    const leaf = await generate([{ name: 'commonName', value: name.slice(0, 64) }], {
      ...elliptic,
      notBeforeDate: anHourAgo(),
      ca: { key: authority.private, cert: authority.cert },
      extensions: [
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'keyUsage', digitalSignature: true, critical: true },
        { name: 'extKeyUsage', serverAuth: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
      ],
    });
    return createSecureContext({ key: leaf.private, cert: leaf.cert });
  };

  return {
    certificate: authority.cert,
    contextFor: name => {
      const known = contexts.get(name) ?? issue(name);
      contexts.set(name, known);
      return known;
    },
  };
}

const elliptic = { keyType: 'ec', algorithm: 'sha256' } as const;

/** Returns a start time for certificates that are also valid on a slightly slow clock. */
function anHourAgo(): Date {
  return new Date(Date.now() - 3_600_000);
}
