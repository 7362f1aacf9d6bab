import { SluiceError } from "../../errors.ts";
import { commandCall, exchange, run } from "../../kernel/call.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { DeepSweepPart, Findings } from "../../sweep/deep-part.ts";
import { NEVER, nextOccurrence, orUnsupported, readPlan, type Plan } from "./schedule-record.ts";
import { putScheduleScript, scheduleNotReturned, setReminderScript } from "./schedule-scripts.ts";
import type { PlainCommand, Reply, SendOptions } from "../../kernel/transport.ts";

/** How much one command reads. A page of the hash is smaller, because its fields hold whole tasks. */
const PAGE_SIZE = { ZSCAN: "1000", HSCAN: "16" };

/** Repairs the schedules of queues, which are at the place 0. */
export const schedulesRepair: DeepSweepPart = {
  async repair(shard, checked, findings, options) {
    if (shard.place !== 0 || checked?.hasSchedules === false) return;
    await new ScheduleRepair(shard, options, findings).repair(checked?.valid === true);
  },
};

/**
 * Repairs the schedules of a queue for the deep sweep. Each schedule needs its record, its task and its next
 * occurrence, and the queue a reminder in the registry.
 */
class ScheduleRepair {
  readonly #shard: Shard;
  readonly #options: SendOptions;
  readonly #findings: Findings;

  constructor(shard: Shard, options: SendOptions, findings: Findings) {
    this.#shard = shard;
    this.#options = options;
    this.#findings = findings;
  }

  /**
   * @param hasSchedules true if the queue is known to have schedules; otherwise one command checks
   * @throws {SluiceError} `newer_schema` if a newer release wrote one of them; at the end `unsupported`, if
   *   this runtime cannot compute when one occurs. That schedule stays as it is
   */
  async repair(hasSchedules: boolean): Promise<void> {
    const { schedules, timetable } = this.#shard.keys;
    if (!hasSchedules && (await this.#send(["EXISTS", schedules, timetable])) === 0) return;
    const members = await this.#scan(["ZSCAN", schedules]);
    const fields = await this.#scan(["HSCAN", timetable]);
    // The field of a record is the name behind a dot; the field of a task is the name alone.
    const inTimetable = Array.from(fields.keys(), (field) => field.replace(/^\./, ""));
    const names = new Set([...members.keys(), ...inTimetable]);
    this.#findings.checked(names.size);
    let first = Number.POSITIVE_INFINITY;
    let unsupported: SluiceError | undefined;
    for (const name of names) {
      const plan = readPlanIfValid(fields.get(`.${name}`) ?? "");
      const at = Number(members.get(name) ?? Number.NaN);
      const valid = plan && fields.has(name) && (plan.pausedAt !== undefined ? at === NEVER : isInstant(at));
      try {
        first = Math.min(first, valid ? at : await this.#repairOne(name));
      } catch (error) {
        if (!(error instanceof SluiceError) || error.code !== "unsupported") throw error;
        unsupported = error;
      }
    }
    await this.#remind(first);
    if (unsupported) throw unsupported;
  }

  /**
   * Reads one schedule again, because the queue may have changed during the scan, and repairs it.
   * @returns its next occurrence, epoch ms; infinity if it has none
   */
  async #repairOne(name: string): Promise<number> {
    const { schedules, timetable } = this.#shard.keys;
    const { transport } = this.#shard.queue;
    const args = { token: "", name, was: "?", record: "", task: "", at: "0" };
    const [stored, taskExists, scoreOf] = await exchange(
      transport,
      [
        this.#shard.call(putScheduleScript, args),
        commandCall(["HEXISTS", timetable, name], (reply) => reply === 1),
        commandCall(["ZSCORE", schedules, name], (reply) => reply),
      ],
      this.#options,
    );
    const read = stored();
    if (read.status !== "changed") throw scheduleNotReturned();
    const { record: was, now } = read;
    const [hasTask, score] = [taskExists(), scoreOf()];
    if (was === "" && !hasTask && score === null) return Number.POSITIVE_INFINITY;
    const plan = hasTask ? readPlanIfValid(was) : undefined;
    const at = Number(score ?? Number.NaN);
    const next =
      plan &&
      (plan.pausedAt !== undefined
        ? NEVER
        : isInstant(at)
          ? at
          : orUnsupported(() => nextOccurrence(plan, now)));
    if (next === at) return at;
    this.#findings.found("schedule_broken", name);
    const record = next === undefined ? "" : was;
    const call = this.#shard.call(putScheduleScript, { ...args, was, record, at: String(next ?? 0) });
    await run(transport, call, this.#options);
    return next ?? Number.POSITIVE_INFINITY;
  }

  /** Sets the reminder if it is missing or too late: without one no sweep runs the schedules. */
  async #remind(first: number): Promise<void> {
    if (first === Number.POSITIVE_INFINITY) return;
    const { keys, name: queue } = this.#shard;
    const reminder = await this.#send(["ZSCORE", keys.queues, `~${queue}`]);
    if (reminder !== null && Number(reminder) <= first) return;
    const call = this.#shard.call(setReminderScript, {}, [{ queue, before: "", at: String(first) }]);
    await run(this.#shard.queue.transport, call, this.#options);
  }

  async #send(command: PlainCommand): Promise<Reply> {
    const call = commandCall(command, (reply) => reply);
    return run(this.#shard.queue.transport, call, this.#options);
  }

  /** Reads a whole hash or zset, page by page. Values of tasks are left out. */
  async #scan([command, key]: readonly ["ZSCAN" | "HSCAN", string]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    let cursor = "0";
    do {
      const page = (await this.#send([command, key, cursor, "COUNT", PAGE_SIZE[command]])) as readonly [
        string,
        readonly string[],
      ];
      for (let i = 0; i < page[1].length; i += 2) {
        const [member = "", value = ""] = page[1].slice(i, i + 2);
        const isTask = command === "HSCAN" && !member.startsWith(".");
        found.set(member, isTask ? "" : value);
      }
      cursor = page[0];
    } while (cursor !== "0");
    return found;
  }
}

const isInstant = (at: number) => Number.isInteger(at) && at > 0 && at < NEVER;

/**
 * The plan in a record; undefined if the record is invalid.
 * @throws {SluiceError} `newer_schema`
 */
function readPlanIfValid(record: string): Plan | undefined {
  try {
    return readPlan(record);
  } catch (error) {
    if (error instanceof SluiceError && error.code === "unexpected_reply") return undefined;
    throw error;
  }
}
