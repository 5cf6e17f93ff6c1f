import { randomBytes } from 'node:crypto';
import { Html } from './html.ts';

/**
 * Lets each form that a browser was shown act once. A reload, Back and a second click send the same form again. A request that comes
 * while the form acts gets the same answer. A later request gets none, because an answer may show a secret and is not kept. A form that
 * was refused has done nothing: it can be corrected and sent again.
 */
export function makeOnce<Answer>(isRefused: (answer: Answer) => boolean) {
  const sent = new Map<string, Promise<Answer> | undefined>();
  return { act };

  /** Acts for a form. Returns `undefined` where it has acted. @param mark - the value of {@link onceField}. */
  function act(mark: string, acting: () => Promise<Answer>): Promise<Answer | undefined> {
    if (!isMark.test(mark)) return acting(); // none of ours
    if (sent.has(mark)) return Promise.resolve(sent.get(mark));
    const acted = acting().finally(() => sent.set(mark, undefined));
    const answer = acted.then(said => {
      if (isRefused(said)) sent.delete(mark);
      return said;
    });
    sent.set(mark, answer);
    const [oldest] = sent.keys();
    if (sent.size > mostMarks && oldest !== undefined) sent.delete(oldest);
    return answer;
  }
}

/** The name of the field whose value no other form has. */
export const onceName = 'once';

/** Writes the field of a form that acts once. Browsers that keep what is typed would keep its value, too, were it not off. */
export function onceField(): Html {
  return new Html(
    `<input type="hidden" name="${onceName}" value="${randomBytes(12).toString('base64url')}" autocomplete="off">`,
  );
}

const isMark = /^[\w-]{1,16}$/;

const mostMarks = 1_000;
