import { Hono } from "hono/tiny";
import type { AppRoutes } from "../../http/app-part.ts";
import { Authenticator } from "../../http/auth/authenticator.ts";
import { Problem } from "../../http/problems/problem.ts";
import type { RequestContext, Variables } from "../../http/services.ts";
import { opening } from "../../open/opening.ts";
import { Failure, failureOf, failureResponse } from "../failure.ts";
import type { QStashOptions } from "../options.ts";
import { sessionOf } from "../session.ts";
import type { Dialect, DialectApp } from "./dialect.ts";
import { dlqRoutes } from "./dlq.ts";
import { eventRoutes } from "./events.ts";
import { flowControlRoutes } from "./flow-control.ts";
import { messageRoutes } from "./messages.ts";
import { missingRoutes } from "./missing.ts";
import { publishRoutes } from "./publish.ts";
import { queueRoutes } from "./queues.ts";
import { checkQuery } from "./requests.ts";
import { scheduleRoutes } from "./schedules.ts";
import { urlGroupRoutes } from "./url-groups.ts";

const UNREACHABLE = new Failure(503, "Redis could not be reached in time; the request may have taken effect");

/** The routes below `/v2`, with their own tokens and their own form of errors. */
export function routesFor(settings: (env: never) => QStashOptions): AppRoutes {
  return {
    mount(app, services) {
      const own: DialectApp = new Hono<Variables>();
      const settingsOf = (c: RequestContext) => settings(c.env as never);
      const dialect: Dialect = {
        session: (c) => {
          const tracing = services.tracing?.continuing(c.req.raw.headers);
          return sessionOf(settingsOf(c), opening({ ...services.optionsOf(c), tracing }));
        },
        bodyBounds: services.bodyBounds,
        budget: services.budget,
      };
      const authenticators = new WeakMap<QStashOptions, Authenticator>();

      own.use("/v2/*", async (c, next) => {
        checkQuery(c);
        const its = settingsOf(c);
        const known = authenticators.get(its) ?? authenticatorOf(its);
        authenticators.set(its, known);
        try {
          await known.authenticate(c.req.header("authorization"));
        } catch (error) {
          if (error instanceof Problem) throw new Failure(401, "invalid token");
          throw error;
        }
        await next();
      });

      publishRoutes(own, dialect);
      messageRoutes(own, dialect);
      flowControlRoutes(own, dialect);
      scheduleRoutes(own, dialect);
      dlqRoutes(own, dialect);
      eventRoutes(own, dialect);
      urlGroupRoutes(own, dialect);
      queueRoutes(own, dialect);
      missingRoutes(own, dialect);

      own.onError((error, c) => {
        const failure = failureOf(error);
        if (failure) return failureResponse(failure);
        const { code, message } = services.reportedProblem(error, c);
        const isUnreachable = code === "redis_unreachable";
        return failureResponse(isUnreachable ? UNREACHABLE : new Failure(500, message));
      });
      app.route("/", own);
    },
  };
}

function authenticatorOf({ token }: QStashOptions): Authenticator {
  const entry = (one: string) => ({ token: one, scopes: ["enqueue" as const], queues: "*" });
  return new Authenticator([token].flat().map(entry), undefined);
}
