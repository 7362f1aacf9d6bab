import type { DatabaseDiagnostics } from "../../operate/diagnostics.ts";
import { span } from "../../kernel/options/span.ts";
import { type Finding, ok, problem, unknown, warning } from "./finding.ts";

/** A round trip to Redis above this is worth a word, ms. */
const SLOW = 200;

/** A difference of clocks above this makes the times that this machine shows misleading, ms. */
const SKEW = 5_000;

/**
 * What the state of Redis means.
 * @param options.mayReadAll false if the caller's token may not read Redis's settings, because it is not for all queues
 */
export function databaseFindings(
  state: DatabaseDiagnostics,
  localNow: number,
  { mayReadAll = true } = {},
): Finding[] {
  const settings = mayReadAll
    ? [version(state), eviction(state), memory(state), durability(state)]
    : [unknown("settings of Redis", "not shown", "use a token with the scope view for all queues (*)")];
  return [connection(state), ...settings, clock(state, localNow)];
}

function connection({ roundTrip }: DatabaseDiagnostics): Finding {
  const found = `scripts run; ${roundTrip} ms a call`;
  if (roundTrip <= SLOW) return ok("Redis", found);
  return warning("Redis", found, "deploy the functions in the region of the database");
}

function version({ version }: DatabaseDiagnostics): Finding {
  if (version === null) return unknown("version", "Redis does not report it");
  if (Number.parseInt(version, 10) >= 7) return ok("version", version);
  return problem("version", version, "Sluice needs Redis 7.0 or later");
}

function eviction({ evictionPolicy }: DatabaseDiagnostics): Finding {
  const about = "eviction";
  if (evictionPolicy === "noeviction") return ok(about, "off (noeviction)");
  if (evictionPolicy === null)
    return unknown(
      about,
      "Redis does not report it",
      "on Upstash, check in the console that Eviction is off",
    );
  const advice = "a full Redis may delete whole queues. Set maxmemory-policy noeviction";
  return problem(about, evictionPolicy, advice);
}

function memory({ usedMemory, maxMemory }: DatabaseDiagnostics): Finding {
  const about = "memory";
  if (usedMemory === null) return unknown(about, "Redis does not report it");
  const used = `${Math.ceil(usedMemory / 1e6)} MB used`;
  if (!maxMemory) return ok(about, used);
  const found = `${used} of ${Math.round(maxMemory / 1e6)} MB`;
  if (usedMemory < 0.8 * maxMemory) return ok(about, found);
  const advice =
    "a full Redis refuses tasks (queue_full). Purge completed tasks and dead letters, or take a larger one";
  return usedMemory < 0.95 * maxMemory ? warning(about, found, advice) : problem(about, found, advice);
}

function durability({ appendOnly }: DatabaseDiagnostics): Finding {
  const about = "durability";
  if (appendOnly === null) return unknown(about, "Redis does not report it");
  if (appendOnly) return ok(about, "append-only file");
  return warning(about, "no append-only file", "a restart of Redis loses tasks. Set appendonly yes");
}

function clock({ now }: DatabaseDiagnostics, localNow: number): Finding {
  const skew = localNow - now;
  const about = "clock";
  if (Math.abs(skew) <= SKEW) return ok(about, "this machine and Redis agree");
  const found = `this machine is ${span(Math.abs(skew))} ${skew > 0 ? "ahead of" : "behind"} Redis`;
  return warning(about, found, "Redis's time decides. The times that sluice shows here are Redis's too");
}
