import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { resp } from "../../src/transports/resp.ts";
import { closedPort } from "../support/listening.ts";
import { skipWaits } from "../support/skip-waits.ts";
import { startRedis } from "../support/redis.ts";
import { useFolder } from "../support/folder.ts";
import { against, ENQUEUE_TOKEN, HIDING_TOKEN, TOKEN, useCli } from "./rig.ts";
import { runHere } from "./run-here.ts";

const rig = useCli();
const folder = useFolder();

describe("the environment", () => {
  test("without any variable it says which there are", async () => {
    const { code, out, err } = await runHere(["queues"], { REDIS_URL: "" });
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(
      /^sluice: nothing says where the queues are\. Set one of:\n {2}SLUICE_URL and SLUICE_TOKEN/,
    );
  });

  test.each([".env", ".env.local", ".dev.vars"])(
    "without any variable it names the file %s, if that has one",
    async (name) => {
      const before = process.cwd();
      onTestFinished(() => process.chdir(before));
      process.chdir(folder.path);
      await writeFile(name, "PORT=1\n# REDIS_URL=redis://127.0.0.1\n");
      expect((await runHere(["queues"], {})).err).toContain("or pass a file that has them: --env .env\n");
      await writeFile(name, "PORT=1\nexport SLUICE_URL=https://queue.example.com\n");
      expect(await runHere(["queues"], {})).toMatchObject({
        code: 2,
        err: `sluice: nothing says where the queues are, but ./${name} has SLUICE_URL: add --env ${name}\nSee \`sluice queues --help\`.\n`,
      });
    },
  );

  test("a Redis in place of its HTTP endpoint is named as what it is", async () => {
    skipWaits();
    const env = {
      UPSTASH_REDIS_REST_URL: rig.redis.url.replace("redis:", "http:"),
      UPSTASH_REDIS_REST_TOKEN: "x",
    };
    const { code, err } = await runHere(["queues"], env);
    vi.restoreAllMocks();
    expect(code).toBe(3);
    expect(err).toMatch(/\(UND_ERR_SOCKET\)\. Is this Redis itself\? Then set REDIS_URL=redis:/);
  });

  test.each([
    [{ SLUICE_URL: "https://example.com" }, "SLUICE_TOKEN must be set to a token of the deployment"],
    [{ SLUICE_URL: "example.com", SLUICE_TOKEN: TOKEN }, "SLUICE_URL must be a URL that begins with https:"],
    [{ SLUICE_URL: "https://me:s3cret@a.b", SLUICE_TOKEN: TOKEN }, "SLUICE_URL must be a URL without user"],
    [{ SLUICE_URL: "https://example.com", SLUICE_TOKEN: "s3cret token" }, "token must"],
    [{ REDIS_URL: "http://me:s3cret@example.com" }, "REDIS_URL must be a URL that begins with redis://, re"],
    [{ REDIS_URL: "redis://x", SLUICE_PREFIX: "s3cret prefix" }, "SLUICE_PREFIX must be"],
  ])("%j is refused without quoting it", async (env, message) => {
    const { code, out, err } = await runHere(["queues"], env);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(err).not.toContain("s3cret");
  });

  test("REDIS_URL may name the nodes of a cluster", async () => {
    const [one, other] = [await closedPort(), await closedPort()];
    skipWaits();
    const { code, err } = await runHere(["queues"], {
      REDIS_URL: `cluster://:s3cret@127.0.0.1:${one},127.0.0.1:${other}`,
    });
    vi.restoreAllMocks();
    const name = `the cluster at 127.0.0.1:${one}, 127.0.0.1:${other}`;
    expect([code, err]).toEqual([3, expect.stringContaining(name)]);
    expect(err).not.toContain("s3cret");
  });

  test("--database uses the database although SLUICE_URL is set, --url another deployment", async () => {
    await rig.queue().enqueue(1);
    const env = {
      SLUICE_URL: "http://127.0.0.1:9",
      SLUICE_TOKEN: TOKEN,
      ...rig.environmentOf("the database"),
    };
    expect((await runHere(["queues", "--database"], env)).rows).toMatchObject([{ name: "emails" }]);
    expect((await runHere(["queues", "--url", `${rig.url}/`], env)).rows).toMatchObject([{ name: "emails" }]);
    expect((await runHere(["queues", "--url", `${rig.url}/v1`], env)).err).toMatch(
      /This path does not exist.*\. --url must end before \/v1\n$/,
    );
    for (const path of ["/dashboard", "/dashboard/queues", "/wake"])
      expect((await runHere(["queues"], { ...env, SLUICE_URL: rig.url + path })).err).toMatch(
        new RegExp(`. SLUICE_URL must end before /${path.split("/")[1]}\n$`),
      );
    expect((await runHere(["queues", "--url", "x"], env)).err).toBe(
      "sluice: --url must be a URL that begins with https:// or http://\n",
    );
    expect(await runHere(["queues", "--url", rig.url, "--database"], env)).toMatchObject({
      code: 2,
      err: "sluice: --database must not be given with --url\nSee `sluice queues --help`.\n",
    });
  });

  test("SLUICE_PREFIX is that of the keys", async () => {
    const env = { REDIS_URL: rig.redis.url };
    await runHere(["enqueue", "emails", "1"], { ...env, SLUICE_PREFIX: "other" });
    expect((await runHere(["queues"], env)).rows).toEqual([]);
    expect((await runHere(["queues"], { ...env, SLUICE_PREFIX: "other" })).rows).toHaveLength(1);
  });

  const quoted = () => `# where\nexport SLUICE_URL="${rig.url}" # here\nSLUICE_TOKEN='${TOKEN}'\nOTHER=1\n`;
  const windows = () => `\uFEFFSLUICE_URL=${rig.url}\r\nSLUICE_TOKEN="${TOKEN} "\r\n`;
  test.each([
    ["with quoted values and comments", () => Buffer.from(quoted())],
    ["in UTF-8 with a byte order mark", () => Buffer.from(windows())],
    ["in UTF-16, as PowerShell writes it", () => Buffer.from(windows(), "utf16le")],
    ["in UTF-16 without a byte order mark", () => Buffer.from(quoted(), "utf16le")],
    ["in UTF-16 in the other order", () => Buffer.from(windows(), "utf16le").swap16()],
  ])("--env, %s, fills in what is not set", async (_, bytes) => {
    await rig.queue().enqueue(1);
    const file = join(folder.path, ".env");
    await writeFile(file, bytes());
    const run = (env: Record<string, string>) => runHere(["queues", "--env", file], env);
    expect((await run({})).rows).toMatchObject([{ name: "emails" }]);
    expect((await run({ SLUICE_URL: "" })).rows).toMatchObject([{ name: "emails" }]);
    expect((await run({ SLUICE_TOKEN: "wrong-0123456789abcdef" })).code).toBe(3);
    expect(process.env["OTHER"]).toBeUndefined();
  });

  test("blanks and newlines around values do not count", async () => {
    await rig.queue().enqueue(1);
    for (const spaced of [
      { SLUICE_URL: ` ${rig.url}\n`, SLUICE_TOKEN: `${TOKEN}\r\n` },
      { REDIS_URL: `${rig.redis.url}\n`, SLUICE_URL: " " },
    ])
      expect((await runHere(["queues"], spaced)).rows).toMatchObject([{ name: "emails" }]);
  });

  test("--env of a file that is missing or cannot be read ends with 2, and says what to do", async () => {
    const run = async (file: string) => {
      const { code, err } = await runHere(["queues", "--env", file], {});
      return [code, err.split("\n")[0]];
    };
    const advice =
      "Give the path of the deployment's file, such as .env.local or .dev.vars; without --env, the variables of the shell hold";
    expect(await run("nope/.env")).toEqual([
      2,
      `sluice: --env nope/.env: there is no file ${resolve("nope/.env")}. ${advice}`,
    ]);
    expect(await run(tmpdir())).toEqual([
      2,
      expect.stringContaining(`sluice: --env ${tmpdir()} cannot be read: EISDIR`),
    ]);
  });
});

