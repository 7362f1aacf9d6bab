import { describe, expect, test } from "vitest";
import { errorText, shortForm } from "../../src/kernel/errors/error-text.ts";
import { messageOf } from "../../src/errors.ts";
import { decodeValue, encodeError } from "../../src/kernel/record/codec.ts";
import { summarizeError } from "../../src/kernel/errors/error-summary.ts";

describe("an error as text", () => {
  test.each<[unknown, string]>([
    [new TypeError("no such field"), "TypeError: no such field"],
    [Object.assign(new Error(""), { name: "Timeout" }), "Timeout"],
    [{ name: "HttpError", message: "HTTP 503", cause: "socket closed" }, "HttpError: HTTP 503"],
    [{ name: "only a name" }, '{"name":"only a name"}'],
    [{ name: 1, message: 2 }, '{"name":1,"message":2}'],
    ["just a text", "just a text"],
    ["", ""],
    ["two\nlines\tand; 100%", "two\nlines\tand; 100%"],
    [{ status: 503 }, '{"status":503}'],
    [null, "null"],
    [false, "false"],
    [0, "0"],
    [[], "[]"],
    [new Uint8Array(17), "17 bytes"],
  ])("%o is %j", (error, text) => {
    expect(errorText(error)).toBe(text);
  });

  test.each([
    ["letters", "x".repeat(200), "x".repeat(200)],
    ["letters, one too many", "x".repeat(201), `${"x".repeat(199)}…`],
    ["emoji", "😀".repeat(200), "😀".repeat(200)],
    ["emoji, one too many", "😀".repeat(201), `${"😀".repeat(199)}…`],
    ["an emoji at the end", `${"x".repeat(199)}😀`, `${"x".repeat(199)}😀`],
    ["an emoji over the end", `${"x".repeat(199)}😀😀`, `${"x".repeat(199)}…`],
    ["an emoji before the cut", `${"x".repeat(198)}😀xx`, `${"x".repeat(198)}😀…`],
    ["half an emoji", `${"x".repeat(198)}\ud83d`, `${"x".repeat(198)}\ud83d`],
  ])("has at most 200 characters, and is cut between them: %s", (_, long, text) => {
    expect(errorText(long)).toBe(text);
    expect(Array.from(errorText({ name: "", message: long })).length).toBeLessThanOrEqual(200);
  });
});

describe("an error whose parts are no texts, or cannot be read,", () => {
  const throwing = (name: string) => ({
    get: () => {
      throw new TypeError(`${name} of a hostile error`);
    },
  });
  const made = (parts: PropertyDescriptorMap) => Object.defineProperties(new RangeError("kept"), parts);
  const unreadable = made({ message: throwing("message"), code: throwing("code") });
  const coded = made({ message: { value: {} }, code: { value: "ECONNRESET" } });

  test.each<[what: string, parts: PropertyDescriptorMap, differs: object, text: string]>([
    ["a message that is a number", { message: { value: 503 } }, { message: "503" }, "RangeError: 503"],
    ["a message that is an object", { message: { value: { secret: 1 } } }, { message: "" }, "RangeError"],
    ["a message that throws", { message: throwing("message") }, { message: "" }, "RangeError"],
    ["no message", { message: { value: undefined } }, { message: "" }, "RangeError"],
    ["a name that is a number", { name: { value: 7n } }, { name: "7" }, "7: kept"],
    ["a name that is an object", { name: { value: [] } }, { name: "Error" }, "Error: kept"],
    ["a name that throws", { name: throwing("name") }, { name: "Error" }, "Error: kept"],
    ["a cause that throws", { cause: throwing("cause") }, {}, "RangeError: kept"],
    ["an unreadable cause", { cause: { value: unreadable } }, { cause: "RangeError" }, "RangeError: kept"],
    ["a cause with a code", { cause: { value: coded } }, { cause: "ECONNRESET" }, "RangeError: kept"],
  ])("such as %s, is stored and summarized by what can be read", (_, parts, differs, text) => {
    const [error, kept] = [made(parts), { name: "RangeError", message: "kept", ...differs }];
    expect(decodeValue(encodeError(error, "error"))).toEqual(kept);
    const { stack = "\n    at", ...summary } = summarizeError(error) ?? {};
    expect(summary).toEqual(kept);
    expect(stack).toContain("\n    at");
    expect(errorText(error)).toBe(text);
  });

  test("is a text in a log", () => {
    expect(messageOf(made({ message: throwing("message") }))).toBe("an error that cannot be read");
    expect(messageOf(made({ message: { value: 503 } }))).toBe("503");
    expect(messageOf(Object.create(null))).toBe("an error that cannot be read");
    expect(messageOf(Symbol("soon"))).toBe("Symbol(soon)");
  });
});

describe("the short form of an error", () => {
  const shortOf = (error: unknown) => shortForm(error, encodeError(error, "error"));

  test("is its text, and left out if the error itself is no longer", () => {
    expect(shortOf("x".repeat(200))).toBe("");
    expect(shortOf("x".repeat(250))).toBe(`j"${"x".repeat(199)}…"`);
    expect(shortOf({ status: 503 })).toBe("");
    expect(shortOf(undefined)).toBe("");
    expect(shortOf(new Error("HTTP 503"))).toBe('j"Error: HTTP 503"');
    expect(shortOf(new Error("y".repeat(4_000)))).toBe(`j"Error: ${"y".repeat(192)}…"`);
    expect(shortOf(Buffer.alloc(300))).toBe('j"300 bytes"');
  });

  test("is at most 1,203 bytes long, whatever the error is", () => {
    for (const unit of ["\u0001", "\ud83d", "😀", '"', "語"]) {
      expect(Buffer.byteLength(shortOf(unit.repeat(1_000)))).toBeLessThanOrEqual(1_203);
    }
  });

  test("of an encrypted error has only its length, if that is over 1,800 bytes in base64", () => {
    const envelope = (bytes: number) => Buffer.concat([Buffer.from("\0SLUICE"), Buffer.alloc(bytes - 7)]);
    expect(shortOf(envelope(1_347))).toBe("");
    expect(shortOf(envelope(1_350))).toBe('j"1350 bytes"');
  });
});
