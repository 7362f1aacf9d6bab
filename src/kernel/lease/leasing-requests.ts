import { abortedBySignal } from "../../errors.ts";
import type { SendOptions, Transport } from "../transport.ts";
import { AbortableDequeue, MOST_AFTER_ABORT } from "./abortable-dequeue.ts";

/**
 * The requests of one dequeue that may lease tasks. If the caller aborts the dequeue, those that were sent go on for
 * up to five seconds, and what they have leased is handed back. If a request fails, or its reply comes later, the
 * leases expire.
 */
export class LeasingRequests extends AbortableDequeue {
  /**
   * The requests of several dequeues that share them.
   * @param signal aborts when all of the dequeues have aborted
   */
  shared(signal: AbortSignal | undefined): LeasingRequests {
    return new LeasingRequests({ signal }, this.settle);
  }

  /** A transport for requests that may lease tasks. */
  over(transport: Transport): Pick<Transport, "cluster" | "send"> {
    const send = (commands: Parameters<Transport["send"]>[0]) =>
      this.#request((options) => transport.send(commands, options));
    return { cluster: transport.cluster, send };
  }

  async #request<Reply>(send: (options: SendOptions) => Promise<Reply>): Promise<Reply> {
    const caller = this.caller;
    if (!caller) return send({ signal: this.options.signal });
    if (caller.aborted) throw abortedBySignal(this.isSent);
    this.isSent = true;
    const end = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onAbort = () => (timer = setTimeout(() => end.abort(), MOST_AFTER_ABORT));
    caller.addEventListener("abort", onAbort);
    try {
      return await send({ signal: end.signal });
    } finally {
      caller.removeEventListener("abort", onAbort);
      clearTimeout(timer);
    }
  }
}
