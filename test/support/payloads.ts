let deep: unknown = "bottom";
for (let i = 0; i < 500; i++) deep = i % 2 ? [deep] : { down: deep };

const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i);
const mebibyte = Uint8Array.from({ length: 1_048_576 }, (_, i) => (i * 31) % 256);

/** Payloads that some queue or client is known to lose, change or parse. */
export const awkwardPayloads: [name: string, payload: unknown][] = [
  ["zero", 0],
  ["minus half", -0.5],
  ["a large number", 9_007_199_254_740_991],
  ["true", true],
  ["false", false],
  ["null", null],
  ["empty text", ""],
  ["text 42", "42"],
  ["text 007", "007"],
  ["text null", "null"],
  ["text of JSON", '{"a":[1,"\\n"]}'],
  ["empty array", []],
  ["empty object", {}],
  ["array of empties", [null, "", 0, [], {}]],
  ["deep JSON", deep],
  ["emoji", "🧑‍🚀 ok 👍🏽"],
  ["other scripts", "Grüße, 你好, שלום, Ωmega"],
  ["NUL and controls", "a\u0000b\u0001\r\n\t\u007f\u2028\u2029"],
  ["lone surrogates", ["\ud800", "a\udc00b", "\udfff\ud83d"]],
  ["own proto", JSON.parse('{"__proto__":{"x":1},"constructor":2}')],
  ["record syntax", ";g=1\n1;0\nj0"],
  ["no bytes", new Uint8Array()],
  ["every byte", everyByte],
  ["1 MiB of bytes", mebibyte],
  ["1 MB of text", "x".repeat(1_000_000)],
  ["1 MB of emoji", "🚀".repeat(250_000)],
];

/** A payload in a form that assertions compare fast; bytes stay distinct from their base64. */
export function comparable(payload: unknown): unknown {
  return payload instanceof Uint8Array ? { bytes: Buffer.from(payload).toString("base64") } : payload;
}
