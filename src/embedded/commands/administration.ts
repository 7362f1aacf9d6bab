import type { Bytes } from "../bytes.ts";
import { commands, container, type Context, type Words } from "../command.ts";
import { OK, ReplyError, type Value } from "../reply.ts";
import { matches } from "./pattern.ts";

const adminFlags = "admin noscript loading stale @admin @dangerous";

export const administrationCommands = [
  ...commands(
    [],
    [
      ["time", 1, "loading stale fast", undefined, time],
      ["info", -1, "loading stale @dangerous", undefined, info],
    ],
  ),
  container(
    "config",
    commands(
      [],
      [
        [
          "config|get",
          -3,
          adminFlags,
          undefined,
          ({ server }, [, , ...patterns]) =>
            patterns.some((pattern) => matches(pattern)("maxmemory"))
              ? ["maxmemory", server.isFull ? "1" : "0"]
              : [],
        ],
        [
          "config|set",
          -4,
          adminFlags,
          undefined,
          ({ server }, [, , name = "", value = ""]) => {
            // It does not count its memory: it is full or not.
            if (name.toLowerCase() !== "maxmemory" || !/^[01]$/.test(value)) {
              throw new ReplyError("ERR CONFIG SET failed - the embedded store only has maxmemory 0 and 1");
            }
            server.isFull = value === "1";
            return OK;
          },
        ],
        ["config|resetstat", 2, adminFlags, undefined, ({ server }) => (server.counts.clear(), OK)],
      ],
    ),
  ),
  container(
    "acl",
    commands(
      [],
      [
        ["acl|whoami", 2, "noscript loading stale", undefined, () => "default"],
        [
          "acl|list",
          2,
          adminFlags,
          undefined,
          ({ server }) => [
            ["user default on nopass ~* &* +@all", ...Array.from(server.denied, (name) => `-${name}`)].join(
              " ",
            ),
          ],
        ],
        ["acl|setuser", -3, adminFlags, undefined, setUser],
      ],
    ),
  ),
];

function time({ store }: Context): Value {
  const microseconds = Math.floor(store.time * 1_000);
  return [String(Math.floor(microseconds / 1_000_000)), String(microseconds % 1_000_000)];
}

/** Allows and denies commands by name. There is one user, without a password and without limits of keys. */
function setUser({ server }: Context, [, , user = "", ...rules]: Words): Value {
  if (user !== "default") throw new ReplyError("ERR the embedded store has no other user than default");
  for (const rule of rules) {
    const [, sign, name = ""] = /^([+-])(@all|[\w|-]+)$/.exec(rule.toLowerCase()) ?? [];
    if (sign === undefined || rule === "-@all") {
      throw new ReplyError(
        `ERR Error in ACL SETUSER modifier '${rule}': the embedded store does not support it`,
      );
    }
    if (name === "@all") server.denied.clear();
    else if (sign === "+") server.denied.delete(name);
    else server.denied.add(name);
  }
  return OK;
}

function info({ server, store }: Context, [, ...wanted]: Words): Value {
  const sections = new Map<string, () => readonly string[]>([
    [
      "server",
      () => ["redis_version:7.0.15", "redis_mode:standalone", `process_id:${process.pid}`, "store:embedded"],
    ],
    ["clients", () => [`connected_clients:${server.clients.size}`]],
    ["keyspace", () => (store.size === 0 ? [] : [`db0:keys=${store.size},expires=0,avg_ttl=0`])],
    [
      "commandstats",
      () =>
        Array.from(
          server.counts,
          ([name, { calls, rejected, failed }]) =>
            `cmdstat_${name}:calls=${calls},usec=0,usec_per_call=0.00,rejected_calls=${rejected},failed_calls=${failed}`,
        ),
    ],
  ]);
  const names = wanted.map((name) => name.toLowerCase());
  const isAll = names.some((name) => name === "all" || name === "everything");
  const isDefault = names.length === 0 || names.includes("default");
  const chosen = [...sections].filter(
    ([name]) => isAll || names.includes(name) || (isDefault && name !== "commandstats"),
  );
  return chosen.map(([name, lines]) => sectionText(name, lines())).join("\r\n");
}

const sectionText = (name: string, lines: readonly Bytes[]): string =>
  [`# ${name[0]?.toUpperCase()}${name.slice(1)}`, ...lines].map((line) => `${line}\r\n`).join("");
