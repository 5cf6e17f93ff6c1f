import type { Redact } from '../platform/egress/guarded-post.ts';

const mask = '***';

/** A secret's beginning at the end of a text is masked from this many characters on: shorter ones are coincidences. */
const shortestRemnant = 4;

/** A character as a JSON string may hold it, in any of the ways encoders have: receivers echo headers in JSON. */
const inJson = (character: string): string => {
  const plain = RegExp.escape(character);
  const escaped = /["\\/]/.test(character) ? `|\\\\${plain}` : '';
  return `(?:${plain}${escaped}|\\\\u${character.charCodeAt(0).toString(16).padStart(4, '0')})`;
};

/** Finds a secret wherever it stands, plain or in JSON. */
const anywhere = (secret: string): RegExp => new RegExp([...secret].map(inJson).join(''), 'gi');

/** Masks a secret that the end of the text cuts through. */
const withoutRemnant = (text: string, secret: string): string => {
  for (let length = Math.min(secret.length - 1, text.length); length >= shortestRemnant; length--) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}${mask}`;
  }
  return text;
};

/**
 * Makes the function that removes the credential we sent from what the receiver answered: every occurrence of the
 * `Authorization` value and of its credential part (what follows the scheme), and what of one is left where the text
 * was cut.
 */
export const makeRedaction = (authorization: string | undefined): Redact => {
  if (!authorization) return text => text;
  const credential = authorization.replace(/^\S+ +/, '');
  const secrets = [...new Set([authorization, credential])];
  const patterns = secrets.map(anywhere);
  return (text, isCut) => {
    const whole = patterns.reduce((rest, pattern) => rest.replaceAll(pattern, mask), text);
    return isCut ? secrets.reduce(withoutRemnant, whole) : whole;
  };
};
