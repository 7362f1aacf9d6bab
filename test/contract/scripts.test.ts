import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SluiceError } from "../../src/index.ts";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { RECORD_DEFAULTS } from "../../src/kernel/record/record.ts";
import { callOf } from "../../src/kernel/scripts/binding.ts";
import { enqueueScript } from "../../src/kernel/scripts/enqueue-script.ts";
import type { Reply } from "../../src/kernel/transport.ts";
import { scriptFiles } from "../../tools/lua/files.ts";
import { bindings } from "../support/bindings.ts";
import { fileOf } from "../support/script-files.ts";

const folder = new URL("../../lua/", import.meta.url);
/** The keys and arguments in a script's contract. */
function contract(name: string) {
  const lines = readFileSync(new URL(fileOf(name), folder), "utf8").split("\n");
  const named = (from: "KEYS" | "ARGV") =>
    lines
      .map((line) => new RegExp(`^local (\\w+) = ${from}\\[(\\d+)\\] -- (.+)`).exec(line))
      .filter((match) => match !== null)
      .map(([, local, place]) => [Number(place), camel(local ?? "")] as const);
  const items = lines.find((line) => /^local \w+ = ARGV -- /.test(line));
  return {
    keys: named("KEYS"),
    args: named("ARGV"),
    items: /then(?: for each[^:]*)?: (.*)$/.exec(items ?? "")?.[1] ?? "",
  };
}

const camel = (snake: string) => snake.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

describe("the script tables match the contracts in Lua", () => {
  test("every script is bound once", () => {
    expect(bindings.map(({ script }) => fileOf(script.name)).toSorted()).toEqual(scriptFiles());
  });

  test.each(bindings.map((binding) => [binding.script.name, binding] as const))("%s", (name, binding) => {
    const { keys, args, items } = contract(name);
    const { each = [] } = binding;
    const numbered = (names: readonly string[]) => names.map((key, i) => [i + 1, key]);
    expect(keys).toEqual(numbered(binding.keys));
    expect(args).toEqual(numbered(binding.args));
    expect(items === "").toBe(each.length === 0);
    let from = 0;
    for (const item of each) {
      from = items.indexOf(item, from);
      expect(from, `${item} in "${items}"`).toBeGreaterThanOrEqual(0);
    }
  });

  test("a call carries each key and argument in the table's order", () => {
    const keys = queueKeys("q", "p");
    const call = callOf(
      enqueueScript,
      keys,
      { testNow: "7", withSettings: "", wake: "", refuseEach: "", slots: "" },
      [
        { id: "a", when: "", unique: "", record: "\nj1" },
        { id: "b", when: "+5", unique: "again", record: "\nj2" },
      ],
    );
    expect(call.keys).toEqual(
      ["pending", "fair", "fair-by-group", "limited", "delayed", "tasks", "expiry", "dead"].map(
        (part) => `p:{q}:${part}`,
      ),
    );
    expect(call.args).toEqual(["7", "", "", "", "", "a", "", "", "\nj1", "b", "+5", "again", "\nj2"]);
  });
});

test("an absent option means the same in Lua and in TypeScript", () => {
  const records = readFileSync(new URL("parts/records.lua", folder), "utf8");
  const constant = (name: string) => Number(new RegExp(`^local ${name} = (\\d+)$`, "m").exec(records)?.[1]);
  expect(RECORD_DEFAULTS).toEqual({
    maxAttempts: constant("DEFAULT_MAX_ATTEMPTS"),
    resultTtl: constant("DEFAULT_RESULT_TTL"),
    deadTtl: constant("DEFAULT_DEAD_TTL"),
  });
});

describe("a reply that the script does not document throws, and shows none of it", () => {
  const strange: Reply[] = [null, "secret", 7, [], ["secret"], ["ok", null], ["ok", ["secret"]], [["ok"]]];
  test.each(bindings.map((binding) => [binding.script.name, binding] as const))("%s", (_, { decode }) => {
    for (const reply of strange) {
      const error = thrownBy(() => decode(reply));
      expect(error).toBeInstanceOf(SluiceError);
      expect(error).toMatchObject({ code: "unexpected_reply" });
      expect(String(error)).not.toContain("secret");
    }
  });

  test.each(bindings.map((binding) => [binding.script.name, binding] as const))(
    "a newer_schema reply of %s throws newer_schema",
    (_, { decode }) => {
      expect(thrownBy(() => decode(["newer_schema"]))).toMatchObject({ code: "newer_schema" });
    },
  );

  function thrownBy(run: () => unknown): unknown {
    try {
      return run();
    } catch (error) {
      return error;
    }
  }
});
