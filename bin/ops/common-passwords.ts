/**
 * Whether a password is one of the most common ones, whatever its letters' case, or one of them over and over: lengthened
 * so, `123456` is no better than before. The list is that of zxcvbn-ts, which is kept up; it is loaded when it is needed
 * and never bundled into a function.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const common = new Set<unknown>(dictionary['passwords-common']);
  const text = password.normalize('NFC').toLowerCase();
  return common.has(text) || repeatedUnits(text).some(unit => unit.length <= shortUnit || common.has(unit));
}

/** The beginnings of a text that make up all of it when they are repeated, the last time perhaps in part. */
function repeatedUnits(text: string): string[] {
  return Array.from({ length: Math.max(text.length - 1, 0) }, (_, last) => text.slice(0, last + 1)).filter(
    unit => unit.repeat(Math.ceil(text.length / unit.length)).slice(0, text.length) === text,
  );
}

/** Whatever so few characters repeat is easily guessed, listed or not. */
const shortUnit = 3;
