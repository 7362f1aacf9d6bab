import type {
  GroupInfo,
  LeasedTask,
  MinuteCounts,
  PeriodCounts,
  TaskInfo,
  TotalCounts,
  WorkerInfo,
} from "../../../src/index.ts";
import type { ModelBatch } from "./dequeue.ts";
import type { Operation } from "./operations.ts";
import { mayBeOldest, outOfTurn, usesGroups, type WaitingGroup } from "./reads.ts";
import type { World } from "./world.ts";

/** The part of an answer that the model predicts. */
export function predicted(
  { queue, now }: Pick<World, "queue" | "now">,
  operation: Operation,
  answer: unknown,
): unknown {
  const part = answer as Readonly<Record<string, unknown>>;
  switch (operation.does) {
    case "dequeue":
      return batchOf(answer);
    case "settle":
      return operation.pull ? { ...part, tasks: batchOf(part["tasks"]) } : answer;
    case "redrive":
    case "redriveIds":
      return { redriven: part["redriven"], refused: part["refused"] };
    case "purge":
      return { purged: part["purged"] };
    case "sweep": {
      const { queues: _, nextDueAt: __, ...counted } = part;
      return counted;
    }
    case "deepSweep":
    case "deepSweepOn":
      return { faults: part["faults"], failed: part["failed"] };
    case "workers":
      return inOrderOf(
        part["workers"] as WorkerInfo[],
        ({ name, incarnation = "" }) => `${name} ${incarnation}`,
      );
    case "groups":
      return {
        ...part,
        groups: inOrderOf((part["groups"] as GroupInfo[]).map(waitingGroup), ({ group }) => group),
      };
    case "statistics":
      return {
        on: part["on"],
        minutes: (part["minutes"] as MinuteCounts[]).flatMap(eventful),
        totals: numbersIn(part["totals"] as TotalCounts),
      };
    case "counts": {
      if (!usesGroups(queue)) return answer;
      return {
        ...part,
        oldestAge: mayBeOldest(queue, now, part["oldestAge"]) || part["oldestAge"],
        nextDueAt: null,
      };
    }
    case "list":
      return outOfTurn(queue, operation) ? inOrderOf(eachOnce(answer as TaskInfo[]), ({ id }) => id) : answer;
    case "listSchedules":
      return inOrderOf(answer as { name: string }[], ({ name }) => name);
    default:
      return answer;
  }
}

const waitingGroup = ({
  group,
  paused,
  pausedUntil,
  weight,
  maxWorking,
  ready,
  working,
  limited,
  inLine,
  stoppedBy,
}: GroupInfo): WaitingGroup => ({
  group,
  paused,
  pausedUntil,
  weight,
  maxWorking,
  waiting: ready + limited + inLine,
  working,
  inLine,
  stoppedBy,
});

function batchOf(answer: unknown) {
  const batch = answer as ModelBatch & readonly LeasedTask[];
  return {
    tasks: batch.map((task) => Object.assign({}, task)),
    nextDueAt: batch.nextDueAt,
    paused: batch.paused,
  };
}

const eachOnce = (tasks: readonly TaskInfo[]) => [...new Map(tasks.map((task) => [task.id, task])).values()];

const inOrderOf = <T>(items: readonly T[], name: (item: T) => string) =>
  items.toSorted((a, b) => (name(a) < name(b) ? -1 : 1));

/** A minute with its numbers, if there were any. */
function eventful({ startsAt, ...counts }: MinuteCounts): [number, Record<string, number>][] {
  const found = numbersIn(counts);
  return Object.keys(found).length > 0 ? [[startsAt, found]] : [];
}

/** The numbers above 0. The model does not know how many calls there were, nor the classes of durations. */
function numbersIn({ waits, runs, calls: _, ...counts }: PeriodCounts): Record<string, number> {
  const durations = { waits, runs };
  const parts = Object.entries(durations).flatMap(([kind, { count, total }]) => [
    [`${kind}.count`, count] as const,
    [`${kind}.total`, total] as const,
  ]);
  const events = Object.entries(counts).filter(([name]) => name !== "since");
  return Object.fromEntries([...events, ...parts].filter(([, count]) => count > 0));
}
