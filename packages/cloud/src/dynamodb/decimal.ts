import { validationError } from './refusals.ts';

/**
 * Returns the one way in which DynamoDB writes a number: decimal digits without an exponent, a sign or zeros that say nothing.
 *
 * @throws {ServiceError} for what is no number, has over 38 significant digits, or lies outside of 1E-130 to 9.99…E+125.
 */
export function canonicalNumber(text: string): string {
  return shortInteger.test(text) ? text : written(parse(text));
}

/** Returns the exact sum of two numbers in canonical form, or their difference. @throws {ServiceError} where DynamoDB cannot hold it. */
export function addNumbers(one: string, other: string, sign: '+' | '-' = '+'): string {
  const [left, right] = [parse(one), parse(other)];
  const exponent = Math.min(left.exponent, right.exponent);
  const [first, second] = [left, right].map(each => each.digits * 10n ** BigInt(each.exponent - exponent));
  const added = sign === '+' ? second : -(second ?? 0n);
  return written({ digits: (first ?? 0n) + (added ?? 0n), exponent });
}

/** Returns a text for a number in canonical form. Such texts stand in the order of their numbers. */
export function sortableNumber(number: string): string {
  const { sign, digits, power } = partsOf(parse(number));
  if (digits === '') return '1';
  const text = `${String(power - lowestPower).padStart(3, '0')}${digits}`;
  if (sign === '') return `2${text}`;
  return `0${text.replace(/./g, digit => String(9 - Number(digit)))}:`; // what is longer is less: it ends later than a colon
}

/** Returns the bytes that a number in canonical form takes: one for two digits, one for the exponent, one for a minus. */
export function numberSize(number: string): number {
  const digits = number.replace(/[-.]/g, '').replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + (number.startsWith('-') ? 2 : 1);
}

/** `digits` times ten to the power of `exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

const shortInteger = /^(?:0|-?[1-9]\d{0,14})$/;

function parse(text: string): Decimal {
  const [, sign, whole = '', fraction = '', power = '0'] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/.exec(text) ?? [];
  if (whole + fraction === '') {
    throw validationError(`The parameter cannot be converted to a numeric value: ${text}`);
  }
  const digits = BigInt(whole + fraction);
  return { digits: sign === '-' ? -digits : digits, exponent: Number(power) - fraction.length };
}

/** Returns the significant digits of a number, none for zero, and the power of ten of the first. */
function partsOf({ digits, exponent }: Decimal) {
  const sign = digits < 0n ? '-' : '';
  const all = String(digits).slice(sign.length);
  return { sign, digits: all.replace(/0+$/, ''), power: exponent + all.length - 1 };
}

function written(decimal: Decimal): string {
  const { sign, digits, power } = partsOf(decimal);
  if (digits === '') return '0';
  if (power > highestPower) throw validationError('Number overflow: its magnitude is larger than the supported range');
  if (power < lowestPower) throw validationError('Number underflow: its magnitude is smaller than the supported range');
  if (digits.length > mostDigits) throw validationError('More than 38 significant digits in a Number');
  if (power < 0) return `${sign}0.${'0'.repeat(-1 - power)}${digits}`;
  const whole = digits.slice(0, power + 1).padEnd(power + 1, '0');
  return `${sign}${whole}${digits.length > whole.length ? '.' : ''}${digits.slice(whole.length)}`;
}

const mostDigits = 38;
const highestPower = 125;
const lowestPower = -130;
