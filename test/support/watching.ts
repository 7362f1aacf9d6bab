import { vi } from "vitest";
import { SluiceError, type TaskEvent, type Transport } from "../../src/index.ts";
import type { CommandOutcome } from "../../src/kernel/transport.ts";
import type { Rig } from "./rig.ts";

/** Collects all events in their order. */
export function listen(events: AsyncIterable<TaskEvent>) {
  const reported: TaskEvent[] = [];
  const ended = (async () => {
    for await (const event of events) reported.push(event);
  })();
  const until = (count: number) =>
    vi.waitUntil(() => reported.length >= count, { timeout: 20_000, interval: 5 }).then(() => reported);
  return { reported, ended, until };
}

export async function all(events: AsyncIterable<TaskEvent>): Promise<TaskEvent[]> {
  const { reported, ended } = listen(events);
  await ended;
  return reported;
}

/** A watch that reads only when the test asks for the next event. */
export function stepwise(events: AsyncIterable<TaskEvent>) {
  const iterator = events[Symbol.asyncIterator]();
  return {
    next: async () => (await iterator.next()).value as TaskEvent | undefined,
    rest: () => all({ [Symbol.asyncIterator]: () => iterator }),
  };
}

/** An event in short form, such as `2 working`. */
export const short = (event: TaskEvent) => {
  if (event.event === "gone") return "gone";
  if (event.event === "gap") return `${event.version} gap of ${event.missed}`;
  if (event.event === "progress") return `${event.version} progress ${JSON.stringify(event.progress)}`;
  return `${event.version} ${event.to}${event.event === "end" ? ", the end" : ""}`;
};

/** A queue that counts its requests, and can repeat an older answer. */
export function counted(rig: Rig) {
  let sent = 0;
  let latest: CommandOutcome[] = [];
  let stale: { answer: CommandOutcome[]; times: number; done: () => void } | undefined;
  const isLook = (commands: Parameters<Transport["send"]>[0]) =>
    commands.some((command) => "script" in command && command.script.name === "get");
  const transport: Transport = {
    async send(commands, options) {
      sent++;
      if (!isLook(commands)) return rig.transport.send(commands, options);
      if (stale && stale.times > 0) {
        if (--stale.times === 0) stale.done();
        return stale.answer;
      }
      return (latest = await rig.transport.send(commands, options));
    },
  };
  return {
    queue: rig.queue({ transport }),
    looks: () => sent,
    replay: {
      look: async () => latest,
      give: (answer: CommandOutcome[], times: number) =>
        new Promise<void>((done) => (stale = { answer, times, done })),
    },
  };
}

/** A queue whose Redis accepts requests and never answers. */
export function hanging(rig: Rig) {
  let begun = () => {};
  const looking = new Promise<void>((resolve) => (begun = resolve));
  const transport: Transport = {
    send: (_, { signal } = {}) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(new SluiceError("aborted", "aborted")));
        begun();
      }),
  };
  return { queue: rig.queue({ transport }), looking };
}
