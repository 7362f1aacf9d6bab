import { SluiceError } from "../../errors.ts";
import { callOf } from "../redis/binding.ts";
import type { Findings } from "./deep-pass.ts";
import { QueueBase, type HandleOptions } from "../tasks/queue-base.ts";
import { lastReply, replyAt } from "../redis/replies.ts";
import { NEVER, nextOf, readPlan, tellable, type Plan } from "../schedules/schedule-record.ts";
import { notRead, setReminderScript, putScheduleScript } from "../redis/schedule-scripts.ts";
import type { PlainCommand, Reply, SendOptions } from "../redis/transport.ts";

/** What is read at once: of fields few, for the tasks that recur come along. */
const PAGE = { ZSCAN: "1000", HSCAN: "16" };

/** The deep sweep's part in schedules: each has its record, its task and its next occurrence, and a reminder comes. */
export class ScheduleRepair extends QueueBase {
  readonly #options: SendOptions;
  readonly #findings: Findings;

  constructor(name: string, options: HandleOptions & SendOptions, findings: Findings) {
    super(name, options);
    this.#options = options;
    this.#findings = findings;
  }

  /**
   * @param known true if the queue is known to have schedules; otherwise one command asks
   * @throws {SluiceError} `newer_schema` where a newer release has written one of them; at the end `unsupported`, where
   *   this runtime cannot tell when one occurs: that one stays as it is
   */
  async repair(known: boolean): Promise<void> {
    const { schedules, timetable } = this.keys;
    if (!known && (await this.#ask(["EXISTS", schedules, timetable])) === 0) return;
    const members = await this.#scan(["ZSCAN", schedules]);
    const fields = await this.#scan(["HSCAN", timetable]);
    const own = Array.from(fields.keys(), (field) => field.replace(/^\./, ""));
    const names = new Set([...members.keys(), ...own]);
    this.#findings.looked(names.size);
    let first = Number.POSITIVE_INFINITY;
    let left: SluiceError | undefined;
    for (const name of names) {
      const plan = readable(fields.get(`.${name}`) ?? "");
      const at = Number(members.get(name) ?? Number.NaN);
      const sound = plan && fields.has(name) && (plan.paused ? at === NEVER : isInstant(at));
      try {
        first = Math.min(first, sound ? at : await this.#repairOne(name));
      } catch (error) {
        if (!(error instanceof SluiceError) || error.code !== "unsupported") throw error;
        left = error;
      }
    }
    await this.#remind(first);
    if (left) throw left;
  }

  /** Looks at one once more, for scans go on while the queue does. Returns its next occurrence. */
  async #repairOne(name: string): Promise<number> {
    const { schedules, timetable } = this.keys;
    const args = { testNow: this.testNow(), token: "", name, was: "?", record: "", task: "", at: "0" };
    const outcomes = await this.transport.send(
      [callOf(putScheduleScript, this.keys, args), ["HEXISTS", timetable, name], ["ZSCORE", schedules, name]],
      this.#options,
    );
    const read = putScheduleScript.decode(replyAt(outcomes, 0));
    if (read.status !== "changed") throw notRead();
    const { record: was, now } = read;
    const [hasTask, score] = [replyAt(outcomes, 1) === 1, replyAt(outcomes, 2)];
    if (was === "" && !hasTask && score === null) return Number.POSITIVE_INFINITY;
    const plan = hasTask ? readable(was) : undefined;
    const at = Number(score ?? Number.NaN);
    const next = plan && (plan.paused ? NEVER : isInstant(at) ? at : await tellable(() => nextOf(plan, now)));
    if (next === at) return at;
    this.#findings.found("schedule_broken", name);
    const record = next === undefined ? "" : was;
    await this.run(putScheduleScript, { ...args, was, record, at: String(next ?? 0) }, [], this.#options);
    return next ?? Number.POSITIVE_INFINITY;
  }

  /** Without a reminder nobody would look at the schedules: a failover may have lost it. */
  async #remind(first: number): Promise<void> {
    if (first === Number.POSITIVE_INFINITY) return;
    const reminder = await this.#ask(["ZSCORE", this.keys.queues, `~${this.name}`]);
    if (reminder !== null && Number(reminder) <= first) return;
    const item = { queue: this.name, before: "", at: String(first) };
    await this.run(setReminderScript, { testNow: this.testNow() }, [item], this.#options);
  }

  async #ask(command: PlainCommand): Promise<Reply> {
    return lastReply(await this.transport.send([command], this.#options));
  }

  /** Everything in a hash or a zset, page by page. */
  async #scan([command, key]: readonly ["ZSCAN" | "HSCAN", string]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    let cursor = "0";
    do {
      const page = (await this.#ask([command, key, cursor, "COUNT", PAGE[command]])) as readonly [
        string,
        readonly string[],
      ];
      for (let i = 0; i < page[1].length; i += 2) {
        const [member = "", value = ""] = page[1].slice(i, i + 2);
        // Of a task it counts only that it is there.
        found.set(member, command === "HSCAN" && !member.startsWith(".") ? "" : value);
      }
      cursor = page[0];
    } while (cursor !== "0");
    return found;
  }
}

const isInstant = (at: number) => Number.isInteger(at) && at > 0 && at < NEVER;

/** @throws {SluiceError} `newer_schema` */
function readable(record: string): Plan | undefined {
  try {
    return readPlan(record);
  } catch (error) {
    if (error instanceof SluiceError && error.code === "unexpected_reply") return undefined;
    throw error;
  }
}
