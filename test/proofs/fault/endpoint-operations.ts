/** Calls that concern endpoints. */
import { checkedCircuit } from "../../../src/features/endpoints/index.ts";
import { reportDeliveriesScript } from "../../../src/features/endpoints/endpoint-scripts.ts";
import { endpointsKey } from "../../../src/kernel/names/keys.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { lastReply } from "../../../src/kernel/scripts/replies.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { Endpoints } from "../../../src/open/endpoints/index.ts";
import { QUEUE, START } from "../../support/rig.ts";
import type { Operation } from "./operation.ts";
import { now, type Caller } from "./starting-point.ts";

const SECRET = `whsec_${"A".repeat(32)}`;

const open = (transport: Transport, at: () => number) => new Endpoints(QUEUE, { transport, now: at });
const endpoints = ({ transport }: Caller) => open(transport, now);
const adding = (to: Endpoints, id: string) =>
  to.add({ id, url: `https://${id}.example`, secret: SECRET, maxWorking: 2 });

/** Adds one endpoint. */
export async function fillEndpoints(transport: Transport): Promise<void> {
  await adding(
    open(transport, () => START),
    "acme",
  );
}

export const ofEndpoints: readonly Operation[] = [
  {
    script: "putEndpoint",
    what: "that adds one",
    call: (by) => adding(endpoints(by), "new"),
    counts: true,
    afterwards: (by) => endpoints(by).upkeep(),
  },
  { script: "putEndpoint", what: "that disables one", call: (by) => endpoints(by).disable("acme") },
  {
    script: "putEndpoint",
    what: "that removes one",
    call: (by) => endpoints(by).remove("acme"),
    counts: true,
  },
  { script: "noteApplied", call: (by) => endpoints(by).change("acme", { maxWorking: 3 }) },
  {
    script: "reportDeliveries",
    async call({ transport }) {
      const given = { testNow: String(now()), token: "a", ...checkedCircuit({ failures: 1 }) };
      const items = [
        { id: "acme", failed: "1", succeeded: "0", gone: "" },
        { id: "unknown", failed: "1", succeeded: "0", gone: "" },
      ];
      const call = callOf(reportDeliveriesScript, { endpoints: endpointsKey() }, given, items);
      return reportDeliveriesScript.decode(lastReply(await transport.send([call])));
    },
  },
];
