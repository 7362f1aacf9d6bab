import { dice } from "./dice.ts";
import { type Rig, key } from "./rig.ts";

const zsets = [
  "fair",
  "fair-by-group",
  "limited",
  "working",
  "delayed",
  "dead",
  "expiry",
  "workers",
  "worker-leases",
];

/**
 * Damages a queue's keys at random, one act a call, without the product's code: deletes, duplicates and
 * corrupts. Adds to `destroyed` the ids of tasks whose payload it destroyed; all other tasks must not get
 * lost.
 */
export function saboteur(rig: Rig, seed: number, ids: readonly string[], destroyed: Set<string>) {
  const roll = dice(seed);
  const below = (count: number) => Math.floor(roll() * count);
  const oneOf = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  const garbage = () =>
    oneOf(["", "x", "1", "1;nonsense", "\u0000\u0001", "1;w=x", `${below(1e9)}`, "-17", "1;5"]);
  const command = (...args: string[]) => rig.command(...args);

  const onList = async () => {
    const list = key("pending");
    const index = String(below(Math.max(1, Number(await command("LLEN", list)))));
    const entry = await command("LINDEX", list, index);
    const blow = below(20);
    if (blow === 0) await command("DEL", list);
    else if (blow < 5) await command(oneOf(["LPUSH", "RPUSH"]), list, oneOf([...ids, garbage()]));
    else if (typeof entry !== "string") return;
    else if (blow < 10) await command(oneOf(["LPUSH", "RPUSH"]), list, entry);
    else if (blow < 15) await command("LREM", list, "1", entry);
    else await command("LSET", list, index, oneOf(ids)).catch(() => undefined);
  };

  const onZset = async () => {
    const part = oneOf(zsets);
    const zset = key(part);
    const member = await command("ZRANDMEMBER", zset);
    const id = oneOf([...ids, garbage()]);
    // A delay far ahead may be intended, and no test waits for it.
    const far = part === "delayed" ? "5" : "4503599627370000";
    const score = oneOf(["0", "1", "inf", "-inf", far, String(rig.now), `${below(1e12)}.5`]);
    const blow = below(20);
    if (blow === 0) await command("DEL", zset);
    else if (blow >= 8 && typeof member !== "string") return;
    else if (blow >= 8 && blow < 15) await command("ZREM", zset, String(member));
    else {
      const hit = blow < 8 ? id : String(member);
      await command("ZADD", zset, score, hit);
      // An expired dead letter is removed with its payload.
      if (part === "expiry") destroyed.add(hit);
    }
  };

  const onRecord = async () => {
    const id = oneOf(ids);
    const record = await command("HGET", key("tasks"), `.${id}`);
    const blow = below(4);
    if (typeof record !== "string") return;
    if (blow === 0) await command("HDEL", key("tasks"), `.${id}`);
    else if (blow === 1) await command("HSET", key("tasks"), `.${id}`, garbage());
    else await command("HSET", key("tasks"), `.${id}`, record.slice(0, below(record.indexOf("\n"))));
  };

  const onPayload = async () => {
    const id = oneOf(ids);
    const fixed = await command("HGET", key("tasks"), id);
    if (typeof fixed !== "string" || fixed === "") return;
    destroyed.add(id);
    if (roll() < 0.5) await command("HDEL", key("tasks"), id);
    else
      await command("HSET", key("tasks"), id, oneOf([garbage(), fixed.slice(0, below(fixed.indexOf("\n")))]));
  };

  const onControl = async () => {
    const [, fields] = (await command("HSCAN", key("tasks"), "0", "COUNT", "100000", "MATCH", "~*")) as [
      string,
      string[],
    ];
    const field = fields[2 * below(fields.length / 2)];
    if (field === undefined || field.startsWith("~b:")) return;
    if (field !== "~lease" && roll() < 0.5) await command("HDEL", key("tasks"), field);
    else await command("HSET", key("tasks"), field, garbage());
  };

  const onFields = async () =>
    command("HSET", key("tasks"), oneOf([garbage(), `.${garbage()}`, "~g:nothing", "~d:nothing"]), garbage());

  return async (): Promise<void> => {
    await oneOf([onList, onList, onZset, onZset, onZset, onRecord, onPayload, onControl, onFields])();
  };
}
