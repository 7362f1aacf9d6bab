import { operatorOf } from "../../open/operator.ts";
import { json, respond } from "../../respond.ts";
import type { GroupInfo } from "../../operate/groups.ts";
import type { RequestContext } from "../../http/services.ts";
import { MOST_COUNT, readWhole } from "../durations.ts";
import { badRequest } from "../failure.ts";
import { readPeriod } from "../publish/headers.ts";
import { pinFlowControl, type Pinned, resetRate, unpinFlowControl } from "../flow-control/limits.ts";
import { messages, ordered } from "../message.ts";
import type { Session } from "../session.ts";
import type { Dialect, DialectApp } from "./dialect.ts";

/** The routes below `/v2/flowControl`, and `GET /v2/globalParallelism`. */
export function flowControlRoutes(app: DialectApp, dialect: Dialect): void {
  app.get("/v2/flowControl", async (c) => {
    const session = dialect.session(c);
    const pinned = await session.records<Pinned>("flow-control").list();
    const operator = operatorOf(session.open(messages));
    const all: GroupInfo[] = [];
    let cursor: string | undefined;
    do {
      const page = await operator.groups({ cursor, size: 1_000 });
      all.push(...page.groups);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    return json(all.map((group) => shown(group, pinned.get(group.group))));
  });

  app.get("/v2/flowControl/:key", async (c) => {
    const session = dialect.session(c);
    const key = c.req.param("key");
    const group = await operatorOf(session.open(messages)).groupSettings(key);
    return json(shown(group, await session.records<Pinned>("flow-control").get(key)));
  });

  const change = (
    name: string,
    run: (session: Session, key: string, c: RequestContext) => Promise<unknown>,
  ) =>
    app.post(`/v2/flowControl/:key/${name}`, async (c) => {
      await run(dialect.session(c), c.req.param("key"), c);
      return respond(null, 200);
    });

  change("pause", (session, key) => operatorOf(session.open(messages)).configureGroup(key, { paused: true }));
  change("resume", (session, key) =>
    operatorOf(session.open(messages)).configureGroup(key, { paused: null }),
  );
  change("resetRate", resetRate);
  change("pin", (session, key, c) => {
    const count = (name: string) => {
      const text = c.req.query(name);
      return text === undefined ? undefined : readWhole(text, name, 1, MOST_COUNT);
    };
    const parallelism = count("parallelism");
    const rate = count("rate");
    if (parallelism === undefined && rate === undefined)
      throw badRequest("pin needs parallelism, rate or both");
    const period = readPeriod(c.req.query("period") ?? "1s", "period");
    return pinFlowControl(session, key, { parallelism, rate, period });
  });
  change("unpin", (session, key, c) => {
    const has = (name: string) => c.req.query(name) === "true" || undefined;
    const what = { parallelism: has("parallelism"), rate: has("rate") };
    if (!what.parallelism && !what.rate) throw badRequest("unpin needs parallelism=true, rate=true or both");
    return unpinFlowControl(session, key, what);
  });

  app.get("/v2/globalParallelism", async (c) => {
    const session = dialect.session(c);
    const [{ maxWorking }, ...counts] = await Promise.all([
      operatorOf(session.open(messages)).settings(),
      ...[messages, ordered].map((queue) => session.open(queue).queue().counts()),
    ]);
    const parallelismCount = counts.reduce((sum, { working }) => sum + working, 0);
    return json({ parallelismMax: maxWorking ?? 0, parallelismCount });
  });
}

/** A flow control as QStash shows it. How much of the rate is used is not known. */
function shown({ group, ready, limited, working, maxWorking, rate, paused }: GroupInfo, pinned: Pinned = {}) {
  return {
    flowControlKey: group,
    waitListSize: ready + limited,
    parallelismMax: maxWorking ?? 0,
    parallelismCount: working,
    rateMax: rate?.most ?? 0,
    ratePeriod: rate ? rate.per / 1_000 : 0,
    isPaused: paused,
    isPinnedParallelism: pinned.parallelism ?? false,
    isPinnedRate: pinned.rate ?? false,
  };
}