describe("servers", () => {
  const published = async () => {
    const [stats] = await rig
      .raw(["INFO", "commandstats"])
      .then((outcomes) => outcomes as { reply: string }[]);
    return Number(/cmdstat_publish:calls=(\d+)/.exec(stats?.reply ?? "")?.[1] ?? 0);
  };

  test.each<[how: string, over: "TCP" | "HTTP", pubSub: string | undefined, wakes: number]>([
    ["are woken by each command", "TCP", undefined, 1],
    ["are not woken if that is off", "TCP", "off", 0],
    ["are not woken by each command", "HTTP", undefined, 0],
    ["are woken if that is on", "HTTP", "on", 1],
  ])("%s: over %s with SLUICE_WAKE_PUBSUB=%s", async (_, over, pubSub, wakes) => {
    const database = over === "TCP" ? { REDIS_URL: rig.redis.url } : rig.environmentOf("the database");
    const env = { ...database, SLUICE_WAKE_PUBSUB: pubSub };
    const before = await published();
    const { code, err } = await runHere(["enqueue", "emails", "1"], env, { terminal: true });
    expect([code, (await published()) - before]).toEqual([0, wakes]);
    expect(err.includes("No consumer was woken")).toBe(wakes === 0);
  });

  test("cannot be woken in another way", async () => {
    const env = { REDIS_URL: rig.redis.url, SLUICE_WAKE_PUBSUB: "yes" };
    expect(await runHere(["enqueue", "emails", "1"], env)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("SLUICE_WAKE_PUBSUB must be on or off"),
    });
    expect(await rig.queue().counts()).toMatchObject({ pending: 0 });
  });
});

