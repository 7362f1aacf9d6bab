import * as v from "valibot";
import { taskId } from "../request-schemas/values.ts";
import { described } from "./values.ts";

const flowId = described(v.string(), "`<name>@<queue>`: the queue is that of the first task.");

export const added = v.object({
  id: flowId,
  created: described(
    v.boolean(),
    "False if a flow with this id was known already. Then nothing was added. A resent request gets the first response.",
  ),
  tasks: described(v.record(v.string(), taskId), "The id of each task, by its ref."),
});
