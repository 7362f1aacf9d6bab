import type { Operation } from "../model/operations.ts";
import type { ModelNewSchedule } from "../model/schedules.ts";
import { isObject } from "./document.ts";
import {
  type Fields,
  ms,
  newTask,
  plainGroup,
  plainName,
  pullOf,
  rateOf,
  settlementOf,
  some,
  unset,
  withMs,
  workerOf,
} from "./model-fields.ts";
import type { Plan } from "./valid-request.ts";

/** A request, and the operation that it is for the model. */
export interface Modelled {
  readonly plan: Plan;
  readonly operation: Operation;
}

type Make = (call: { plan: Plan; body: Fields; step: number }) => Modelled;

/**
 * The request in a form that the model can answer, and its operation. Both omit what the model does not
 * predict: waits, random delays, cursors, descriptions for people.
 * @param step makes the names that the request leaves to the server
 * @returns undefined for an operation that the model does not have
 */
export function modelled(plan: Plan, step: number): Modelled | undefined {
  const { [plan.route.operationId]: make } = makers;
  return make?.({ plan, body: isObject(plan.body) ? plan.body : {}, step });
}

const id = ({ path }: Plan) => path["id"] as string;
const ended = ["reason", "endedSince", "endedUntil"];

const inPages = ["workers", "groups", "listSchedules"];

const looks =
  (does: "counts" | "workers" | "groups" | "statistics" | "settings" | "listSchedules"): Make =>
  ({ plan }) => ({
    plan: { ...plan, query: inPages.includes(does) ? { size: "1000" } : {} },
    operation: { does },
  });

/** The idempotency key of a request that is remembered by it: none is used twice here. */
const keyed = (plan: Plan, step: number) => {
  const key = `key-of-${step}`;
  const has = Object.hasOwn(plan.headers, "Idempotency-Key");
  return { key, headers: has ? { ...plan.headers, "Idempotency-Key": key } : plan.headers };
};

const withoutKey = ({ headers: { "Idempotency-Key": _, ...headers } }: Plan) => ({ headers });

/** The schedule of the path, under a name that records do not escape. */
function toSchedule(plan: Plan, step: number) {
  const { key, headers } = keyed(plan, step);
  const name = plainName(plan.path["schedule"]) as string;
  return { key, name, plan: { ...plan, headers, path: { ...plan.path, schedule: name } } };
}

const switches =
  (to: "pause" | "resume"): Make =>
  (call) => {
    const { plan, key, name } = toSchedule(call.plan, call.step);
    return { plan, operation: { does: "switchSchedule", key, name, to } };
  };