describe("a token", () => {
  const run = (token: string, ...args: string[]) => rig.run(args, { env: { SLUICE_TOKEN: token } });

  test("that only enqueues may enqueue, show without the payload and cancel; all else ends with 3", async () => {
    for (const line of ["enqueue emails 1 --id a", "show emails a --no-payload", "cancel emails a"])
      expect(await run(ENQUEUE_TOKEN, ...line.split(" "))).toMatchObject({ code: 0 });
    for (const line of ["show emails a", "queues", "tail emails", "sweep", "enqueue reports 1"]) {
      const { code, out, err } = await run(ENQUEUE_TOKEN, ...line.split(" "));
      expect([line, code, out, err]).toEqual([line, 3, "", expect.stringMatching(/^sluice: .*scope/)]);
    }
  });

  test("that hides payloads: show and ls say so, and export refuses, because an import would lose them", async () => {
    await rig.queue().enqueue({ to: "a@example.com" }, { id: "one" });
    const onTerminal = (...args: string[]) =>
      rig.run(args, { env: { SLUICE_TOKEN: HIDING_TOKEN }, terminal: true });
    const { rows } = await run(HIDING_TOKEN, "show", "emails", "one");
    expect(rows).toMatchObject([{ id: "one", payloadsHidden: true }]);
    const shown = await onTerminal("show", "emails", "one");
    expect(shown.text).toContain("\nThe token hides payload, result, progress and headers.\n");
    const listed = await onTerminal("ls", "emails", "--payloads");
    expect(listed.text).toMatch(/PAYLOAD\n.* hidden\n/);
    expect(JSON.stringify([rows, shown.text, listed.text])).not.toContain("a@example.com");
    const { code, out, err } = await run(HIDING_TOKEN, "export", "emails");
    expect([code, out, err]).toEqual([1, "", "sluice: the token hides the payloads of emails\n"]);
    expect((await run(HIDING_TOKEN, "pause", "emails")).err).toContain("does not have the scope admin");
  });
});

