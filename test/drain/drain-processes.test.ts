import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { reportedWithMore } from "./draining.ts";

const rig = useRig();
const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);

/** Prints the report of its drain. Its handlers hang; once two do, the drain is aborted. */
const program = () => `
  import { drain, Queue } from ${source("index.ts")};
  import { resp } from ${source("transports/resp.ts")};
  const transport = resp(${JSON.stringify(rig.redis.url)});
  const abort = new AbortController();
  let hanging = 0;
  const hang = () => {
    if (++hanging === 2) abort.abort();
    return new Promise(() => {});
  };
  const options = { backoff: ["1h"], signal: abort.signal };
  console.log(JSON.stringify(await drain(new Queue("emails", { transport }), hang, options)));
  await transport.close();
`;

test("a process that drains ends by itself, even if a handler hangs and leases were long", async () => {
  await rig.queue({ now: undefined }).enqueueMany(numbered(2));
  const stdio = ["ignore", "pipe", "inherit"] as const;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program()], { stdio: [...stdio] });
  let printed = "";
  child.stdout?.on("data", (part: Buffer) => (printed += part.toString()));
  expect((await once(child, "close"))[0]).toBe(0);
  expect(JSON.parse(printed)).toEqual(reportedWithMore({ requeued: 2, ended: "aborted" }));
});
