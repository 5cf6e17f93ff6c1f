import type { Assertion } from './find-assertions.ts';

/** An assertion of the product. */
export interface Place extends Assertion {
  readonly room: string;
  readonly file: string;
}

/** What is wrong, and what is better than it has to be. */
export interface Judgement {
  readonly failures: readonly string[];
  readonly remarks: readonly string[];
}

/** Compares the product's assertions with the most that each room may have, of all kinds together. */
export function judge(places: readonly Place[], most: Readonly<Record<string, number>>): Judgement {
  const rooms = [...new Set([...Object.keys(most), ...places.map(({ room }) => room)])];
  const counts = rooms.map(name => ({
    name,
    limit: most[name] ?? 0,
    count: places.filter(({ room }) => room === name).length,
  }));
  const tooMany = counts.filter(({ count, limit }) => count > limit);
  const fewer = counts.filter(({ count, limit }) => count < limit);
  const byUnknown = places.filter(({ kind }) => kind === 'as unknown as');
  const withoutReason = byUnknown.filter(({ reason }) => reason === '');
  return {
    failures: [
      ...tooMany.map(({ name, count, limit }) => `${name} asserts ${count} times. most.json allows ${limit}.`),
      ...(byUnknown.length > mostByUnknown
        ? [`"as unknown as" ${byUnknown.length} times. ${mostByUnknown} may be.`]
        : []),
      ...withoutReason.map(
        ({ file, line }) => `${file}:${line}: "as unknown as" without its reason in a // comment above.`,
      ),
    ],
    remarks: fewer.map(({ name, count, limit }) => `${name} asserts ${count} times. Lower its ${limit} in most.json.`),
  };
}

/** In all the product. */
const mostByUnknown = 8;
