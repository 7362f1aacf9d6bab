import { isPromise } from "../../../kernel/maybe-promise.ts";
import { MAX_BATCH } from "../../../kernel/options/limits.ts";
import { byteLength } from "../../../kernel/record/byte-length.ts";
import type { SettlementArguments, SettleBatch, SettleReply, Store } from "../../../kernel/store.ts";
import type { Shareable } from "./shared-call.ts";

/** Settles the tasks of several calls. */
export function settleTogether(next: Store): Shareable<SettleBatch, SettleReply> {
  return {
    most: MAX_BATCH,
    prepare: (batch) =>
      isPromise(batch.items) ? batch.items.then((items) => ({ ...batch, items })) : undefined,
    // A short text is not counted.
    bytes: (batch) => byteLength(itemsOf(batch)[0]?.text ?? "", 3_000),
    async send(calls, signal) {
      const all = calls.map(({ item }) => item);
      const { settled, after } = await next.settle({
        settlements: all.flatMap(({ settlements }) => settlements),
        items: all.flatMap(itemsOf),
        token: all.find(({ token }) => token !== "")?.token ?? "",
        mayShare: false,
        signal,
      });
      for (const [i, result] of settled.entries()) calls[i]?.answer({ settled: [result], after });
    },
  };
}

/** Those of a batch that is prepared. */
const itemsOf = ({ items }: SettleBatch) => items as readonly SettlementArguments[];
