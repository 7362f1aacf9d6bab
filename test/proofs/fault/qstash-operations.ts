/** Calls of the scripts of QStash's API. */
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { lastReply } from "../../../src/kernel/scripts/replies.ts";
import { forgetLimitsScript } from "../../../src/qstash/flow-control/script.ts";
import type { Operation } from "./operation.ts";
import { QUEUE } from "../../support/rig.ts";
import { now } from "./starting-point.ts";

const { tasks, delayed } = queueKeys(QUEUE);
const needed = tasks.replace(/tasks$/, "flow-control-needed");
const CLOCK = String(now());

export const ofQStash: readonly Operation[] = [
  {
    script: "forgetLimits",
    call: async ({ transport }) => {
      const args = { testNow: CLOCK, most: "10" };
      await transport.send([
        ["ZADD", needed, "NX", CLOCK, "unused", CLOCK, "weighted"],
        ["HSET", tasks, "~s:unused", "1;m=1;n=900", "~s:weighted", "1;k=2"],
      ]);
      const call = callOf(forgetLimitsScript, { needed, delayed, tasks }, args);
      return forgetLimitsScript.decode(lastReply(await transport.send([call])));
    },
    again: () => 0,
  },
];
