import * as alerts from "../../src/queue/redis/alert-scripts.ts";
import type { Binding } from "../../src/queue/redis/binding.ts";
import * as cancel from "../../src/queue/redis/cancel-script.ts";
import * as count from "../../src/queue/redis/count-script.ts";
import * as enqueuePlain from "../../src/queue/redis/enqueue-plain-script.ts";
import * as enqueue from "../../src/queue/redis/enqueue-script.ts";
import * as get from "../../src/queue/redis/get-script.ts";
import * as operate from "../../src/queue/redis/operate-scripts.ts";
import * as partitions from "../../src/queue/redis/partition-scripts.ts";
import * as repair from "../../src/queue/redis/repair-scripts.ts";
import * as schedules from "../../src/queue/redis/schedule-scripts.ts";
import * as settings from "../../src/queue/redis/settings-scripts.ts";
import * as sweep from "../../src/queue/redis/sweep-scripts.ts";
import * as take from "../../src/queue/redis/take-scripts.ts";
import * as turns from "../../src/queue/redis/turn-scripts.ts";
import * as upkeep from "../../src/queue/redis/upkeep-scripts.ts";
import * as heartbeat from "../../src/queue/redis/heartbeat-script.ts";
import * as wake from "../../src/queue/redis/wake-script.ts";

/** All scripts, as they are bound to TypeScript. */
export const bindings: readonly Binding[] = [
  alerts,
  cancel,
  count,
  enqueue,
  enqueuePlain,
  get,
  operate,
  partitions,
  repair,
  schedules,
  settings,
  sweep,
  take,
  heartbeat,
  wake,
  turns,
  upkeep,
]
  .flatMap((table) => Object.values<unknown>(table))
  .filter((value): value is Binding => typeof value === "object");

/** All scripts. */
export const scripts = bindings.map(({ script }) => script);
