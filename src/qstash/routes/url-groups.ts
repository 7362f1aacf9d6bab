import { json } from "../../respond.ts";
import { notFound } from "../failure.ts";
import { addEndpoints, removeEndpoints, shownGroup, type UrlGroup } from "../kept/url-groups.ts";
import type { Dialect, DialectApp } from "./dialect.ts";
import { done, readJson } from "./requests.ts";

/** `/v2/topics`: the URL groups. */
export function urlGroupRoutes(app: DialectApp, dialect: Dialect): void {
  app.get("/v2/topics", async (c) => {
    const groups = await dialect.session(c).records<UrlGroup>("url-groups").list();
    return json(Array.from(groups, ([name, group]) => shownGroup(name, group)));
  });

  app.get("/v2/topics/:name", async (c) => {
    const name = c.req.param("name");
    const group = await dialect.session(c).records<UrlGroup>("url-groups").get(name);
    if (!group) throw notFound(`URL group ${name}`);
    return json(shownGroup(name, group));
  });

  app.delete("/v2/topics/:name", async (c) => {
    await dialect.session(c).records<UrlGroup>("url-groups").remove(c.req.param("name"));
    return done();
  });

  app.post("/v2/topics/:name/endpoints", async (c) => {
    await addEndpoints(dialect.session(c), c.req.param("name"), await readJson(c, dialect));
    return done();
  });

  app.delete("/v2/topics/:name/endpoints", async (c) => {
    await removeEndpoints(dialect.session(c), c.req.param("name"), await readJson(c, dialect));
    return done();
  });
}
