import { describe, expect, test } from "vitest";
import { HIDING_TOKEN, useCli } from "./rig.ts";
import type { Invocation } from "./run-here.ts";

// Commands with a token that may look, and hides payloads.

const rig = useCli();
const sluice = (args: readonly string[], more: Invocation = {}) =>
  rig.run(args, { env: { SLUICE_TOKEN: HIDING_TOKEN }, ...more });

describe("with a token that hides payloads", () => {
  test("show and ls say that they are hidden", async () => {
    await rig.queue().enqueue({ to: "a@example.com" }, { id: "one" });
    const { rows } = await sluice(["show", "emails", "one"]);
    expect(rows).toMatchObject([{ id: "one", payloadsHidden: true }]);
    const shown = await sluice(["show", "emails", "one"], { terminal: true });
    expect(shown.text).toContain("\nThe token hides payload, result, progress and headers.\n");
    const listed = await sluice(["ls", "emails", "--payloads"], { terminal: true });
    expect(listed.text).toMatch(/PAYLOAD\n.* hidden\n/);
    expect(JSON.stringify([rows, shown.text, listed.text])).not.toContain("a@example.com");
  });

  test("export refuses, because an import of its lines would lose the payloads", async () => {
    await rig.queue().enqueue(1);
    const { code, out, err } = await sluice(["export", "emails"]);
    expect([code, out, err]).toEqual([1, "", "sluice: the token hides the payloads of emails\n"]);
  });

  test("a command that changes anything is refused", async () => {
    const { code, err } = await sluice(["pause", "emails"]);
    expect([code, err]).toEqual([
      3,
      expect.stringContaining("does not have the scope admin for the queue emails"),
    ]);
  });
});
