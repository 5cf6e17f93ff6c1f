import { validationError } from './errors.ts';

/**
 * Returns the one way in which DynamoDB writes a number: decimal digits without an exponent, a sign or zeros that say nothing.
 *
 * @throws ValidationException for what is no number, has over 38 significant digits, or lies outside of 1E-130 to 9.99…E+125.
 */
export function canonicalNumber(text: string): string {
  return shortInteger.test(text) ? text : textOf(parseDecimal(text));
}

/** Returns the exact sum of two numbers in canonical form. @throws ValidationException where no number of DynamoDB is the sum. */
export function addNumbers(one: string, other: string): string {
  if (shortInteger.test(one) && shortInteger.test(other)) return String(Number(one) + Number(other));
  const [left, right] = [parseDecimal(one), parseDecimal(other)];
  const exponent = Math.min(left.exponent, right.exponent);
  return textOf(checked({ digits: scaled(left, exponent) + scaled(right, exponent), exponent }));
}

/** Returns the exact difference of two numbers in canonical form. @throws ValidationException as for a sum. */
export function subtractNumbers(one: string, other: string): string {
  return addNumbers(one, negated(other));
}

/** Compares two numbers in canonical form: negative, zero or positive. */
export function compareNumbers(one: string, other: string): number {
  // A double keeps the order of numbers of 15 digits.
  if (one.length <= 15 && other.length <= 15) return Number(one) - Number(other);
  if (one === other) return 0;
  const [left, right] = [parseDecimal(one), parseDecimal(other)];
  const exponent = Math.min(left.exponent, right.exponent);
  return scaled(left, exponent) < scaled(right, exponent) ? -1 : 1;
}

/** Returns a text for a number in canonical form. Such texts stand in the order of their numbers. */
export function sortableNumber(number: string): string {
  const { digits, exponent } = parseDecimal(number);
  if (digits === 0n) return '1';
  const isNegative = digits < 0n;
  const written = (isNegative ? -digits : digits).toString();
  const power = exponent + written.length - 1 - lowestPower;
  const text = `${power.toString().padStart(3, '0')}${written}`;
  if (!isNegative) return `2${text}`;
  return `0${text.replace(/./g, digit => String(9 - Number(digit)))}:`; // what is longer is less: it ends later than a colon
}

/** Returns how many digits of a number in canonical form are significant. */
export function significantDigits(text: string): number {
  return text.replace(/^-?0?\.?0*|\./g, '').replace(/0+$/, '').length;
}

/** `digits` times ten to the power of `exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** What a double adds exactly, and is canonical. */
const shortInteger = /^(?:0|-?[1-9]\d{0,14})$/;

const mostDigits = 38;
const highestPower = 125;
const lowestPower = -130;

function parseDecimal(text: string): Decimal {
  const [, sign, whole = '', fraction = '', power = '0'] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/.exec(text) ?? [];
  if (whole + fraction === '') {
    throw validationError(`The parameter cannot be converted to a numeric value: ${text}`);
  }
  const digits = BigInt(whole + fraction);
  return checked({ digits: sign === '-' ? -digits : digits, exponent: Number(power) - fraction.length });
}

/** Returns the same number without zeros at its end. */
function checked({ digits, exponent }: Decimal): Decimal {
  if (digits === 0n) return { digits, exponent: 0 };
  const written = digits.toString();
  const significant = withoutZerosAtEnd(written);
  const least = exponent + written.length - significant.length;
  const length = significant.replace('-', '').length;
  const power = least + length - 1; // of the first digit
  if (power > highestPower) {
    throw validationError('Number overflow. Attempting to store a number with magnitude larger than supported range');
  }
  if (power < lowestPower) {
    throw validationError('Number underflow. Attempting to store a number with magnitude smaller than supported range');
  }
  if (length > mostDigits) {
    throw validationError('Attempting to store more than 38 significant digits in a Number');
  }
  return { digits: BigInt(significant), exponent: least };
}

function withoutZerosAtEnd(digits: string): string {
  let end = digits.length;
  while (digits.charAt(end - 1) === '0') end -= 1;
  return digits.slice(0, end);
}

function textOf({ digits, exponent }: Decimal): string {
  const sign = digits < 0n ? '-' : '';
  const written = digits.toString().slice(sign.length);
  if (exponent >= 0) return digits === 0n ? '0' : `${sign}${written}${'0'.repeat(exponent)}`;
  const padded = written.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}

function negated(number: string): string {
  if (number === '0') return number;
  return number.startsWith('-') ? number.slice(1) : `-${number}`;
}
