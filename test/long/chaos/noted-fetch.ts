import { readShardName } from "../../../src/kernel/names/keys.ts";
import { writeReceipt } from "../../../src/kernel/names/receipt.ts";
import {
  dequeueScript,
  repliesInside,
  settleAndDequeueScript,
  settleScript,
} from "../../../src/kernel/scripts/take-scripts.ts";
import { enqueueAndLeaseScript } from "../../../src/features/hand-over/index.ts";
import { linkedScripts } from "../../../src/lua/linked.gen.ts";
import { keyLocking, type Reply } from "../../../src/kernel/transport.ts";
import { readSettled } from "../../../src/kernel/lease/settlements.ts";
import type { Ledger } from "./ledger.ts";
import type { RunProcess } from "./run-process.ts";

const bindings = [dequeueScript, settleScript, settleAndDequeueScript, enqueueAndLeaseScript] as const;
/** By each form in which a request names a script: its hash, or its text; in both editions. */
const byName = new Map(
  await Promise.all(
    bindings.map(async (binding) => {
      const other = await linkedScripts[binding.script.name]?.();
      return [binding.script, ...(other ? [other] : [])].flatMap(({ source, sha1, keyLockingSha1 }) =>
        [sha1, keyLockingSha1, source, keyLocking + source].map((name) => [name, binding] as const),
      );
    }),
  ).then((pairs) => pairs.flat()),
);

/**
 * Writes down what a deployment in this process pulls and settles: each call of such a script before its request is
 * sent, and the answer before the deployment gets it.
 */
export function noteFetch({ env, ledger }: RunProcess): void {
  const send = globalThis.fetch;
  const notes = new CallNotes(ledger);
  globalThis.fetch = async (to, init) => {
    const url = to instanceof Request ? to.url : String(to);
    if (url !== `${env.CHAOS_GATEWAY}/pipeline`) return send(to, init);
    const calls = (JSON.parse(init?.body as string) as string[][]).map((words) => notes.ask(words));
    const end = (results: readonly Result[] | undefined) => {
      for (const [i, call] of calls.entries()) if (call) notes.end(call, results?.[i]);
    };
    let response: Response;
    let text: string;
    try {
      response = await send(to, init);
      text = await response.text();
    } catch (error) {
      end(undefined);
      throw error;
    }
    end(response.ok ? resultsIn(text) : undefined);
    const { status, headers } = response;
    return new Response(text, { status, headers });
  };
}

/** Redis's answer to one command. It has an error in place of a result if the command has done nothing. */
interface Result {
  readonly result?: Reply;
}

function resultsIn(text: string): readonly Result[] | undefined {
  try {
    return JSON.parse(text) as readonly Result[];
  } catch {
    // It was cut.
    return undefined;
  }
}

/** A call of a script that pulls or settles, or leases what it enqueues. */
interface Call {
  readonly number: number;
  readonly binding: (typeof bindings)[number];
  readonly queue: string;
  readonly place: number;
  /** Of its settlements. */
  readonly receipts: readonly string[];
  /** Of the leases that it takes. */
  readonly token: string;
  /** The tasks that it enqueues. */
  readonly ids: readonly string[];
}

/** A task that a call has leased. */
interface Given {
  readonly id: string;
  readonly delivery: number | string;
  readonly lease: number;
}

/** What a process writes down of its calls. */
class CallNotes {
  readonly #ledger: Ledger;
  /** By queue, place and lease: all that this process was given. */
  readonly #receipts = new Map<string, string>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** @returns undefined if the command neither pulls nor settles */
  ask([name = "", script = "", keys = "0", ...words]: readonly string[]): Call | undefined {
    const binding = /^eval/i.test(name) ? byName.get(script) : undefined;
    if (!binding) return undefined;
    const { queue, place } = readShardName(/\{(.*)\}/.exec(words[0] ?? "")?.[1] ?? "");
    const args = words.slice(Number(keys));
    const token = args[(binding.args as readonly string[]).indexOf("token")] ?? "";
    const settle: (readonly [receipt: string, outcome: string])[] = [];
    const ids: string[] = [];
    const size = "each" in binding ? binding.each.length : Infinity;
    for (let i = binding.args.length; i < args.length; i += size) {
      const [id = "", proof = "", terms = ""] = args.slice(i, i + size);
      if (binding === enqueueAndLeaseScript) {
        ids.push(id);
        continue;
      }
      const receipt = this.#receipts.get(`${queue}/${place} ${proof.split(",")[0]}`);
      if (receipt === undefined)
        this.#ledger.write({
          what: "broken",
          error: `it settles ${id}, and was not given the lease ${proof}`,
        });
      else settle.push([receipt, terms.split(" ")[0] ?? ""]);
    }
    const number = this.#ledger.nextCall();
    this.#ledger.write({
      what: "ask",
      call: number,
      queue,
      settle,
      pull: binding !== settleScript,
      wait: false,
      handOver: binding === enqueueAndLeaseScript,
    });
    return { number, binding, queue, place, receipts: settle.map(([receipt]) => receipt), token, ids };
  }

  /** @param answer undefined if the call got none */
  end(call: Call, answer: Result | undefined): void {
    const { number, receipts, binding } = call;
    if (answer === undefined) {
      this.#ledger.write({ what: "failed", call: number, code: "unreachable" });
      return;
    }
    if (binding === enqueueAndLeaseScript) {
      const leased = answer.result === undefined ? undefined : binding.decode(answer.result)?.leased;
      const given = call.ids.map((id, i) => ({ id, delivery: 1, lease: leased?.leases[2 * i] ?? 0 }));
      const received = leased ? this.#given(call, given) : [];
      this.#ledger.write({ what: "answer", call: number, settled: [], receipts: received });
      return;
    }
    const [settled, dequeued] = answer.result === undefined ? [] : repliesTo(call, answer.result);
    const results = readSettled(
      receipts.map((receipt) => ({ receipt })),
      settled === undefined ? [] : settleScript.decode(settled),
    );
    this.#ledger.write({
      what: "answer",
      call: number,
      settled: results.map((one) => (one.ok ? one.state : `!${one.code}`)),
      receipts: dequeued === undefined ? [] : this.#given(call, dequeueScript.decode(dequeued).tasks),
    });
  }

  #given({ queue, place, token }: Call, tasks: readonly Given[]): string[] {
    return tasks.map(({ id, delivery, lease }) => {
      const receipt = writeReceipt({ id, delivery, lease, token, place });
      this.#receipts.set(`${queue}/${place} ${lease}`, receipt);
      return receipt;
    });
  }
}

function repliesTo(
  { binding }: Call,
  reply: Reply,
): readonly [settled?: Reply | undefined, dequeued?: Reply] {
  if (binding === settleAndDequeueScript) return repliesInside(reply);
  return binding === settleScript ? [reply] : [undefined, reply];
}
