import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EmbeddedDatabase } from "../../src/embedded/index.ts";
import { connectRedis } from "../../src/local/gateway/redis.ts";
import { sharedRedis } from "../support/shared-redis.ts";

type Reply = string | number | null | readonly Reply[];

const listOf = (reply: Reply | undefined) => (Array.isArray(reply) ? (reply as readonly Reply[]) : []);

/** By group, the commands that Redis 7.0 has. */
async function commandsOfRedis(): Promise<Map<string, string[]>> {
  const redis = await sharedRedis();
  const connection = await connectRedis(redis.url, () => {});
  const docs = listOf(textOf(await connection.send(["COMMAND", "DOCS"])));
  connection.close();
  await redis.stop();
  const groups = new Map<string, string[]>();
  for (let at = 0; at < docs.length; at += 2) {
    const words = listOf(docs[at + 1]);
    const said = (name: string) => String(words[words.indexOf(name) + 1]);
    const [major = 0, minor = 0] = said("since").split(".").map(Number);
    if (major > 7 || (major === 7 && minor > 0) || said("group") === "module") continue;
    const group = groups.get(said("group")) ?? [];
    groups.set(said("group"), [...group, String(docs[at]).toUpperCase()]);
  }
  return groups;
}

function textOf(reply: unknown): Reply {
  if (Array.isArray(reply)) return reply.map(textOf);
  return typeof reply === "number" ? reply : String(reply);
}

/** The commands of the embedded store; of one with subcommands, these. */
function ownCommands(): Map<string, string> {
  const described = listOf(new EmbeddedDatabase().call("COMMAND"));
  return new Map(
    described.map((entry) => {
      const words = listOf(entry);
      const name = String(words[0]).toUpperCase();
      const subcommands = listOf(words[9]).map((sub) =>
        String(listOf(sub)[0]).toUpperCase().replace(/^.*\|/, ""),
      );
      return [name, subcommands.length === 0 ? name : `${name} (${subcommands.toSorted().join(", ")})`];
    }),
  );
}

test("notes/embedded-commands.md lists each command of Redis 7.0, as served by the embedded store or not", async () => {
  const own = ownCommands();
  const rows: string[] = [];
  for (const [group, names] of [...(await commandsOfRedis())].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const sorted = names.toSorted();
    const served = sorted.flatMap((name) => own.get(name) ?? []);
    const missing = sorted.filter((name) => !own.has(name));
    for (const name of sorted) own.delete(name);
    rows.push(`| ${group} | ${served.join(", ") || "none"} | ${missing.join(", ") || "none"} |`);
  }
  expect([...own.keys()]).toEqual([]);
  const page = readFileSync(new URL("../../notes/embedded-commands.md", import.meta.url), "utf8");
  const table = /\| commands \| served \| not served \|\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(page)?.[1] ?? "";
  expect(table.trimEnd().split("\n")).toEqual(rows);
});
