import { applyQueues } from "../../deploy/declared/apply-queues.ts";
import { checkDeclaration } from "../../deploy/declared/declaration.ts";
import { defineQueue } from "../../deploy/declared/define-queue.ts";
import { checkedAt, SluiceError, type SluiceErrorCode } from "../../errors.ts";
import { encodePayload } from "../../kernel/record/codec.ts";
import { checkedSchedule, type NewSchedule, writeTask } from "../../features/schedules/index.ts";
import { invalid } from "../problems/problem.ts";
import { readBody, requestOptions } from "../request/read.ts";
import { requireOrder, requireSchedules } from "../request/required-parts.ts";
import type { App, Services } from "../services.ts";
import type * as replies from "../response-schemas/declaration.ts";
import { reply } from "../responses/reply.ts";
import * as schemas from "../request-schemas/declaration.ts";

/** Apply the declaration of a queue. */
export function declarationRoutes(app: App, services: Services): void {
  const { transport, prefix, allow } = services;

  app.put("/v1/queues/:queue/declaration", allow("admin"), async (c) => {
    requestOptions(c);
    const { name: queue } = c.get("open");
    const body = await readBody(c, services, schemas.declaration);
    const { settings = {}, partitions, schedules = [], defaults } = body;
    requireOrder(services, settings);
    if (schedules.length > 0) requireSchedules(services);
    const declared = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
    checkedAt("settings.", () => checkDeclaration(declared));
    checkedAt("defaults.", () => checkDeclaration({ ...defaults }));
    const names = schedules.map(({ name }) => name);
    const twice = names.findIndex((name, i) => names.indexOf(name) !== i);
    if (twice >= 0) throw invalid(`schedules[${twice}].name`, "must not be that of another schedule");
    const timetable = schedules.map(({ name, ...schedule }) => [name, schedule]);
    const definition = defineQueue(queue, {
      ...declared,
      ...defaults,
      partitions,
      // The queue checks that each has either cron or every.
      schedules: Object.fromEntries(timetable) as Record<string, NewSchedule<unknown>>,
    });
    // All is checked before anything is written.
    for (const [i, { name, ...schedule }] of schedules.entries()) {
      checkedAt(`schedules[${i}].`, () => {
        checkedSchedule(schedule as object as NewSchedule<unknown>, "");
        return writeTask(name, definition.options, schedule, encodePayload(schedule.payload, "payload"));
      });
    }
    const { applied, deferred, failed } = await applyQueues(transport, [definition], { prefix });
    const [fault] = failed;
    if (fault) throw new SluiceError(fault.code as SluiceErrorCode, fault.message);
    const status = applied.length > 0 ? "applied" : deferred.length > 0 ? "deferred" : "unchanged";
    return reply<typeof replies.declared>({ queue, status });
  });
}
