// The URL groups of QStash, with its own client.
import { expect, test } from "vitest";
import { useQStash } from "./rig.ts";

const rig = useQStash();

const withStatus = (status: number, message: RegExp | string) =>
  expect.objectContaining({ status, message: expect.stringMatching(message) });

test("a group gets endpoints, more of them, others in their place, and loses them", async () => {
  const { urlGroups } = rig.client;
  const name = "orders";
  const [a, b, c] = ["/a", "/b", "/c"].map((path) => rig.url + path) as [string, string, string];
  await urlGroups.addEndpoints({ name, endpoints: [{ name: "first", url: a }] });
  await urlGroups.addEndpoints({ name, endpoints: [{ url: b }] });
  const created = await urlGroups.get(name);
  expect(created).toEqual({
    name,
    createdAt: expect.any(Number),
    updatedAt: expect.any(Number),
    endpoints: [{ name: "first", url: a }, { url: b }],
  });
  // By its name an endpoint gets another URL, and by its URL another name.
  await urlGroups.addEndpoints({ name, endpoints: [{ name: "first", url: c }] });
  await urlGroups.addEndpoints({ name, endpoints: [{ name: "second", url: b }] });
  const { endpoints, createdAt } = await urlGroups.get(name);
  expect([endpoints, createdAt]).toEqual([
    [
      { name: "first", url: c },
      { name: "second", url: b },
    ],
    created.createdAt,
  ]);
  await urlGroups.removeEndpoints({ name, endpoints: [{ name: "first" }] });
  expect((await urlGroups.list()).find((group) => group.name === name)?.endpoints).toEqual([
    { name: "second", url: b },
  ]);
  await urlGroups.removeEndpoints({ name, endpoints: [{ url: b }] });
  await expect(urlGroups.get(name)).rejects.toEqual(withStatus(404, "URL group orders not found"));
  await expect(urlGroups.removeEndpoints({ name, endpoints: [{ url: b }] })).rejects.toEqual(
    withStatus(404, "orders"),
  );
});

test("endpoints that are added at the same time are all in the group", async () => {
  const urls = Array.from({ length: 8 }, (_, i) => `${rig.url}/${i}`);
  await Promise.all(
    urls.map((url) => rig.client.urlGroups.addEndpoints({ name: "crowd", endpoints: [{ url }] })),
  );
  const { endpoints } = await rig.client.urlGroups.get("crowd");
  expect(endpoints.map(({ url }) => url).toSorted()).toEqual(urls);
  await rig.client.urlGroups.delete("crowd");
  expect(await rig.client.urlGroups.list()).toEqual([]);
});

test("a group takes no endpoint to which nothing may be delivered, and no name that is a URL", async () => {
  const { urlGroups } = rig.client;
  const add = (name: string, url: string) => urlGroups.addEndpoints({ name, endpoints: [{ url }] });
  await expect(add("private", "http://10.0.0.1/hook")).rejects.toEqual(withStatus(400, "public host"));
  await expect(add("a name", rig.url)).rejects.toEqual(withStatus(400, "invalid URL group name"));
  await expect(urlGroups.addEndpoints({ name: "none", endpoints: [] })).rejects.toEqual(
    withStatus(400, "endpoints"),
  );
  expect(await urlGroups.list()).toEqual([]);
});
