import * as v from "valibot";
import { databaseCodes, deploymentCodes, findingStatuses, queueCodes } from "../../operate/health/codes.ts";
import { count, described, instant } from "./values.ts";

const status = v.picklist(["ok", "warning", "problem"]);

const finding = v.object({
  status: described(v.picklist(findingStatuses), "`unknown`: it could not be checked."),
  code: described(
    v.picklist([...databaseCodes, ...deploymentCodes, ...queueCodes]),
    "What was checked. More may be added.",
  ),
  about: described(v.string(), "What was checked, for people: the name of the queue, or such as `clock`."),
  found: described(v.string(), "What was found, for people."),
  advice: v.exactOptional(described(v.string(), "What to do. It names commands of `sluice`.")),
  queue: v.exactOptional(described(v.string(), "Absent if it is about the database or the deployment.")),
  names: v.exactOptional(
    described(
      v.array(v.string()),
      "The schedules, groups, workers or tasks that it is about; of many the first.",
    ),
  ),
});

export const health = v.object({
  status: described(status, "The worst of the findings; `unknown` ones count as fine."),
  now: instant("Redis's time"),
  findings: described(
    v.array(finding),
    "First all about the database and the deployment, also what is fine; then what is not fine of each queue, by name.",
  ),
  queues: described(
    v.array(
      v.object({
        queue: v.string(),
        status,
        pending: v.exactOptional(described(count, "Absent if the queue could not be read.")),
        working: v.exactOptional(count),
      }),
    ),
    "The queues that were looked at, by name.",
  ),
  truncated: described(v.boolean(), "True if there are more queues than the 1,000 of a reply."),
});
