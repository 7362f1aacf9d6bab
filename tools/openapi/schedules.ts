import { schedulesQuery } from "../../src/http/request-schemas/schedules.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";

const path = "/v1/queues/{queue}/schedules";

const listed = {
  name: "nightly",
  queue: "reports",
  cron: "30 2 * * *",
  timeZone: "Europe/Berlin",
  missed: "last",
  paused: false,
  createdAt: exampleTime,
  nextAt: exampleTime + 36_000_000,
  lastAt: null,
};

export const schedules: readonly OperationText[] = [
  {
    method: "get",
    path,
    operationId: "listSchedules",
    tag: "schedules",
    summary: "List the schedules of a queue",
    description:
      "Lists the schedules without their tasks, in no particular order. If the list changes between pages, a schedule may appear twice. A schedule that stays is never left out.",
    scopes: ["view"],
    query: schedulesQuery,
    responses: {
      200: {
        description: "A page of schedules.",
        schemas: ["Schedules"],
        examples: { some: { schedules: [listed], cursor: null } },
      },
    },
  },
  {
    method: "put",
    path: `${path}/{schedule}`,
    operationId: "putSchedule",
    tag: "schedules",
    summary: "Create or replace a schedule",
    description: [
      "The first sweep after an occurrence enqueues its task, once, even if several sweeps run. So a task is late by up to the interval of the sweep. The task's id is `<name>.<epoch ms of the occurrence>`. If a task with this id is already known, it counts as the occurrence. The task's headers contain the name as `schedule` and the time as `scheduled-at`.",
      "The body is the whole schedule: fields that are left out get the values of a new schedule, except `paused`. If `cron` and `timeZone`, or `every` and `from`, are unchanged, the next occurrence stays as it is; a `from` that is left out counts as unchanged. Otherwise the first occurrence from now on is next.",
      "When the clock of the time zone is set forward, a cron expression with one hour and one minute that is skipped occurs right after the gap. When the clock is set back, it occurs the first time only. A cron expression with several hours or minutes does not occur at the skipped times, and occurs twice at the repeated ones.",
    ].join("\n\n"),
    scopes: ["admin"],
    body: {
      schemas: ["NewSchedule"],
      required: true,
      examples: {
        "every night": {
          cron: "30 2 * * *",
          timeZone: "Europe/Berlin",
          payload: { report: "daily" },
          lease: "10m",
        },
        "every ten minutes, none left out": { every: "10m", missed: "all", payload: { check: "links" } },
      },
    },
    responses: {
      200: {
        description: "The schedule was replaced.",
        schemas: ["SchedulePut"],
        examples: { changed: { ...listed, lastAt: exampleTime - 50_400_000, created: false } },
      },
      201: {
        description: "The schedule was created.",
        schemas: ["SchedulePut"],
        examples: { created: { ...listed, created: true } },
      },
    },
    problems: ["queue_full"],
  },
  {
    method: "get",
    path: `${path}/{schedule}`,
    operationId: "getSchedule",
    tag: "schedules",
    summary: "Get a schedule with its task",
    description: "Options of the task that were not set are absent.",
    scopes: ["view"],
    responses: {
      200: {
        description: "The schedule.",
        schemas: ["Schedule"],
        examples: { some: { ...listed, payload: { report: "daily" }, lease: 600_000 } },
      },
    },
    problems: ["not_found"],
  },
  {
    method: "delete",
    path: `${path}/{schedule}`,
    operationId: "removeSchedule",
    tag: "schedules",
    summary: "Remove a schedule",
    description: "Tasks that it has already enqueued stay.",
    scopes: ["admin"],
    responses: {
      200: {
        description: "The schedule is removed.",
        schemas: ["ScheduleRemoved"],
        examples: { removed: { name: "nightly", removed: true } },
      },
    },
    problems: ["not_found"],
  },
  {
    method: "post",
    path: `${path}/{schedule}/pause`,
    operationId: "pauseSchedule",
    tag: "schedules",
    summary: "Pause a schedule",
    description: "The schedule does not occur until it is resumed.",
    scopes: ["admin"],
    responses: {
      200: {
        description: "The new state of the schedule.",
        schemas: ["ListedSchedule"],
        examples: { paused: { ...listed, paused: true, nextAt: null } },
      },
    },
    problems: ["not_found"],
  },
  {
    method: "post",
    path: `${path}/{schedule}/run`,
    operationId: "runSchedule",
    tag: "schedules",
    summary: "Enqueue a task of a schedule now",
    description:
      "Enqueues a task as an occurrence does, also while the schedule is paused. Its next occurrence stays as it is. With an `Idempotency-Key`, a copy of the request enqueues nothing.",
    scopes: ["admin"],
    responses: {
      200: {
        description: "A copy of an earlier request: the task was known.",
        schemas: ["Enqueued"],
        examples: { known: { id: "digest.1795451700000", created: false } },
      },
      201: {
        description: "The task is enqueued.",
        schemas: ["Enqueued"],
        examples: { created: { id: "digest.1795451700000", created: true } },
      },
    },
    problems: ["not_found", "queue_full"],
  },
  {
    method: "post",
    path: `${path}/{schedule}/resume`,
    operationId: "resumeSchedule",
    tag: "schedules",
    summary: "Resume a schedule",
    description: "The schedule occurs again from now on. Occurrences during the pause are not enqueued.",
    scopes: ["admin"],
    responses: {
      200: {
        description: "The new state of the schedule.",
        schemas: ["ScheduleResumed"],
        examples: { running: { ...listed, skipped: 1 } },
      },
    },
    problems: ["not_found"],
  },
];
