import { describe, expect, test } from "vitest";
import { SluiceError } from "../../src/index.ts";
import { gather } from "../../src/kernel/gather.ts";
import { registerCall } from "../../src/kernel/note.ts";
import type { Command, CommandOutcome, SendOptions, Transport } from "../../src/kernel/transport.ts";

interface Sent {
  readonly commands: readonly Command[];
  readonly options: SendOptions;
}

/** A transport whose reply to a command is its first argument. */
function recording(answer?: (sent: Sent, n: number) => Promise<CommandOutcome[]> | undefined) {
  const requests: Sent[] = [];
  const send: Transport["send"] = async (commands, options = {}) => {
    const sent = { commands, options };
    requests.push(sent);
    options.onSend?.();
    return (await answer?.(sent, requests.length)) ?? commands.map(echo);
  };
  return { transport: { send } as Transport, requests };
}

const echo = (command: Command): CommandOutcome => ({
  reply: "script" in command ? command.script.name : (command[1] as string),
});
const get = (key: string): Command => ["GET", key];
const replies = (outcomes: readonly CommandOutcome[]) =>
  outcomes.map((outcome) => ("reply" in outcome ? outcome.reply : outcome.error.code));
const sending =
  (...requests: readonly (readonly string[])[]) =>
  async (own: Transport) => {
    const all = [];
    for (const keys of requests) all.push(replies(await own.send(keys.map(get))));
    return all;
  };
const keysOf = ({ commands }: Sent) =>
  commands.map((command) => ("script" in command ? command : command[1]));
const values = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as SluiceError).code));

