import { deepSweep, type Command, type DeepSweepReport, type Transport } from "../../../src/index.ts";
import { pageByPage } from "../../support/deep.ts";

/**
 * A deep sweep of one queue that goes on request by request, so that other calls can happen in between. It reads each
 * place, also if there is no fault.
 */
export class StepwiseDeepSweep {
  readonly #report: Promise<DeepSweepReport>;
  readonly #over: Promise<true>;
  /** Requests that wait to be sent, each as a function that sends it and waits for its answer. */
  readonly #waiting: (() => Promise<void>)[] = [];
  #asked = () => {};

  constructor(transport: Transport, queue: string, now: () => number) {
    const held: Transport = {
      send: (commands, options) =>
        new Promise((resolve, reject) => {
          this.#waiting.push(() => {
            const sent = commands.map((command) => at(now(), command));
            return transport.send(sent, options).then(resolve, reject);
          });
          this.#asked();
        }),
    };
    this.#report = deepSweep(pageByPage(held), { now, queue, budget: "1h" });
    const over = () => true as const;
    // The call that asks for the report throws the failure.
    this.#over = this.#report.then(over, over);
  }

  /**
   * Sends the next requests, at most that many.
   * @returns the report, once there is no further request
   */
  async goOn(requests: number): Promise<DeepSweepReport | undefined> {
    for (let sent = 0; sent < requests; sent++) {
      if (await this.#isOver()) break;
      await this.#waiting.shift()?.();
    }
    return (await this.#isOver()) ? this.#report : undefined;
  }

  /** Waits for the next request, or the end. */
  #isOver(): Promise<boolean> {
    if (this.#waiting.length > 0) return Promise.resolve(false);
    const asked = new Promise<false>((resolve) => {
      this.#asked = () => resolve(false);
    });
    return Promise.race([asked, this.#over]);
  }
}

/**
 * The command as at the time at which it is sent, not at which the sweep made it. The first argument of each script of
 * a deep sweep is the test's clock.
 */
function at(now: number, command: Command): Command {
  return "script" in command ? { ...command, args: command.args.with(0, String(now)) } : command;
}
