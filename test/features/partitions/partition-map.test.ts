import { array, assert, boolean, integer, nat, option, property, record, uniqueArray } from "fast-check";
import { describe, expect, test } from "vitest";
import { newTaskId } from "../../../src/kernel/names/ids.ts";
import {
  digitOf,
  namedPlace,
  placeOf,
  placeSuffix,
  SLOTS,
  slotOf,
  tagOf,
} from "../../../src/kernel/names/slots.ts";
import { isSuspect, readReceipt, writeReceipt } from "../../../src/kernel/names/receipt.ts";
import {
  ownedText,
  owning,
  partitionsOf,
  readMap,
  spread,
  UNPARTITIONED,
  writeMap,
} from "../../../src/features/partitions/map.ts";

describe("the slot of a text", () => {
  test("is CRC-16 as in XMODEM, modulo 256", () => {
    // The check value of the CRC is 0x31C3; of "foo" Redis Cluster says 12182, of "A" the CRC is 0x58E5.
    expect(slotOf("123456789")).toBe(0xc3);
    expect(slotOf("foo")).toBe(12_182 % 256);
    expect(slotOf("A")).toBe(0xe5);
    expect(slotOf("")).toBe(0);
  });

  test.each([
    ["order-17{foo}", "foo"],
    ["{foo}{bar}", "foo"],
    ["a{foo}b", "foo"],
    ["foo{{bar}}zap", "{bar"],
    ["}{foo}", "foo"],
  ])("of %s is that of its tag", (text, tag) => {
    expect(slotOf(text)).toBe(slotOf(tag));
    expect(slotOf(text)).not.toBe(slotOf(text.replaceAll(/[{}]/g, "-")));
  });

  test("of a text without a tag, or with an empty one, is that of all of it", () => {
    const whole = new Set(["foo{}{bar}", "foo{bar", "foo}bar{"].map(slotOf));
    expect(whole.size).toBe(3);
    expect(whole).not.toContain(slotOf("bar"));
  });

  test("of a generated id is that of its end, for each slot", () => {
    for (let slot = 0; slot < SLOTS; slot++) expect(slotOf(newTaskId() + tagOf(slot))).toBe(slot);
    expect(namedPlace(newTaskId() + tagOf(7))).toBe(undefined);
  });

  test("a generated id without a slot names its partition", () => {
    for (let partition = 0; partition < 62; partition++) {
      expect(namedPlace(newTaskId() + placeSuffix(partition))).toBe(partition);
      expect(placeOf(digitOf(partition))).toBe(partition);
    }
    expect(namedPlace(newTaskId())).toBe(undefined);
    expect(namedPlace("order-17~3")).toBe(undefined);
  });
});

test("spread gives each partition an equal share, and moves as few slots as it can", () => {
  assert(
    property(array(integer({ min: 1, max: 62 }), { maxLength: 8 }), (counts) => {
      let { owners } = UNPARTITIONED;
      for (const count of counts) {
        const next = spread(owners, count);
        const shares = Array.from({ length: count }, (_, i) => next.filter((owner) => owner === i).length);
        expect(shares.reduce((sum, share) => sum + share)).toBe(SLOTS);
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
        for (const [i, share] of shares.entries()) {
          const had = owners.filter((owner) => owner === i).length;
          const kept = owners.filter((owner, slot) => owner === i && next[slot] === i).length;
          expect(kept).toBe(Math.min(had, share));
        }
        owners = next;
      }
    }),
  );
});

test("a partition notes its slots four in a digit, the lowest in the lowest bit", () => {
  const owners = Array.from({ length: SLOTS }, (_, slot) => ([0, 5, 255].includes(slot) ? 3 : 0));
  expect(ownedText(owners, 3)).toBe(`12${"0".repeat(61)}8`);
  expect(ownedText(owners, 0)).toBe(`ed${"f".repeat(61)}7`);
  expect(ownedText(owners, 1)).toBe("0".repeat(64));
});

describe("a map", () => {
  test("is read as it was written", () => {
    const owner = integer({ min: 0, max: 61 });
    const slots = array(owner, { minLength: SLOTS, maxLength: SLOTS });
    assert(
      property(
        record({
          version: nat(),
          owners: slots,
          next: option(slots, { nil: undefined }),
          former: uniqueArray(owner),
          isPreparing: boolean(),
        }),
        (parts) => {
          const map = writeMap(parts);
          expect(readMap(map.text)).toEqual(map);
          expect(partitionsOf(map)).toEqual(
            [...new Set([...parts.owners, ...(parts.next ?? []), ...parts.former])].toSorted((a, b) => a - b),
          );
        },
      ),
    );
  });

  test("of a queue without one has partition 0 alone", () => {
    expect(readMap(null)).toBe(UNPARTITIONED);
    expect(owning(readMap(""))).toEqual([0]);
  });

  test("of a later release, or a damaged one, is refused (law 12)", () => {
    const { text } = writeMap({ ...UNPARTITIONED, version: 1 });
    expect(() => readMap(`2${text.slice(1)}`)).toThrow(expect.objectContaining({ code: "newer_schema" }));
    for (const damaged of ["x", text.slice(0, -1), text.replace(";0", ";"), `${text};`, `1;1;${text}`]) {
      expect(() => readMap(damaged), damaged).toThrow(expect.objectContaining({ code: "unexpected_reply" }));
    }
  });
});

test("a receipt of a partition above 0 has form 2, and names it", () => {
  const lease = { id: "a.b{c}", lease: 7, token: "token-01" };
  const read = { ...lease, attempt: 3, charged: 3 };
  expect(writeReceipt({ ...lease, delivery: 3, place: 61 })).toBe("2.61.3.7.token-01.a.b{c}");
  expect(readReceipt("2.61.3.7.token-01.a.b{c}", "receipt")).toEqual({ ...read, place: 61 });
  expect(writeReceipt({ ...lease, delivery: 3, place: 0 })).toBe("1.3.7.token-01.a.b{c}");
  expect(readReceipt("1.3.7.token-01.a.b{c}", "receipt")).toEqual({ ...read, place: 0 });
  for (const wrong of [
    "2.0.3.7.token-01.a",
    "2.3.7.token-01.a",
    "3.1.3.7.token-01.a",
    "2.100.3.7.token-01.a",
  ]) {
    expect(() => readReceipt(wrong, "receipt"), wrong).toThrow(
      expect.objectContaining({ code: "invalid_argument", path: "receipt" }),
    );
  }
});

test("a receipt has the charged attempts and the expired leases if they say more than the attempt", () => {
  const lease = { id: "a,1,1", lease: 7, token: "12345678" };
  for (const [partition, form] of [
    [0, "1"],
    [9, "2.9"],
  ] as const) {
    for (const [delivery, charged, suspect] of [
      [5, 5, false],
      ["5,2,0", 2, false],
      ["5,5,1", 5, true],
      ["5,2,12", 2, true],
    ] as const) {
      const receipt = writeReceipt({ ...lease, delivery, place: partition });
      expect(receipt).toBe(`${form}.${delivery}.7.12345678.a,1,1`);
      expect(readReceipt(receipt, "receipt")).toEqual({ ...lease, place: partition, attempt: 5, charged });
      expect(isSuspect(receipt)).toBe(suspect);
    }
  }
});