describe("what is no deployment, or does not answer, ends with 3", () => {
  beforeEach(() => skipWaits());
  afterEach(() => void vi.restoreAllMocks());

  test("a URL on which nothing listens", async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    expect(await runHere(["queues"], { SLUICE_URL: url, SLUICE_TOKEN: TOKEN })).toMatchObject({
      code: 3,
      err: expect.stringContaining(`Is ${url} a deployment of Sluice, `),
    });
  });

  test.each([
    ["a page", () => new Response("<h1>Hello</h1>", { headers: { "content-type": "text/html" } })],
    ["other JSON", () => Response.json({ ok: true })],
    ["a redirect", () => Response.redirect("https://example.com/")],
    ["503", () => new Response(null, { status: 503 })],
  ])("a server that answers %s", async (_, answer) => {
    const { code, err } = await against(answer);
    expect(code).toBe(3);
    expect(err).toMatch(
      /^sluice: the server .* Is https:\/\/sluice\.test a deployment of Sluice, with the path below which it is mounted\?\n$/,
    );
    expect(err).not.toContain("Hello");
  });

  test("a deployment without tokens says that it has none", async () => {
    const problem = { code: "auth_not_configured", detail: "The server has no SLUICE_TOKENS." };
    const headers = { "content-type": "application/problem+json" };
    const { code, err } = await against(() => Response.json(problem, { status: 503, headers }));
    expect([code, err]).toEqual([3, "sluice: The server has no SLUICE_TOKENS\n"]);
  });

  test("a stream of events that breaks off, and is refused when it is opened again", async () => {
    let streams = 0;
    const breaking = streamsOf(() => {
      if (++streams === 2) throw new TypeError("fetch failed");
      return streams < 4 ? 'data: {"event":"x","at":1,"ids":[]}\n\n' : refused();
    });
    const { code, out, err } = await against(breaking, ["tail", "emails"], { terminal: true });
    expect([code, streams]).toEqual([3, 4]);
    expect(out.match(/gap +the connection was lost: events before this are missing/g)).toHaveLength(1);
    expect(err).toContain("no such token");
  });

  test("one of two streams that is refused, and ends the other; what a server sends is printable", async () => {
    const event = JSON.stringify({ event: "enqueued", at: 1, ids: ["\u001b[31mred"] });
    let streams = 0;
    const breaking = streamsOf((url) => {
      if (!url.includes("/one/")) return unended(`event: enqueued\ndata: ${event}\n\n`);
      return ++streams === 1 ? 'event: problem\ndata: {"detail":"Redis went away."}\n\n' : refused();
    });
    const { code, out, err } = await against(breaking, ["tail", "two", "one"], { terminal: true });
    expect([code, streams]).toEqual([3, 2]);
    expect(err).toContain("no such token");
    expect(out).not.toContain("\u001b[31m");
  });
});

/** A server of queues that publish events. */
const streamsOf = (stream: (url: string) => BodyInit | Response) => (url: string) => {
  if (!url.endsWith("/events")) return Response.json({ events: true });
  const answer = stream(url);
  if (answer instanceof Response) return answer;
  return new Response(answer, { headers: { "content-type": "text/event-stream" } });
};

const refused = () => {
  const headers = { "content-type": "application/problem+json" };
  return Response.json({ code: "unauthorized", detail: "no such token" }, { status: 401, headers });
};

const unended = (text: string) =>
  new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) });

test("no secret is in any output: Redis's password, the token of the REST interface, the deployment's", async () => {
  const redis = await startRedis();
  const transport = resp(redis.url);
  await transport.send([["CONFIG", "SET", "requirepass", "s3cret-password"]]);
  await transport.close();
  const environments: Record<string, string>[] = [
    { REDIS_URL: redis.url.replace("//", "//:s3cret-password@") },
    { REDIS_URL: redis.url.replace("//", "//:s3cret-wrong@") },
    { ...rig.environmentOf("the database"), UPSTASH_REDIS_REST_TOKEN: "s3cret-wrong" },
    { ...rig.environmentOf("a deployment"), SLUICE_TOKEN: "s3cret-0123456789abcdef" },
  ];
  const codes = [];
  for (const env of environments)
    for (const args of [["doctor"], ["queues"], ["enqueue", "emails", "1"], ["tail", "emails"]]) {
      const { code, out, err } = await runHere(args, env);
      expect(out + err).not.toContain("s3cret");
      codes.push(code);
    }
  await redis.stop();
  expect(codes).toEqual([0, 0, 0, 1, ...Array<number>(12).fill(3)]);
});
