import { schedulesQuery } from "../../src/http/schemas/schedules.ts";
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
      "Without the tasks that recur, in no order. A schedule may come twice where the list changes between pages; none that stays is missed.",
    scopes: ["admin"],
    query: schedulesQuery,
    answers: {
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
    summary: "Create a schedule, or change it",
    description: [
      "At each occurrence its task is enqueued, by the first sweep from then on: once, however many sweeps run. So how often the sweep runs is how exact the time is. The task's id is `<name>.<epoch ms of the occurrence>`, and a task that is known by that id already counts as it; its headers have the name as `schedule`, and that time as `scheduled-at`.",
      "The body is the whole schedule: what it does not name is as of a new one, but for `paused`. The next occurrence stays where `cron` and `timeZone`, or `every` and `from`, are what they were (a `from` that is not given is); otherwise the first from now on is next.",
      "Where the clock of the time zone is put forward, the time of an expression with one hour and one minute that is skipped occurs right after the gap; where it is put back, it occurs the first time. Of an expression with several, what is skipped is left out, and what comes twice occurs twice.",
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
        "every ten minutes, each one": { every: "10m", missed: "all", payload: { check: "links" } },
      },
    },
    answers: {
      200: {
        description: "It was there before, and is now as told.",
        schemas: ["SchedulePut"],
        examples: { changed: { ...listed, lastAt: exampleTime - 50_400_000, created: false } },
      },
      201: {
        description: "It is new.",
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
    summary: "A schedule, with the task that recurs",
    description: "Options of the task that were not given are not there.",
    scopes: ["admin"],
    answers: {
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
    description: "Tasks that it has enqueued stay.",
    scopes: ["admin"],
    answers: {
      200: {
        description: "It is gone.",
        schemas: ["ScheduleRemoved"],
        examples: { gone: { name: "nightly", removed: true } },
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
    description: "It does not occur until it is resumed.",
    scopes: ["admin"],
    answers: {
      200: {
        description: "The schedule as it now is.",
        schemas: ["ListedSchedule"],
        examples: { paused: { ...listed, paused: true, nextAt: null } },
      },
    },
    problems: ["not_found"],
  },
  {
    method: "post",
    path: `${path}/{schedule}/resume`,
    operationId: "resumeSchedule",
    tag: "schedules",
    summary: "Resume a schedule",
    description: "It occurs again, from now on: what it missed while it was paused is not made up for.",
    scopes: ["admin"],
    answers: {
      200: {
        description: "The schedule as it now is.",
        schemas: ["ListedSchedule"],
        examples: { running: listed },
      },
    },
    problems: ["not_found"],
  },
];
