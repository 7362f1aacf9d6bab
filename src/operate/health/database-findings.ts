import { span } from "../../kernel/options/span.ts";
import type { DatabaseDiagnostics } from "../diagnostics.ts";
import type { DatabaseCode } from "./codes.ts";
import { type Finding, finding } from "./finding.ts";

type DatabaseFinding = Finding<DatabaseCode>;

/** A round trip to Redis above this is worth a word, ms. */
const SLOW = 200;

/** A difference of clocks above this makes the times that a machine shows misleading, ms. */
const SKEW = 5_000;

/** What the settings of Redis mean, and how it answers. */
export function databaseFindings(state: DatabaseDiagnostics): DatabaseFinding[] {
  return [connectionFinding(state), version(state), eviction(state), memory(state), durability(state)];
}

/** How Redis answers. */
export function connectionFinding({ roundTrip }: Pick<DatabaseDiagnostics, "roundTrip">): DatabaseFinding {
  const found = `scripts run; ${roundTrip} ms a call`;
  if (roundTrip <= SLOW) return finding("ok", "redis_slow", "Redis", found);
  const advice = "deploy the functions in the region of the database";
  return finding("warning", "redis_slow", "Redis", found, advice);
}

function version({ version }: DatabaseDiagnostics): DatabaseFinding {
  const of = ["version_unsupported", "version"] as const;
  if (version === null) return finding("unknown", ...of, "Redis does not report it");
  if (Number.parseInt(version, 10) >= 7) return finding("ok", ...of, version);
  return finding("problem", ...of, version, "Sluice needs Redis 7.0 or later");
}

function eviction({ evictionPolicy }: DatabaseDiagnostics): DatabaseFinding {
  const of = ["eviction_on", "eviction"] as const;
  if (evictionPolicy === "noeviction") return finding("ok", ...of, "off (noeviction)");
  if (evictionPolicy === null) {
    const advice = "on Upstash, check in the console that Eviction is off";
    return finding("unknown", ...of, "Redis does not report it", advice);
  }
  const advice = "a full Redis may delete whole queues. Set maxmemory-policy noeviction";
  return finding("problem", ...of, evictionPolicy, advice);
}

function memory({ usedMemory, maxMemory }: DatabaseDiagnostics): DatabaseFinding {
  const of = ["database_nearly_full", "memory"] as const;
  if (usedMemory === null) return finding("unknown", ...of, "Redis does not report it");
  const used = `${Math.ceil(usedMemory / 1e6)} MB used`;
  if (!maxMemory) return finding("ok", ...of, used);
  const found = `${used} of ${Math.round(maxMemory / 1e6)} MB`;
  if (usedMemory < 0.8 * maxMemory) return finding("ok", ...of, found);
  const advice =
    "a full Redis refuses tasks (queue_full). Purge completed tasks and dead letters, or take a larger one";
  return finding(usedMemory < 0.95 * maxMemory ? "warning" : "problem", ...of, found, advice);
}

function durability({ appendOnly }: DatabaseDiagnostics): DatabaseFinding {
  const of = ["not_durable", "durability"] as const;
  if (appendOnly === null) return finding("unknown", ...of, "Redis does not report it");
  if (appendOnly) return finding("ok", ...of, "append-only file");
  return finding(
    "warning",
    ...of,
    "no append-only file",
    "a restart of Redis loses tasks. Set appendonly yes",
  );
}

/**
 * Whether a clock agrees with Redis's.
 * @param now Redis's time, epoch ms
 * @param own the time of `whose` clock, epoch ms
 * @param whose such as `this machine`
 */
export function clockFinding(now: number, own: number, whose: string): DatabaseFinding {
  const of = ["clock_off", "clock"] as const;
  const skew = own - now;
  if (Math.abs(skew) <= SKEW) return finding("ok", ...of, `${whose} and Redis agree`);
  const found = `${whose} is ${span(Math.abs(skew))} ${skew > 0 ? "ahead of" : "behind"} Redis`;
  const advice =
    "set its clock by NTP. Leases, delays and schedules follow Redis's clock; times that a program computes itself, such as `at`, do not";
  return finding("warning", ...of, found, advice);
}
