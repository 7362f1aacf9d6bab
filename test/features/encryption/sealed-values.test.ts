import { describe, expect, test } from "vitest";
import { Queue, SluiceError, type Transport } from "../../../src/index.ts";
import {
  type EncryptionKey,
  encryption,
  type EncryptionOptions,
} from "../../../src/features/encryption/aes-gcm.ts";
import type { ValueContext } from "../../../src/features/encryption/encryption.ts";
import { encrypting, KEYS, MARKER, openByHand } from "../../support/encrypting.ts";

const place: ValueContext = { kind: "payload", queue: "emails", id: "a" };

async function envelopeOf(encoded: string, options: Partial<EncryptionOptions> = {}, where = place) {
  const text = await encrypting(options).encrypt(encoded, where, "payload");
  return new Uint8Array(Buffer.from(text.slice(1), "base64"));
}

const refusal = (act: () => unknown) =>
  Promise.resolve()
    .then(act)
    .then(
      (value) => ({ value }),
      (error: unknown) => ({
        code: (error as SluiceError).code,
        path: (error as SluiceError).path,
        message: (error as SluiceError).message,
      }),
    );

describe("the envelope", () => {
  test.each<[ValueContext["kind"], string]>([
    ["payload", "p"],
    ["schedule", "s"],
    ["result", "r"],
    ["error", "e"],
  ])("of a %s follows the format, also for other cryptography libraries", async (kind, letter) => {
    const envelope = await envelopeOf('j{"to":"Ω"}', {}, { ...place, kind });
    expect(openByHand(envelope, KEYS.old, "emails a")).toEqual({
      begins: "\0SLUICE\u0001",
      kind: letter,
      keyId: "old",
      plain: 'j{"to":"Ω"}',
    });
    expect(envelope).toHaveLength(8 + 1 + 1 + "old".length + 12 + Buffer.byteLength('j{"to":"Ω"}') + 16);
  });

  test("of progress is base64 in JSON", async () => {
    const text = await encrypting().encrypt("j40", { ...place, kind: "progress" }, "progress");
    const envelope = Buffer.from(JSON.parse(text.slice(1)) as string, "base64");
    expect(openByHand(envelope, KEYS.old, "emails a")).toMatchObject({ kind: "g", plain: "j40" });
  });

  test("contains bytes as they are, without base64", async () => {
    const envelope = await envelopeOf(`b${Buffer.from([65, 66]).toString("base64")}`);
    expect(openByHand(envelope, KEYS.old, "emails a").plain).toBe("bAB");
  });

  test("differs each time, and does not reveal equal values", async () => {
    const [one, other] = [await envelopeOf("j1"), await envelopeOf("j1")];
    expect(Buffer.from(one.subarray(13)).equals(Buffer.from(other.subarray(13)))).toBe(false);
  });

  test("does not open after any of its bits is changed", async () => {
    const envelope = await envelopeOf(`j"${MARKER}"`);
    const outcomes = new Map<string, number>();
    for (let bit = 0; bit < envelope.length * 8; bit++) {
      const altered = envelope.slice();
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const reported = await refusal(() => encrypting().decrypt(altered, place));
      expect(reported).toMatchObject({ code: "undecryptable" });
      expect(JSON.stringify(reported)).not.toContain(MARKER);
      const why = "message" in reported ? reported.message : "";
      outcomes.set(why, (outcomes.get(why) ?? 0) + 1);
    }
    // Seven bytes mark an envelope, one is its version; the key authenticates the rest.
    const count = (words: RegExp) =>
      Array.from(outcomes, ([why, times]) => (words.test(why) ? times : 0)).reduce((sum, n) => sum + n);
    expect(count(/: it is not encrypted, and acceptPlain is not set$/)).toBe(56);
    expect(count(/: a newer release of Sluice encrypted it; deploy that release here too$/)).toBe(8);
  });

  test("does not open after it is cut at any place", async () => {
    const envelope = await envelopeOf("j1");
    for (let length = 7; length < envelope.length; length++) {
      const reported = await refusal(() => encrypting().decrypt(envelope.subarray(0, length), place));
      expect(reported).toMatchObject({ code: "undecryptable" });
    }
  });

  test.each<[string, ValueContext]>([
    ["another task's", { ...place, id: "b" }],
    ["another queue's", { ...place, queue: "mails" }],
    ["a result", { ...place, kind: "result" }],
    ["an error", { ...place, kind: "error" }],
    ["a schedule's", { ...place, kind: "schedule" }],
    ["an occurrence's", { ...place, id: "a.1700000000000" }],
  ])("opens in its place and not as %s", async (_, elsewhere) => {
    const envelope = await envelopeOf("j1");
    expect(await encrypting().decrypt(envelope, place)).toBe(1);
    expect(await refusal(() => encrypting().decrypt(envelope, elsewhere))).toMatchObject({
      code: "undecryptable",
      message: expect.stringMatching(/with the key "old", and was altered, belongs to another/) as string,
    });
  });

  test("of a schedule opens in its occurrences, and in no other's", async () => {
    const envelope = await envelopeOf("j1", {}, { kind: "schedule", queue: "emails", id: "daily.9" });
    const open = (id: string) => refusal(() => encrypting().decrypt(envelope, { ...place, id }));
    expect(await open("daily.9.1700000000000")).toEqual({ value: 1 });
    for (const id of ["daily.9", "daily.1700000000000", "daily.9.x", "daily.9.1.2"]) {
      expect(await open(id)).toMatchObject({ code: "undecryptable" });
    }
  });
});