const makers: Readonly<Record<string, Make>> = {
  enqueue({ plan, body, step }) {
    const many = body["tasks"] as readonly Fields[] | undefined;
    const tasks = (many ?? [body]).map((task, i) => newTask(task, `own-${step}-${i}`));
    const sent = tasks.map((task) => task.sent);
    const { key, headers } = keyed(plan, step);
    return {
      plan: { ...plan, headers, body: many ? { tasks: sent } : sent[0] },
      operation: { does: "enqueue", key, tasks: tasks.map(({ asked }) => asked), waker: false },
    };
  },
  pull({ plan, body, step }) {
    const { sent, asked } = pullOf(body, step);
    return { plan: { ...plan, ...withoutKey(plan), body: sent }, operation: { does: "dequeue", ...asked } };
  },
  settle({ plan, body, step }) {
    const items = (body["settlements"] as readonly Fields[]).map(settlementOf);
    const pull = isObject(body["pull"]) ? pullOf(body["pull"], step) : undefined;
    const settlements = items.map(({ sent }) => sent);
    return {
      plan: { ...plan, ...withoutKey(plan), body: { settlements, ...(pull && { pull: pull.sent }) } },
      operation: { does: "settle", items: items.map(({ asked }) => asked), pull: pull?.asked },
    };
  },
  cancelTask: ({ plan, body }) => ({
    plan,
    operation: { does: "cancel", id: id(plan), lease: body["lease"] as number | undefined },
  }),
  deleteTask: ({ plan }) => ({ plan, operation: { does: "remove", id: id(plan) } }),
  getTask: ({ plan }) => ({
    plan: { ...plan, query: {}, headers: {} },
    operation: { does: "get", id: id(plan) },
  }),
  redrive({ plan, body }) {
    const ids = body["ids"] as readonly (string | { id: string; lease?: number })[] | undefined;
    if (ids) {
      const asked = ids.map((each) => (typeof each === "string" ? { id: each } : each));
      return { plan: { ...plan, body: { ids } }, operation: { does: "redriveIds", ids: asked } };
    }
    const meant = { ...some(body, ...ended, "rate", "limit"), ...plainGroup(body) };
    const dryRun = body["dryRun"] === true;
    return {
      plan: { ...plan, body: { ...meant, dryRun } },
      operation: { does: "redrive", dryRun, ...meant },
    };
  },
  purge({ plan, body }) {
    const state = body["state"] as "pending";
    const filter = state === "pending" ? [] : ["limit", ...(state === "delayed" ? [] : ended)];
    const meant = { state, ...some(body, ...filter), ...plainGroup(body) };
    return { plan: { ...plan, body: meant }, operation: { does: "purge", ...meant } };
  },
  configureQueue({ plan, body, step }) {
    const defaults = { maxWorking: null, maxPending: null, events: false, statistics: false };
    const { key, headers } = keyed(plan, step);
    const changes = { ...unset(body, defaults), ...rateOf(body) };
    return { plan: { ...plan, headers }, operation: { does: "configure", key, changes } };
  },
  configureGroup({ plan, body, step }) {
    const { key, headers } = keyed(plan, step);
    const group = plainName(plan.path["group"]) as string;
    const changes = { ...unset(body, { weight: 1, maxWorking: null }), ...rateOf(body) };
    return {
      plan: { ...plan, headers, path: { ...plan.path, group } },
      operation: { does: "configureGroup", key, group, changes },
    };
  },
  pauseQueue({ plan, step }) {
    const { key, headers } = keyed(plan, step);
    return { plan: { ...plan, headers }, operation: { does: "pause", key } };
  },
  resumeQueue({ plan, step }) {
    const { key, headers } = keyed(plan, step);
    return { plan: { ...plan, headers }, operation: { does: "resume", key } };
  },
  deleteQueue({ plan, step }) {
    const { key, headers } = keyed(plan, step);
    const force = plan.query["force"] === "true";
    return { plan: { ...plan, headers }, operation: { does: "drop", key, force } };
  },
  heartbeat({ plan, body }) {
    const { sent, asked } = workerOf(body["worker"]) as NonNullable<ReturnType<typeof workerOf>>;
    const receipts = some(body, "receipts") as { receipts?: readonly string[] };
    return {
      plan: { ...plan, body: { worker: sent, ...some(body, "lease"), ...receipts } },
      operation: { does: "heartbeat", worker: asked, ...withMs(body, "lease"), ...receipts },
    };
  },
  failWorker({ plan, body }) {
    const name = plainName(plan.path["name"]) as string;
    const { incarnation } = body;
    const limit = (body["limit"] ?? 1_000) as number;
    const one = { name, ...(typeof incarnation === "string" && { incarnation: plainName(incarnation) }) };
    return {
      plan: {
        ...plan,
        path: { ...plan.path, name },
        body: { ...(incarnation !== undefined && { incarnation: plainName(incarnation) ?? null }), limit },
      },
      operation: { does: "fail", worker: incarnation === undefined ? name : one, limit },
    };
  },
  sweep({ plan, body }) {
    if (body["deep"] !== true)
      return { plan, operation: { does: "sweep", limit: 1_000, waker: false, once: false } };
    return { plan: { ...plan, body: some(body, "deep", "queue") }, operation: { does: "deepSweep" } };
  },
  sweepByCron: ({ plan }) => ({
    plan,
    operation: { does: "sweep", limit: 1_000, waker: false, once: false },
  }),
  listTasks({ plan }) {
    const { query } = plan;
    const state = query["state"] as "pending" | "rejected";
    const reason = state === "rejected" ? query["reason"] : undefined;
    const same = { state, ...plainGroup(query) };
    const size = Number(query["size"] ?? 100);
    const asked = {
      ...(same as Record<string, string>),
      ...(reason !== undefined && { reason }),
      size: String(size),
    };
    // Several reasons have commas between them.
    const reasons = reason?.includes(",") ? reason.split(",") : reason;
    return {
      plan: { ...plan, query: asked },
      operation: {
        does: "list",
        size,
        ...same,
        ...(reasons !== undefined && { reason: reasons as "rejected" }),
      },
    };
  },
  putSchedule({ body, ...call }) {
    const { plan, key, name } = toSchedule(call.plan, call.step);
    // With each missed occurrence, hours would make thousands of tasks.
    const least = body["missed"] === "all" ? 3_600_000 : 60_000;
    const every = Math.max(ms(body["every"]) ?? 0, least);
    const schedule = { ...some(body, "payload", "from", "missed", "paused", "maxAttempts"), every };
    return {
      plan: { ...plan, body: schedule },
      operation: { does: "putSchedule", key, name, schedule: schedule as unknown as ModelNewSchedule },
    };
  },
  removeSchedule(call) {
    const { plan, key, name } = toSchedule(call.plan, call.step);
    return { plan, operation: { does: "removeSchedule", key, name } };
  },
  getSchedule(call) {
    const { plan, name } = toSchedule(call.plan, call.step);
    return { plan, operation: { does: "getSchedule", name } };
  },
  pauseSchedule: switches("pause"),
  resumeSchedule: switches("resume"),
  listSchedules: looks("listSchedules"),
  getQueue: looks("counts"),
  listWorkers: looks("workers"),
  listGroups: looks("groups"),
  getStatistics: looks("statistics"),
  getSettings: looks("settings"),
};

/** Whether the model has the operation. */
export const isModelled = (operationId: string): boolean => Object.hasOwn(makers, operationId);
