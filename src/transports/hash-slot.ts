import type { Command } from "../kernel/transport.ts";

/** Commands without keys. Of all others the key is the first argument, or the second of those below. */
const KEYLESS = new Set(
  "ACL CLIENT CLUSTER COMMAND CONFIG DBSIZE ECHO FLUSHALL FLUSHDB INFO KEYS LASTSAVE LATENCY PING PUBLISH RANDOMKEY ROLE SCAN SCRIPT SLOWLOG TIME WAIT".split(
    " ",
  ),
);
const KEY_IS_SECOND = new Set(["MEMORY", "OBJECT", "XINFO"]);

/** The hash slot of a command's first key; undefined if it has none. */
export function slotOf(command: Command): number | undefined {
  const key = "script" in command ? command.keys[0] : keyOf(command);
  return key === undefined ? undefined : hashSlot(key);
}

function keyOf([name, ...args]: readonly [string, ...string[]]): string | undefined {
  const word = name.toUpperCase();
  if (KEYLESS.has(word)) return undefined;
  if (/^(?:EVAL|EVALSHA|FCALL)(?:_RO)?$/.test(word)) return Number(args[1]) > 0 ? args[2] : undefined;
  return args[KEY_IS_SECOND.has(word) ? 1 : 0];
}

/** The slot of a key, 0 to 16,383: the CRC-16 of its hash tag, or of all of it if it has none. */
export function hashSlot(key: string): number {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open);
  return crc16(close > open + 1 ? key.slice(open + 1, close) : key) % 16_384;
}

const encoder = new TextEncoder();

/** CRC-16 with the polynomial 0x1021, as XMODEM uses it. */
function crc16(text: string): number {
  let crc = 0;
  for (const byte of encoder.encode(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc;
}