describe("calls that are gathered", () => {
  test("send what each sends first in one request, and so on", async () => {
    const { transport, requests } = recording();
    const results = await gather<unknown>(transport, [
      sending(["a", "b"], ["c"]),
      sending([]),
      sending(["d"], ["e"], ["f"]),
      async () => ["sends nothing"],
    ]);
    expect(values(results)).toEqual([[["a", "b"], ["c"]], [[]], [["d"], ["e"], ["f"]], ["sends nothing"]]);
    expect(requests.map(keysOf)).toEqual([["a", "b", "d"], ["c", "e"], ["f"]]);
  });

  test("do not wait for a call that fails, or that sends nothing after its last request", async () => {
    const { transport, requests } = recording();
    const failing = async (own: Transport) => {
      await own.send([get("x")]);
      throw new SluiceError("queue_full", "no");
    };
    const results = await gather<unknown>(transport, [failing, sending(["a"], ["b"])]);
    expect(values(results)).toEqual(["queue_full", [["a"], ["b"]]]);
    expect(requests.map(keysOf)).toEqual([["x", "a"], ["b"]]);
  });

  test("do not wait longer than the patience for one that is busy, nor for one that waits for another", async () => {
    const { transport, requests } = recording();
    let done = () => {};
    const first = new Promise<void>((resolve) => (done = resolve));
    const results = await gather<unknown>(
      transport,
      [
        async (own) => {
          const outcomes = await own.send([get("a")]);
          done();
          return replies(outcomes);
        },
        // Waits for what only the other call can bring.
        (own) => first.then(() => sending(["b"])(own)),
      ],
      1,
    );
    expect(values(results)).toEqual([["a"], [["b"]]]);
    expect(requests.map(keysOf)).toEqual([["a"], ["b"]]);
  });

  test("have one note in the registry in front of all, by key, clock and 400 names", async () => {
    const { transport, requests } = recording();
    const noting =
      (queues: string, names: readonly string[], testNow = "") =>
      async (own: Transport) => {
        return replies(await own.send([registerCall({ queues }, names, testNow), get(names[0] as string)]));
      };
    const results = await gather(transport, [
      noting("q", ["a"]),
      noting("q", ["b"]),
      noting("q", ["a"]),
      noting("other", ["c"]),
      noting("q", ["d"], "7"),
    ]);
    expect(values(results)).toEqual(["a", "b", "a", "c", "d"].map((name) => ["register", name]));
    const commands = requests[0]?.commands ?? [];
    expect(commands.slice(0, 3).map((one) => "script" in one && [one.keys, one.args])).toEqual([
      [["q"], ["", "a", "b"]],
      [["other"], ["", "c"]],
      [["q"], ["7", "d"]],
    ]);
    expect(commands.slice(3)).toEqual(["a", "b", "a", "c", "d"].map(get));

    const many = Array.from({ length: 900 }, (_, i) => noting("q", [`q${i}`]));
    await gather(transport, many);
    const notes = (requests[1]?.commands ?? []).filter((one) => "script" in one);
    expect(notes.map(({ args }) => args.length)).toEqual([401, 101]);
  });

  test("are several requests beyond 1,000 commands or 5 MB, and each has its own error", async () => {
    const { transport, requests } = recording(async (_, n) => {
      if (n === 2) throw new SluiceError("redis_unreachable", "lost");
      return undefined as never;
    });
    const keys = Array.from({ length: 400 }, (_, i) => `k${i}`);
    const results = await gather(transport, [sending(keys), sending(keys), sending(keys), sending(["x"])]);
    expect(requests.map(({ commands }) => commands.length)).toEqual([800, 401]);
    expect(values(results)).toEqual([[keys], [keys], "redis_unreachable", "redis_unreachable"]);

    requests.length = 0;
    const large = "ß".repeat(1_000_000);
    await gather(transport, [sending([large]), sending([large]), sending([large])]);
    expect(requests.map(({ commands }) => commands.length)).toEqual([2, 1]);
  });

  test("learn of each copy that the transport sends", async () => {
    const { transport } = recording(async ({ options }) => {
      options.onSend?.();
      return undefined as never;
    });
    const copies = [0, 0];
    await gather(
      transport,
      copies.map((_, i) => (own: Transport) => {
        return own.send([get("a")], { onSend: () => (copies[i] = (copies[i] as number) + 1) });
      }),
    );
    expect(copies).toEqual([2, 2]);
  });

  test("abort alone; the request aborts when all of them have", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { transport } = recording(({ options }) => {
      signals.push(options.signal);
      return new Promise(() => {});
    });
    const [one, two] = [new AbortController(), new AbortController()];
    const call = (signal?: AbortSignal) => (own: Transport) => own.send([get("a")], { signal });
    const running = gather(transport, [call(one.signal), call(two.signal), call(one.signal)]);
    await Promise.resolve();
    one.abort();
    expect(signals[0]?.aborted).toBe(false);
    two.abort();
    expect(signals[0]?.aborted).toBe(true);
    expect(values(await running)).toEqual(["aborted", "aborted", "aborted"]);
    // With a signal of their own, the transport says whether it was sent.
    void gather(transport, [call(one.signal)]);
    void gather(transport, [call(), call()]);
    expect(signals.slice(1)).toEqual([undefined]);
  });

  test("on a cluster, fail by their commands if no node can be reached", async () => {
    const { transport } = recording(async () => {
      throw new SluiceError("redis_unreachable", "lost");
    });
    const results = await gather({ ...transport, cluster: true }, [sending(["a"]), sending(["b", "c"])]);
    expect(values(results)).toEqual([[["redis_unreachable"]], [["redis_unreachable", "redis_unreachable"]]]);
  });

  test("name one database, so that what an instance remembers of it stays", async () => {
    const { transport } = recording();
    const databaseOf = async (of: Transport) => values(await gather(of, [async (own) => own.database]))[0];
    expect(await databaseOf({ ...transport, database: "mine" })).toBe("mine");
    const unnamed = await databaseOf(transport);
    expect(unnamed).toEqual(expect.any(String));
    expect(await databaseOf(transport)).toBe(unnamed);
    expect(await databaseOf({ ...transport })).not.toBe(unnamed);
  });

  test("send what they have left to be done by themselves", async () => {
    const { transport, requests } = recording();
    let later: Transport | undefined;
    await gather<unknown>(transport, [async (own) => void (later = own), sending(["a"])]);
    expect(replies((await later?.send([get("b")])) ?? [])).toEqual(["b"]);
    expect(requests.map(keysOf)).toEqual([["a"], ["b"]]);
  });
});
