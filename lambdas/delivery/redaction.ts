const mask = '***';

/** A secret's beginning at the end of a text is masked from this many characters on: shorter ones are coincidences. */
const shortestRemnant = 4;

/** As a JSON string would hold the text: receivers that echo their headers do so in JSON. */
const asJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Masks a secret that the end of the text cuts through. */
const withoutRemnant = (text: string, secret: string): string => {
  for (let length = Math.min(secret.length - 1, text.length); length >= shortestRemnant; length--) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}${mask}`;
  }
  return text;
};

/**
 * Makes the function that removes the credential we sent from what the receiver answered: every occurrence of the
 * `Authorization` value and of its credential part (what follows the scheme), also one that the text's end cuts off.
 */
export const makeRedaction = (authorization: string | undefined): ((text: string) => string) => {
  if (!authorization) return text => text;
  const credential = authorization.slice(authorization.indexOf(' ') + 1);
  const secrets = [...new Set([authorization, asJson(authorization), credential, asJson(credential)])];
  return text => {
    const whole = secrets.reduce((rest, secret) => rest.replaceAll(secret, mask), text);
    return secrets.reduce(withoutRemnant, whole);
  };
};
