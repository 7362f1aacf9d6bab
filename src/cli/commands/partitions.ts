import { Command } from "commander";
import { MAX_SHARDS } from "../../kernel/names/slots.ts";
import type { QueuePartitions } from "../../features/partitions/index.ts";
import { whole } from "../options.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { knownOrNewQueue, newOption, noteNewQueue, refuseUnknownQueue } from "../unknown-queue.ts";

export function partitionsCommand(running: Running): Command {
  const command = new Command("partitions")
    .summary("show the partitions of a queue, or change their number")
    .description(
      "Shows what each partition of a queue has, or changes how many new tasks go to. The queue stays in use.",
    )
    .argument("<queue>")
    .argument("[number]", "1 to 62", whole(1, MAX_SHARDS))
    .addOption(newOption());
  return operation(
    running,
    command,
    async (session: Session, { new: isNew }: { new?: boolean }, queue: string, count?: number) => {
      const { api, out } = session;
      if (count === undefined) await refuseUnknownQueue(session, queue);
      const unknown = count === undefined ? undefined : await knownOrNewQueue(session, queue, isNew);
      const path = pathOf(queue, "partitions");
      const found: QueuePartitions =
        count === undefined
          ? await api.get(path, "partitions")
          : await api.send("PUT", path, "partitions", { count });
      out.rows(
        found.partitions,
        [
          { title: "PARTITION", align: "right", of: ({ partition }) => partition },
          { title: "SLOTS", align: "right", of: ({ slots }) => slots },
          { title: "PENDING", align: "right", of: ({ pending }) => pending },
          { title: "DELAYED", align: "right", of: ({ delayed }) => delayed },
          { title: "WORKING", align: "right", of: ({ working }) => working },
          { title: "DEAD", align: "right", of: ({ rejected }) => rejected },
        ],
        "",
      );
      noteNewQueue(session, queue, unknown);
      if (found.changing) {
        out.note(`The change to ${found.count} partitions is not complete. The next sweep completes it.`);
      }
    },
  );
}
