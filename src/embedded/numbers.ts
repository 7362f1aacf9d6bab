import type { Bytes } from "./bytes.ts";
import { notFloat, notInteger, ReplyError } from "./reply.ts";

const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);

/** An integer of 64 bits: a number up to 2^53, a bigint beyond. */
export type Integer = number | bigint;

/** The integer that a text is, in the only form that Redis accepts: no sign +, no leading zero, no space. */
export function integerOf(text: Bytes): Integer | undefined {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : bounded(BigInt(text));
}

/** @throws {ReplyError} if it is not an integer */
export function readInteger(text: Bytes, refused: () => ReplyError = notInteger): Integer {
  const integer = integerOf(text);
  if (integer === undefined) throw refused();
  return integer;
}

/** An index or a count: an integer whose exact value does not matter beyond 2^53. */
export const readIndex = (text: Bytes, refused?: () => ReplyError): number =>
  Number(readInteger(text, refused));

/** The sum; undefined if it has more than 64 bits. */
export function add(a: Integer, b: Integer): Integer | undefined {
  const sum = Number(a) + Number(b);
  if (Number.isSafeInteger(sum) && typeof a === "number" && typeof b === "number") return sum;
  return bounded(BigInt(a) + BigInt(b));
}

function bounded(value: bigint): Integer | undefined {
  if (value > LARGEST || value < SMALLEST) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const hexadecimal = /^([+-]?)0x([\da-f]*)\.?([\da-f]*)(?:p([+-]?\d+))?$/i;
const infinite = /^([+-]?)inf(?:inity)?$/i;

/** The number that a text is for C's `strtod`; undefined if it is none, or is followed by other text. */
export function doubleOf(text: Bytes): number | undefined {
  if (decimal.test(text)) return Number(text);
  const [endless, sign] = infinite.exec(text) ?? [];
  if (endless !== undefined) return sign === "-" ? -Infinity : Infinity;
  const [hex, minus, whole = "", part = "", power = "0"] = hexadecimal.exec(text) ?? [];
  if (hex === undefined || whole + part === "") return undefined;
  const value = Number(`0x${whole}${part}`) * 2 ** (Number(power) - 4 * part.length);
  return minus === "-" ? -value : value;
}

/**
 * A score or an increment.
 * @throws {ReplyError} if it is not a number, or is outside the range of a double
 */
export function readDouble(text: Bytes): number {
  const value = doubleOf(text);
  if (value === undefined) throw notFloat();
  if (!Number.isFinite(value) && !/inf/i.test(text)) throw notFloat();
  // Too small for a double, and not 0 as written.
  if (value === 0 && decimal.test(text) && /[1-9]/.test(text.replace(/e.*$/i, ""))) throw notFloat();
  return value;
}

/** A number as C's `printf("%.17g")` writes it, which is how Redis replies scores. */
export function formatDouble(value: number): Bytes {
  if (Number.isInteger(value) && Math.abs(value) < 1e17) return Object.is(value, -0) ? "-0" : String(value);
  if (!Number.isFinite(value)) return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
  const [mantissa = "", power = "0"] = value.toExponential(16).split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 17) {
    const digits = String(Math.abs(exponent)).padStart(2, "0");
    return `${withoutZeros(mantissa)}e${exponent < 0 ? "-" : "+"}${digits}`;
  }
  return withoutZeros(value.toFixed(16 - exponent));
}

const withoutZeros = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
