import * as alerts from "../../src/features/alerts/alert-scripts.ts";
import type { Binding } from "../../src/kernel/scripts/binding.ts";
import * as cancel from "../../src/kernel/scripts/cancel-script.ts";
import * as count from "../../src/kernel/scripts/count-script.ts";
import * as debounce from "../../src/features/debounce/debounce-scripts.ts";
import * as endpoints from "../../src/features/endpoints/endpoint-scripts.ts";
import * as enqueuePlain from "../../src/kernel/scripts/enqueue-plain-script.ts";
import * as enqueue from "../../src/kernel/scripts/enqueue-script.ts";
import * as handOver from "../../src/features/hand-over/hand-over-script.ts";
import * as flows from "../../src/features/flows/before-script.ts";
import * as get from "../../src/kernel/scripts/get-script.ts";
import * as examine from "../../src/operate/health/examine-script.ts";
import * as holds from "../../src/kernel/linked/hold-scripts.ts";
import * as links from "../../src/kernel/linked/link-scripts.ts";
import * as order from "../../src/features/order/order-scripts.ts";
import * as operate from "../../src/operate/operate-scripts.ts";
import * as records from "../../src/operate/put-records.ts";
import * as pause from "../../src/kernel/scripts/pause-script.ts";
import * as partitions from "../../src/features/partitions/partition-scripts.ts";
import * as repair from "../../src/features/repair/repair-scripts.ts";
import * as schedules from "../../src/features/schedules/schedule-scripts.ts";
import * as settings from "../../src/kernel/scripts/settings-scripts.ts";
import * as sweep from "../../src/kernel/scripts/sweep-scripts.ts";
import * as qstash from "../../src/qstash/flow-control/script.ts";
import * as take from "../../src/kernel/scripts/take-scripts.ts";
import * as topics from "../../src/features/topics/topic-scripts.ts";
import * as turns from "../../src/features/partitions/turn-scripts.ts";
import * as unregister from "../../src/kernel/scripts/unregister-scripts.ts";
import * as upkeep from "../../src/features/partitions/upkeep-scripts.ts";
import * as heartbeat from "../../src/kernel/scripts/heartbeat-script.ts";
import * as wake from "../../src/kernel/scripts/wake-script.ts";
import * as waking from "../../src/kernel/scripts/enqueue-and-wake-script.ts";

/** All scripts, as they are bound to TypeScript. */
export const bindings: readonly Binding[] = [
  alerts,
  cancel,
  count,
  debounce,
  endpoints,
  enqueue,
  enqueuePlain,
  examine,
  flows,
  get,
  handOver,
  holds,
  links,
  operate,
  order,
  partitions,
  pause,
  qstash,
  records,
  repair,
  schedules,
  settings,
  sweep,
  take,
  heartbeat,
  wake,
  waking,
  topics,
  turns,
  unregister,
  upkeep,
]
  .flatMap((table) => Object.values<unknown>(table))
  .filter((value): value is Binding => typeof value === "object");

/** All scripts. */
export const scripts = bindings.map(({ script }) => script);
