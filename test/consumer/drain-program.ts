// A consumer in a process of its own. Its arguments: the Redis URL, what its handlers do, and a drain's
// options as JSON.
import { Queue } from "../../src/index.ts";
import { drain } from "../../src/consumer/drain/drain.ts";
import type { DrainOptions, Handler } from "../../src/consumer/drain/types.ts";
import { resp } from "../../src/transport/resp.ts";

const [url = "", kind = "", options = "{}"] = process.argv.slice(2);

const abort = new AbortController();
let hanging = 0;
let begun = 0;

const handlers: Record<string, Handler<number>> = {
  /** Is killed in the middle of its work. */
  async dies({ payload }) {
    if (++begun > 30) process.kill(process.pid, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 20));
    return payload;
  },
  /** Once two hang, the drain is aborted. */
  hang() {
    if (++hanging === 2) abort.abort();
    return new Promise(() => {});
  },
};

const transport = resp(url);
process.send?.("ready");
const report = await drain(new Queue<number>("emails", { transport }), handlers[kind] as Handler<number>, {
  ...(JSON.parse(options) as DrainOptions),
  signal: abort.signal,
});
process.send?.(report);
await transport.close();
process.disconnect?.();
