import type { Bytes } from "./bytes.ts";
import { doubleOf } from "./numbers.ts";
import { notFloat, ReplyError } from "./reply.ts";

/**
 * A `long double` of C on x86: a fraction whose numerator has at most 64 bits beside factors of 2, and whose
 * denominator is a power of 2. "infinite" of either sign. INCRBYFLOAT and HINCRBYFLOAT calculate with these.
 */
export type LongDouble = { readonly numerator: bigint; readonly denominator: bigint } | "infinite";

const PRECISION = 64;
/** Longest text of a number, and most digits by which its exponent moves the point. */
const LONGEST = 5_120;
/** Digits behind the point of a result. */
const DIGITS = 17;

/** @throws {ReplyError} if it is not a number */
export function readLongDouble(text: Bytes, refused: () => ReplyError = notFloat): LongDouble {
  const value = text.length < LONGEST ? longDoubleOf(text) : undefined;
  if (value === undefined) throw refused();
  return value;
}

function longDoubleOf(text: Bytes): LongDouble | undefined {
  const [decimal, sign, whole = "", part = "", power = "0"] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  if (decimal === undefined || whole + part === "") {
    const value = doubleOf(text);
    if (value === undefined) return undefined;
    return Number.isFinite(value) ? fractionOf(value) : "infinite";
  }
  const digits = BigInt(whole + part) * (sign === "-" ? -1n : 1n);
  if (digits === 0n) return { numerator: 0n, denominator: 1n };
  const exponent = Number(power) - part.length;
  // Beyond the range of a long double.
  if (Math.abs(exponent) > LONGEST) return undefined;
  return exponent < 0
    ? rounded(digits, 10n ** BigInt(-exponent))
    : rounded(digits * 10n ** BigInt(exponent), 1n);
}

function fractionOf(value: number): LongDouble {
  let [scaled, denominator] = [value, 1n];
  while (!Number.isInteger(scaled)) [scaled, denominator] = [scaled * 2, denominator * 2n];
  return { numerator: BigInt(scaled), denominator };
}

/** @throws {ReplyError} if it is infinite */
export function sumOf(a: LongDouble, b: LongDouble): LongDouble {
  if (a === "infinite" || b === "infinite")
    throw new ReplyError("ERR increment would produce NaN or Infinity");
  return rounded(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);
}

/** The nearest number of 64 bits; of two, the even one. */
function rounded(numerator: bigint, denominator: bigint): LongDouble {
  if (numerator < 0n) {
    const positive = rounded(-numerator, denominator);
    return positive === "infinite" ? positive : { ...positive, numerator: -positive.numerator };
  }
  if (numerator === 0n) return { numerator, denominator: 1n };
  let shift = BigInt(numerator.toString(2).length - denominator.toString(2).length - PRECISION);
  const scaled = (by: bigint) => (by > 0n ? [numerator, denominator << by] : [numerator << -by, denominator]);
  let [top, bottom] = scaled(shift) as [bigint, bigint];
  if (top / bottom >= 1n << BigInt(PRECISION)) [top, bottom] = scaled(++shift) as [bigint, bigint];
  const mantissa = nearest(top, bottom);
  return shift > 0n
    ? { numerator: mantissa << shift, denominator: 1n }
    : { numerator: mantissa, denominator: 1n << -shift };
}

/** The integer nearest to a positive fraction; of two, the even one. */
function nearest(numerator: bigint, denominator: bigint): bigint {
  const below = numerator / denominator;
  const twice = 2n * (numerator % denominator);
  return twice > denominator || (twice === denominator && below % 2n === 1n) ? below + 1n : below;
}

/** As `%.17Lf` of C writes it, without zeros at the end. */
export function formatLongDouble(value: LongDouble): Bytes {
  if (value === "infinite") return "inf";
  const isNegative = value.numerator < 0n;
  const size = isNegative ? -value.numerator : value.numerator;
  const digits = String(nearest(size * 10n ** BigInt(DIGITS), value.denominator)).padStart(DIGITS + 1, "0");
  const text = `${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`.replace(/\.?0+$/, "");
  return isNegative && text !== "0" ? `-${text}` : text;
}
