import { describe, expect, test } from "vitest";
import { encrypting } from "../support/encrypting.ts";
import { useRig } from "../support/rig.ts";
import { large, withStore } from "../features/offload/rig.ts";

const rig = useRig();

describe("a list has previews of payloads", () => {
  const previews = async (operator = rig.operator()) => {
    const { tasks } = await operator.list({ state: "pending", payloads: "preview" });
    expect(tasks.every((task) => !("payload" in task))).toBe(true);
    return tasks.map(({ preview, previewOmitted }) => preview ?? previewOmitted);
  };

  test("of JSON the first 200 characters, whole ones", async () => {
    const queue = rig.queue();
    for (const payload of [
      { to: "a@example.com" },
      "",
      "x".repeat(198),
      "x".repeat(199),
      "é😀€".repeat(5_000),
    ])
      await queue.enqueue(payload);
    expect(await previews()).toEqual([
      '{"to":"a@example.com"}',
      '""',
      `"${"x".repeat(198)}"`,
      `"${"x".repeat(199)}…`,
      `"${"é😀€".repeat(66)}é…`,
    ]);
  });

  test("but not of bytes, nor of encrypted payloads without the key", async () => {
    const sealed = { encryption: encrypting() };
    await rig.queue().enqueue(new Uint8Array([1, 2, 3]));
    await rig.queue().enqueue(new Uint8Array(50_000));
    await rig.queue(sealed).enqueue({ to: "b@example.com" });
    await rig.queue(sealed).enqueue("long".repeat(5_000));
    await rig.queue(sealed).enqueue(new Uint8Array([4]));
    expect(await previews()).toEqual(["bytes", "bytes", "encrypted", "encrypted", "encrypted"]);
    expect(await previews(rig.operator(sealed))).toEqual([
      "bytes",
      "bytes",
      '{"to":"b@example.com"}',
      "encrypted",
      "bytes",
    ]);
  });

  test("nor of offloaded ones, which are not read", async () => {
    const { store, queue, operator } = withStore(rig);
    await queue.enqueue(large("a"));
    expect(await previews(operator)).toEqual(["external"]);
    expect(store.requests).toEqual([expect.stringMatching(/^put /)]);
  });
});
