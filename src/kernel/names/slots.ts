/** The slots of a queue that is divided: which slot an id, a dedup key or a group has. */

/** How many slots a queue has. */
export const SLOTS = 256;

/** Most shards of a queue. */
export const MAX_SHARDS = 62;

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A generated id that names its place with the last character. */
const WITH_PLACE = /^[0-9A-Za-z]{20}~([0-9A-Za-z])$/;

/** CRC-16 with the polynomial 0x1021, from 0, as in XMODEM and Redis Cluster. */
function crc16(text: string): number {
  let crc = 0;
  for (let i = 0; i < text.length; i++) {
    // Ids, keys and groups are ASCII.
    crc ^= text.charCodeAt(i) << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}

/**
 * What decides the slot of a text, as in Redis Cluster: its tag, if it has one, which is what is between the first
 * `{` and the next `}`, unless that is empty; else all of it.
 */
export function slotTextOf(text: string): string {
  const open = text.indexOf("{");
  const close = text.indexOf("}", open + 1);
  return open >= 0 && close > open + 1 ? text.slice(open + 1, close) : text;
}

/** The slot of a text: CRC-16 modulo 256 of what decides it. */
export function slotOf(text: string): number {
  return crc16(slotTextOf(text)) % SLOTS;
}

const tags = new Map<number, string>();

/** What a generated id ends with, so that it has a slot: the smallest number with that slot, in braces. */
export function tagOf(slot: number): string {
  let tag = tags.get(slot);
  for (let number = 0; tag === undefined; number++) {
    if (slotOf(String(number)) === slot) tag = `{${number}}`;
  }
  tags.set(slot, tag);
  return tag;
}

/** What a generated id ends with, so that it names its place. */
export function placeSuffix(place: number): string {
  return `~${digitOf(place)}`;
}

/** The place that a generated id names; undefined for an id that has a slot. */
export function namedPlace(id: string): number | undefined {
  const digit = WITH_PLACE.exec(id)?.[1];
  return digit === undefined ? undefined : placeOf(digit);
}

/** A place as one character of a map. */
export function digitOf(place: number): string {
  return DIGITS[place] as string;
}

/** The place of a character, or -1. */
export function placeOf(digit: string): number {
  return DIGITS.indexOf(digit);
}
