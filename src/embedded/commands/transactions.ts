import { commands, type Context } from "../command.ts";
import { OK, ReplyError, type Value } from "../reply.ts";

const flags = "noscript loading stale";

/** @param end runs the queued commands of a client, and ends its transaction */
export const transactionCommands = (end: (context: Context) => Value) =>
  commands(
    ["@transaction"],
    [
      [
        "multi",
        1,
        `${flags} fast allow_busy`,
        undefined,
        ({ client }) => {
          if (client.queued) throw new ReplyError("ERR MULTI calls can not be nested");
          client.queued = [];
          client.isBroken = false;
          return OK;
        },
      ],
      [
        "exec",
        1,
        `${flags} skip_slowlog`,
        undefined,
        (context) => {
          if (!context.client.queued) throw new ReplyError("ERR EXEC without MULTI");
          return end(context);
        },
      ],
      [
        "discard",
        1,
        `${flags} fast allow_busy`,
        undefined,
        ({ client }) => {
          if (!client.queued) throw new ReplyError("ERR DISCARD without MULTI");
          client.queued = undefined;
          client.isBroken = false;
          return OK;
        },
      ],
    ],
  );
