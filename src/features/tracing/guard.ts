import { type Context, context } from "@opentelemetry/api";
import { messageOf } from "../../errors.ts";
import { type Log, toConsole } from "../../log/logger.ts";

/** Keeps failures of OpenTelemetry away from the queue. The first one is logged. */
export class Guard {
  /** That of the deployment. */
  log: Log = toConsole;
  #hasReported = false;

  /** Returns undefined if the work fails. */
  try<R>(work: () => R): R | undefined {
    try {
      return work();
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  /** Runs work of the queue once, in the context if that is possible. Throws only what the work throws. */
  within<R>(active: Context, work: () => R): R {
    type Result = { readonly value: R } | { readonly error: unknown };
    let ended: Result | undefined;
    const run = (): Result => {
      try {
        return (ended = { value: work() });
      } catch (error) {
        return (ended = { error });
      }
    };
    this.try(() => context.with(active, run));
    const result = ended ?? run();
    if ("error" in result) throw result.error;
    return result.value;
  }

  #report(error: unknown): void {
    if (this.#hasReported) return;
    this.#hasReported = true;
    this.log(["error", { tracing: "failed; later failures are not logged", error: messageOf(error) }]);
  }
}