describe("an undecryptable value is named by its key, and not by its content", () => {
  test.each<[string, Partial<EncryptionOptions>, RegExp]>([
    [
      "a key that is not there",
      { keys: { new: KEYS.new }, current: "new" },
      /with the key "old", which is not among the keys given$/,
    ],
    ["another key of that id", { keys: { old: KEYS.other } }, /with the key "old", and was altered/],
  ])("%s", async (_, options, message) => {
    const envelope = await envelopeOf(`j"${MARKER}"`);
    const reported = await refusal(() => encrypting(options).decrypt(envelope, place));
    expect(reported).toMatchObject({
      code: "undecryptable",
      message: expect.stringMatching(message) as string,
    });
    expect(JSON.stringify(reported)).not.toContain(MARKER);
  });

  test("plain values, unless they are accepted; errors always are", async () => {
    for (const value of [null, 0, "", MARKER, { a: 1 }, new Uint8Array([1])]) {
      const reported = await refusal(() => encrypting().decrypt(value, place));
      expect(reported).toMatchObject({ code: "undecryptable" });
      expect(JSON.stringify(reported)).not.toContain(MARKER);
      expect(await encrypting({ acceptPlain: true }).decrypt(value, place)).toBe(value);
      expect(await encrypting().decrypt(value, { ...place, kind: "error" })).toBe(value);
    }
  });
});

const imported = (bits: number, uses: KeyUsage[]) =>
  crypto.subtle.importKey("raw", new Uint8Array(bits / 8), "AES-GCM", false, uses);

describe("keys", () => {
  test("are base64, bytes, or a CryptoKey; one that only decrypts serves old values", async () => {
    const envelope = await envelopeOf("j1", { keys: { old: new Uint8Array(32) } });
    const forms: EncryptionKey[] = [
      new Uint8Array(32),
      Buffer.alloc(32).toString("base64"),
      await imported(256, ["encrypt", "decrypt"]),
    ];
    for (const old of forms) expect(await encrypting({ keys: { old } }).decrypt(envelope, place)).toBe(1);
    const keys = { old: await imported(256, ["decrypt"]), new: KEYS.new };
    expect(await encrypting({ keys, current: "new" }).decrypt(envelope, place)).toBe(1);
  });

  test("are copied, and keep the given value", async () => {
    const old = new Uint8Array(32);
    const envelope = await envelopeOf("j1", { keys: { old } });
    const made = encrypting({ keys: { old } });
    old.fill(9);
    expect(await made.decrypt(envelope, place)).toBe(1);
  });

  test.each<[string, string, unknown, null?]>([
    ["no keys", "keys", null],
    ["none current", "current", {}],
    ["another current", "current", { new: KEYS.new }],
    ["no current, and plain values not accepted", "current", { old: KEYS.old }, null],
    ["too few bytes", "keys.old", { old: new Uint8Array(16) }],
    ["no base64", "keys.old", { old: "*".repeat(44) }],
    ["base64 of too much", "keys.old", { old: "A".repeat(48) }],
    ["base64 without its padding", "keys.old", { old: KEYS.old.slice(0, -1) }],
    ["base64 with a line's end", "keys.old", { old: `${KEYS.old}\n` }],
    ["nothing", "keys.old", { old: undefined }],
    ["a key in place of its id", "keys[0]", { [KEYS.old]: "old" }],
    ["an empty id", "keys[0]", { "": KEYS.old }],
    ["a long id", "keys[1]", { old: KEYS.old, ["k".repeat(33)]: KEYS.old }],
  ])("are refused by name, and not shown: %s", async (_, path, keys, current: string | null = "old") => {
    const reported = await refusal(() => encryption({ keys, current } as never));
    expect(reported).toMatchObject({ code: "invalid_argument", path });
    expect(JSON.stringify(reported)).not.toContain(KEYS.old.slice(0, 20));
  });

  test("of 128 bits, or without the usages they need, are refused", async () => {
    for (const old of [await imported(128, ["encrypt", "decrypt"]), await imported(256, ["decrypt"])]) {
      expect(await refusal(() => encrypting({ keys: { old } }))).toMatchObject({ path: "keys.old" });
    }
  });

  test("are not shown by an encryption, or by a queue with one", () => {
    const transport: Transport = { send: async () => [] };
    const queue = new Queue("emails", { transport, encryption: encrypting() });
    expect(JSON.stringify([queue, encrypting()])).not.toContain("old");
  });
});

test.each<[string, () => unknown]>([
  ["acceptPlane", () => encrypting({ acceptPlane: true } as never)],
  ["acceptPlain", () => encrypting({ acceptPlain: 1 } as never)],
  ["encryption", () => new Queue("a", { transport: { send: async () => [] }, encryption: {} as never })],
])("an invalid option is refused: %s", async (path, act) => {
  expect(await refusal(act)).toMatchObject({ code: "invalid_argument", path });
});
