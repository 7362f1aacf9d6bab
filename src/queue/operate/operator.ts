import { callOf } from "../redis/binding.ts";
import { onlyOptions, recordName, REQUEST_OPTIONS, trueOrFalse } from "../core/validation.ts";
import {
  configureScript,
  deleteQueueScript,
  settingsScript,
  statisticsScript,
} from "../redis/operate-scripts.ts";
import { lastReply } from "../redis/replies.ts";
import { forgetNote, registration } from "../tasks/registration.ts";
import { unregisterScript } from "../redis/sweep-scripts.ts";
import {
  groupChanges,
  queueChanges,
  readGroupSettings,
  readQueueSettings,
  type Change,
  type GroupChanges,
  type GroupSettings,
  type QueueChanges,
  type QueueSettings,
} from "./settings.ts";
import { readStatistics, type QueueStatistics } from "./statistics.ts";
import type { RequestOptions } from "../core/types.ts";
import { WorkerOperator } from "./worker-operator.ts";

/** A group: its settings, and how many of its tasks may be dequeued, are worked on, and wait for its limits. */
export interface GroupInfo extends GroupSettings {
  readonly queue: string;
  readonly group: string;
  readonly ready: number;
  readonly working: number;
  readonly held: number;
}

/** `still_working`: so many tasks are working, and nothing was deleted. */
export type QueueDeleted =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: "still_working"; readonly working: number };

/**
 * Operates a queue. Settings stand in Redis, so every instance heeds them: pause and limits at its next request;
 * what concerns a lone enqueue, `maxPending`, `events` and `statistics`, within a minute.
 */
export class Operator extends WorkerOperator {
  /**
   * Makes every dequeue give nothing until {@link resume}. Holders settle as before, and all else goes on.
   * @throws {SluiceError}
   */
  async pause(options: RequestOptions = {}): Promise<QueueSettings> {
    return this.#setQueue([{ letter: "p", value: "1" }], options);
  }

  /** @throws {SluiceError} */
  async resume(options: RequestOptions = {}): Promise<QueueSettings> {
    return this.#setQueue([{ letter: "p", value: "" }], options);
  }

  /**
   * Changes settings of the queue; null unsets one, and an absent one stays as it is. Limits hold from the next
   * dequeue on; a limit below what is working waits until enough have ended. Other instances' producers heed
   * `maxPending`, `events` and `statistics` within a minute.
   * @returns the settings as they now are
   * @throws {SluiceError} `invalid_argument`, with nothing changed
   */
  async configure(changes: QueueChanges, options: RequestOptions = {}): Promise<QueueSettings> {
    return this.#setQueue(queueChanges(changes), options);
  }

  /**
   * Changes settings of a group; null unsets one, and an absent one stays as it is. What a limit held back goes on
   * where it is loosened: a hundred tasks at once, the rest with the next dequeues or sweeps.
   * @param name of the group, named like an id
   * @returns the settings as they now are
   * @throws {SluiceError} `invalid_argument`, with nothing changed
   */
  async configureGroup(
    name: string,
    changes: GroupChanges,
    options: RequestOptions = {},
  ): Promise<GroupSettings> {
    const args = {
      testNow: this.testNow(),
      token: await this.token("configure", options),
      group: recordName(name, "group"),
    };
    return readGroupSettings(await this.run(configureScript, args, groupChanges(changes), options));
  }

  /** @throws {SluiceError} */
  async settings(options: RequestOptions = {}): Promise<QueueSettings> {
    return readQueueSettings((await this.run(settingsScript, { group: "" }, [], options)).letters);
  }

  /**
   * The settings of a group, and how many tasks it has where.
   * @throws {SluiceError}
   */
  async groupSettings(name: string, options: RequestOptions = {}): Promise<GroupInfo> {
    const { letters, numbers } = await this.run(
      settingsScript,
      { group: recordName(name, "group") },
      [],
      options,
    );
    return { queue: this.name, group: name, ...readGroupSettings(letters), ...numbers };
  }

  /**
   * What happened in the last hour, by the minute, and what to scale by.
   * @throws {SluiceError}
   */
  async statistics(options: RequestOptions = {}): Promise<QueueStatistics> {
    const found = await this.run(statisticsScript, { testNow: this.testNow() }, [], options);
    return readStatistics(this.name, found);
  }

  /**
   * Deletes the queue: tasks, dead letters, results, settings, and its place among the registered queues. Refused
   * while tasks are working; with `force` their holders are told `lease_lost`. An enqueue begins the queue anew;
   * other producers' instances may take a minute to register it again. Two requests.
   * @param options.force deletes even where tasks are working. @default false
   * @throws {SluiceError}
   */
  async deleteQueue(
    options: RequestOptions & { readonly force?: boolean | undefined } = {},
  ): Promise<QueueDeleted> {
    onlyOptions(options, ["force", ...REQUEST_OPTIONS]);
    const args = {
      testNow: this.testNow(),
      token: await this.token("delete", options),
      force: trueOrFalse(options.force ?? false, "force") ? "1" : "",
    };
    const { deletedAt, working } = await this.run(deleteQueueScript, args, [], options);
    if (working !== undefined) return { ok: false, code: "still_working", working };
    // A request of its own, for where the first is refused the queue must stay registered, or no sweep would come.
    await this.run(unregisterScript, { since: String(deletedAt) }, [{ queue: this.name }], options);
    forgetNote(this.transport, this.keys);
    return { ok: true };
  }

  async #setQueue(changes: readonly Change[], options: RequestOptions): Promise<QueueSettings> {
    // A queue that is set before its first task is listed, and this instance's producers heed it at once.
    const note = registration(this.transport, this.keys, this.name, this.testNow());
    const args = { testNow: this.testNow(), token: await this.token("configure", options), group: "" };
    const call = callOf(configureScript, this.keys, args, changes);
    const outcomes = await this.transport.send([...note.commands, call], options);
    const letters = configureScript.decode(lastReply(outcomes));
    const look = ["b", "e", "s"].some((letter) => letters.has(letter));
    if (outcomes[0] && "reply" in outcomes[0]) note.done(look);
    return readQueueSettings(letters);
  }
}
