import { isInLine, lineViolations } from "./line-invariants.ts";
import { counted, says, type QueueSpace } from "./key-space.ts";

const DEFAULT_MAX_ATTEMPTS = 10;

/**
 * The invariants of lua/README.md that a queue's raw keys violate; empty if they hold. It checks only what
 * one read of the keys can show: I1, I2, I5, and that every ended record has its expiry.
 */
export function violations(space: QueueSpace): string[] {
  const found: string[] = [];
  const { pending, fair, limited, working, expiry, dead, tasks } = space;
  const delayed = new Map([...space.delayed].filter(([member]) => !member.startsWith("~")));
  const entries = new Map<string, number>();
  for (const id of pending) entries.set(id, (entries.get(id) ?? 0) + 1);

  const places = [fair, limited, working, delayed, expiry, dead].flatMap((zset) => [...zset.keys()]);
  const ids = new Set([...pending, ...places.filter((member) => !member.startsWith("~"))]);
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
      fair.has(id) && "fair",
      limited.has(id) && "limited",
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
    const most = Number(says(fixed?.replace(/^[12];\d*/, "1;;;;;;;;;"))["m"] ?? DEFAULT_MAX_ATTEMPTS);
    if (charged < 0 || charged > attempt) found.push(`I5 ${id} is charged ${charged} of ${attempt} attempts`);
    if (live && most > 0 && charged > most) found.push(`I5 ${id} is charged ${charged} of at most ${most}`);

    const ended = state === "c" || state === "r" || state === "x";
    if (ended !== expiry.has(id))
      found.push(`I7 ${id} is marked ${state} and ${expiry.has(id) ? "" : "not "}in expiry`);
    const isBare = tasks.get(`.${id}`)?.endsWith("\n") ?? true;
    if (state === "x" && (live || !isBare)) found.push(`I7 ${id} is a tombstone with a payload or a result`);
    if (state === "x" && record["U"] && !record["z"]) {
      const until = Number(record["e"]) + Number(record["U"]);
      if (expiry.get(id) !== until)
        found.push(`I7 ${id} is unique until ${until} and goes at ${expiry.get(id)}`);
    }
    if (state === "c" && live) found.push(`I7 ${id} is completed and keeps its payload`);
    if (fixed === "" && !ended && state !== "g") found.push(`I1 ${id} has an empty payload and no end`);
  }
  const countedGhosts = counted(tasks, "~ghosts", "~dropped");
  if (ghosts !== countedGhosts) found.push(`I1 ${countedGhosts} ghosts are counted, ${ghosts} are there`);
  const others = [groupViolations, lineViolations, workerViolations, timerViolations, scheduleViolations];
  return [...found, ...others.flatMap((violationsOf) => violationsOf(space))];
}

/** The numbers that a group's state should have, by the places of its tasks. */
interface GroupNumbers {
  working: number;
  held: number;
  /** In `fair`, by priority. */
  ready: Record<string, number>;
}

function groupViolations({ fair, fairByGroup, limited, working, delayed, tasks }: QueueSpace): string[] {
  const found: string[] = [];
  const actual = new Map<string, GroupNumbers>();
  const records = new Map<string, ReturnType<typeof says>>();
  const fixed = (id: string) => {
    const known = records.get(id) ?? says(tasks.get(id)?.replace(/^[12];\d*/, "1;;;;;;;;;"));
    records.set(id, known);
    return known;
  };
  const numbers = (id: string) => {
    const group = fixed(id)["G"] ?? "";
    const known = actual.get(group) ?? { working: 0, held: 0, ready: {} };
    actual.set(group, known);
    return known;
  };
  const hasOrder = tasks.get("~set")?.startsWith("2;") ?? false;
  for (const [id, score] of fair) {
    const band = String(9 - Math.floor(score / 2 ** 49));
    // Of a queue with an order, tasks of groups that were in line have no priority.
    const mayHaveNone = hasOrder && band === "0" && fixed(id)["G"] !== undefined;
    if (band !== (fixed(id)["P"] ?? "0") && !mayHaveNone)
      found.push(`I1 ${id} is in fair among priority ${band}`);
    const ready = numbers(id).ready;
    ready[band] = (ready[band] ?? 0) + 1;
  }
  const turns = new Set(
    Array.from(fair, ([id, score]) => `${fixed(id)["G"] ?? ""} ${String(score).padStart(16, "0")} ${id}`),
  );
  for (const turn of turns) if (fairByGroup.get(turn) !== 0) found.push(`I1 fair-by-group lacks ${turn}`);
  for (const turn of fairByGroup.keys()) {
    if (!turns.has(turn) && !turn.startsWith("~"))
      found.push(`I1 fair-by-group has ${turn}, which does not match fair`);
  }
  for (const [id, place] of limited) if (!isInLine(place)) numbers(id).held++;
  for (const id of working.keys()) {
    if (fixed(id)["G"] !== undefined || fixed(id)["P"] !== undefined) numbers(id).working++;
  }
  for (const [id, due] of delayed) {
    const grouped = fixed(id)["G"] !== undefined || fixed(id)["P"] !== undefined;
    if (!id.startsWith("~") && grouped !== due % 1 > 0)
      found.push(`I6 ${id} is delayed ${grouped ? "without" : "with"} the mark of fair`);
  }

  const reported = new Map<string, GroupNumbers>();
  for (const [field, text] of tasks) {
    if (!field.startsWith("~g:")) continue;
    const numbersOf: GroupNumbers = { working: 0, held: 0, ready: {} };
    for (const part of text.split(";").slice(1)) {
      const [name = "", value = ""] = part.split("=");
      if (name === "w") numbersOf.working = Number(value);
      if (name === "h") numbersOf.held = Number(value);
      if (/^\d$/.test(name) && !/^\d+,[1-9]\d*(?:,\d+)?$/.test(value))
        found.push(`I1 group ${field.slice(3)} says ${part}`);
      if (/^\d$/.test(name)) numbersOf.ready[name] = Number(value.split(",")[1]);
    }
    if (numbersOf.working + numbersOf.held + Object.keys(numbersOf.ready).length > 0)
      reported.set(field.slice(3), numbersOf);
  }
  for (const group of new Set([...actual.keys(), ...reported.keys()])) {
    const is = JSON.stringify(actual.get(group) ?? "nothing");
    const says = JSON.stringify(reported.get(group) ?? "nothing");
    if (is !== says) found.push(`I1 group "${group}" has ${is} and says ${says}`);
  }

  const times = says(tasks.get("~fair")?.replace(/^1/, "1;;;;;;;;;"));
  if (fair.size + limited.size > 0 !== tasks.has("~fair") && !tasks.has("~fair"))
    found.push("I1 groups are in use and ~fair is missing");
  if (Number(times["h"] ?? 0) !== limited.size)
    found.push(`I1 ${limited.size} are held and ~fair says ${times["h"] ?? 0}`);
  return found;
}

