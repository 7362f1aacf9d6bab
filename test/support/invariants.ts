import { says, type QueueSpace } from "./key-space.ts";

const DEFAULT_MAX_ATTEMPTS = 5;

/**
 * What of lua/README.md's invariants a queue's raw keys violate; empty for a sound queue. Only what
 * one look can tell: I1, I2, I5 and that every ended record has its time.
 */
export function violations(space: QueueSpace): string[] {
  const found: string[] = [];
  const { pending, working, delayed, expiry, dead, tasks } = space;
  const entries = new Map<string, number>();
  for (const id of pending) entries.set(id, (entries.get(id) ?? 0) + 1);

  const ids = new Set([...pending, ...working.keys(), ...delayed.keys(), ...expiry.keys(), ...dead.keys()]);
  for (const field of tasks.keys()) {
    if (!field.startsWith("~")) ids.add(field.replace(/^\./, ""));
  }

  let ghosts = 0;
  const leases = new Set<string>();
  for (const id of ids) {
    const fixed = tasks.get(id);
    const record = says(tasks.get(`.${id}`));
    const live = fixed !== undefined && fixed !== "";
    const ghost = Number(record["g"] ?? 0);
    ghosts += ghost;

    const places = [
      (entries.get(id) ?? 0) - ghost === 1 && "pending",
      working.has(id) && "working",
      delayed.has(id) && "delayed",
      dead.has(id) && "rejected",
    ].filter((place) => place !== false);
    if ((entries.get(id) ?? 0) - ghost > 1) found.push(`I1 ${id} is more than once in pending`);
    if ((entries.get(id) ?? 0) < ghost) found.push(`I1 ${id} counts ghosts that are not there`);
    if (live && places.length !== 1)
      found.push(`I1 ${id} has a payload and is in ${places.join(" and ") || "no place"}`);
    if (!live && places.length > 0) found.push(`I1 ${id} has no payload and is in ${places.join(" and ")}`);

    const state = record["s"];
    if ((state === "w") !== working.has(id))
      found.push(`I2 ${id} is marked ${state} and ${working.has(id) ? "" : "not "}in working`);
    if (state === "w") {
      if (!record["n"] || !record["k"] || !record["l"]) found.push(`I2 ${id} is working without a lease`);
      if (leases.has(record["n"] ?? "")) found.push(`I2 lease ${record["n"]} is held twice`);
      leases.add(record["n"] ?? "");
      if (Number(record["n"]) > Number(tasks.get("~lease")))
        found.push(`I2 ${id} has a lease from beyond the counter`);
    } else if (record["k"]) found.push(`I2 ${id} keeps a lease token and is not working`);

    const charged = Number(record["c"] ?? 0);
    const attempt = Number(record["a"] ?? 0);
    const most = Number(says(fixed?.replace(/^1;\d*/, "1;;;;;;;;;"))["m"] ?? DEFAULT_MAX_ATTEMPTS);
    if (charged < 0 || charged > attempt) found.push(`I5 ${id} is charged ${charged} of ${attempt} attempts`);
    if (live && most > 0 && charged > most) found.push(`I5 ${id} is charged ${charged} of at most ${most}`);

    const ended = state === "c" || state === "r";
    if (ended !== expiry.has(id))
      found.push(`I7 ${id} is marked ${state} and ${expiry.has(id) ? "" : "not "}in expiry`);
    if (state === "c" && live) found.push(`I7 ${id} is completed and keeps its payload`);
    if (fixed === "" && !ended && state !== "g") found.push(`I1 ${id} has an empty payload and no end`);
  }
  if (ghosts !== Number(tasks.get("~ghosts") ?? 0))
    found.push(`I1 ${tasks.get("~ghosts")} ghosts are counted, ${ghosts} are there`);
  return found;
}
