import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import {
  defineAlerts,
  type Alert,
  type AlertReceiver,
  type AlertRule,
} from "../../../src/features/alerts/index.ts";
import type { LogLine } from "../../../src/log/logger.ts";
import type { Transport } from "../../../src/index.ts";
import { Operator, Queue } from "../../../src/index.ts";
import { listening } from "../../support/listening.ts";
import type { Rig } from "../../support/rig.ts";

export const MINUTE = 60_000;

type Line = Record<string, unknown>;

let current: Line[] | undefined;

/** The lines of all deployments in this test. */
function linesOfTest(): Line[] {
  if (current) return current;
  onTestFinished(() => (current = undefined));
  return (current = []);
}

/** Alerts on the rig's Redis and clock. */
export interface AlertRig {
  /** What a receiver has got, and removes it from here: `fires emails`, `resolved emails`, `still fires emails`. */
  readonly news: () => string[];
  readonly alerts: Alert[];
  /** Lines of the log in this test, those of failures too. */
  readonly lines: Line[];
  /** Runs a pass. */
  readonly pass: () => Promise<void>;
  /** Moves the clock, and runs a pass in each minute. */
  readonly minutes: (count: number) => Promise<void>;
}

export interface AlertSetup {
  readonly send?: readonly AlertReceiver[];
  readonly dashboardUrl?: string;
  readonly transport?: Transport;
  readonly budget?: number;
}

/** A deployment's alerts; the rules are those of one instance. */
export function alerting(rig: Rig, rules: readonly AlertRule[], setup: AlertSetup = {}): AlertRig {
  const alerts: Alert[] = [];
  const lines = linesOfTest();
  const note = (alert: Alert) => void alerts.push(alert);
  const { send = [note], dashboardUrl, budget = 20_000 } = setup;
  const evaluator = defineAlerts({ rules, send, dashboardUrl }).connect({});
  const pass = () => {
    const log = ([, fields]: LogLine) => void lines.push(fields as Line);
    const transport = setup.transport ?? rig.transport;
    return evaluator.evaluate({ transport, prefix: undefined, budget, log, now: () => rig.now });
  };
  return {
    alerts,
    lines,
    pass,
    news: () => alerts.splice(0).map((alert) => `${phase(alert)} ${alert.queue}`),
    async minutes(count) {
      for (let i = 0; i < count; i++) {
        rig.now += MINUTE;
        await pass();
      }
    },
  };
}

function phase({ type, reminder }: Alert): string {
  if (type === "alert.resolved") return "resolved";
  return reminder ? "still fires" : "fires";
}

/** Another queue of the rig. */
export function queueOf(rig: Rig, name: string): Queue {
  return new Queue(name, { transport: rig.transport, now: () => rig.now });
}

export function operatorOf(rig: Rig, name: string): Operator {
  return new Operator(name, { transport: rig.transport, now: () => rig.now });
}

/** The open alerts, as Redis has them: by queue, with the texts of the records. */
export async function openAlerts(rig: Rig): Promise<Record<string, string>> {
  const flat = (await rig.command("HGETALL", "sluice:alerts")) as string[];
  const entries = Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]);
  return Object.fromEntries(entries.filter(([field]) => !field?.startsWith("~")));
}

/** A server that notes requests and answers with these statuses in turn, then 204. */
export interface Receiver {
  readonly url: string;
  readonly requests: { readonly headers: Record<string, string>; readonly body: string }[];
  /** Status codes, or `"never"` for no response. */
  readonly answers: (number | "never")[];
}

export async function startReceiver(): Promise<Receiver> {
  const requests: Receiver["requests"] = [];
  const answers: Receiver["answers"] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    requests.push({ headers: request.headers as Record<string, string>, body: await text(request) });
    const status = answers.shift() ?? 204;
    if (status === "never") return;
    response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end();
  };
  const server = createServer((request, response) => void receive(request, response));
  const port = await listening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/alerts`, requests, answers };
}