/** `worker-leases` has exactly the leases that workers have, and each registered worker has its record. */
function workerViolations({ working, workers, workerLeases, tasks, expiry }: QueueSpace): string[] {
  const found: string[] = [];
  const held = new Set<string>();
  for (const id of working.keys()) {
    const { W: worker, n: lease = "" } = says(tasks.get(`.${id}`));
    if (worker !== undefined) held.add(`${worker} ${lease.padStart(15, "0")} ${id}`);
  }
  for (const member of held) if (!workerLeases.has(member)) found.push(`I2 worker-leases lacks ${member}`);
  for (const [member, score] of workerLeases) {
    if (!held.has(member)) found.push(`I2 worker-leases has ${member}, which is no current lease`);
    if (score !== 0) found.push(`I2 worker-leases has ${member} out of order`);
  }
  const nameOf = (worker = "") => worker.split(" ")[0];
  const names = new Set([...workerLeases.keys()].map(nameOf));
  // A worker that is being failed has no record; nor has a failed one without tasks, until it would be
  // silent.
  const failed = new Set(
    [...tasks.keys()].filter((field) => field.startsWith("~f:")).map((field) => nameOf(field.slice(3))),
  );
  for (const worker of workers.keys()) {
    const name = nameOf(worker);
    if (!tasks.has(`~w:${worker}`) && !names.has(name) && !failed.has(name))
      found.push(`I2 worker "${worker}" is registered without a record`);
  }
  for (const field of tasks.keys()) {
    if (field.startsWith("~w:") && !workers.has(field.slice(3)))
      found.push(`I2 ${field} is the record of no registered worker`);
    if (field.startsWith("~f:") && !expiry.has(field)) found.push(`I7 ${field} is kept for ever`);
  }
  return found;
}

/** Timers are counted, and one wakes up when the next worker is silent. */
function timerViolations({ delayed, workers, tasks }: QueueSpace): string[] {
  const found: string[] = [];
  const timers = [...delayed.keys()].filter((member) => member.startsWith("~"));
  const countedTimers = counted(tasks, "~timers", "~elapsed");
  if (timers.length !== countedTimers)
    found.push(`I6 ${countedTimers} timers are counted, ${timers.length} are there`);
  const alarm = tasks.get("~alarm");
  if ((alarm !== undefined) !== delayed.has("~w"))
    found.push(`I6 the alarm is noted as ${alarm} and set to ${delayed.get("~w")}`);
  const [first, rings] = [Math.min(...workers.values()), delayed.get("~w") ?? Number.POSITIVE_INFINITY];
  if (first < rings)
    found.push(`I6 a worker is silent at ${first}, and nothing looks for it before ${rings}`);
  return found;
}

/** Each schedule has its next occurrence, its record and its task. */
function scheduleViolations({ schedules, timetable }: QueueSpace): string[] {
  const names = new Set([
    ...schedules.keys(),
    ...[...timetable.keys()].map((field) => field.replace(/^\./, "")),
  ]);
  return [...names].flatMap((name) => {
    const kept = [schedules.has(name), timetable.has(name), timetable.has(`.${name}`)];
    return kept.includes(false) ? [`schedule ${name} is kept by half: ${kept.join(", ")}`] : [];
  });
}
