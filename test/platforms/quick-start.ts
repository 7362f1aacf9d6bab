import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Deployed, openPlace, type Place } from "./acceptance.ts";
import { root } from "./installed.ts";
import { freePorts } from "./newcomer.ts";
import { commands } from "./process/project.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");

/** A platform's page, with the example that it shows. */
export interface QuickStart {
  /** Such as `docs/platforms/vercel.md`. */
  readonly page: string;
  /** The code that a user writes, from the root of the repository. */
  readonly code: readonly string[];
  /** The configuration that a user writes. The part after `# In this repository` is not shown. */
  readonly configuration: readonly string[];
  /** Runs it as the page says, in the place's environment, which has `MAIL_URL`, too. */
  readonly start: (place: Place) => Promise<StartedQuickStart>;
}

export interface StartedQuickStart extends Deployed {
  /** Types a command beside it. Returns what it prints. */
  readonly type: (command: string) => Promise<string>;
}

/** The commands of the page that list and redrive dead letters. */
export function deadLetterCommandsOf(page: string): string[] {
  return commandsOf(page).filter((line) => /\bsluice (?:dead|redrive) /.test(line));
}

export interface Mail {
  /** The idempotency key. */
  readonly key: string;
  readonly to: string;
  readonly status: number;
}

/** A mail server that accepts `b@…` at the second try, and `c@…` never. */
export async function openMailServer() {
  const mails: Mail[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { to } = JSON.parse(body) as { to: string };
      const first = mails.every((mail) => mail.to !== to);
      const status = to.startsWith("c@") ? 422 : to.startsWith("b@") && first ? 503 : 202;
      mails.push({ key: String(request.headers["idempotency-key"]), to, status });
      response.writeHead(status).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** All received mails, by recipient. */
    mails: () => mails.toSorted((x, y) => (x.to < y.to ? -1 : x.to > y.to ? 1 : 0)),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The page's blocks in one of these languages. */
export function blocksOf(page: string, ...languages: string[]): string[] {
  const blocks = read(page).matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm);
  return [...blocks]
    .filter(([, language = ""]) => languages.includes(language))
    .map(([, , code = ""]) => code);
}

/** The command of the page that starts a mail service to try the example against. */
function mailServiceOf(page: string): string | undefined {
  return blocksOf(page, "sh").find((block) => block.includes("9090"));
}

/** The commands of the page, without comments and without {@link mailServiceOf}. */
export function commandsOf(page: string): string[] {
  return blocksOf(page, "sh")
    .filter((block) => block !== mailServiceOf(page))
    .join("\n")
    .replaceAll(/ *\\\n */g, " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s+)#.*$/, "").trim())
    .filter((line) => line !== "");
}

/** The packages that commands install beside Sluice, without their versions. */
export function installedBy(commands: readonly string[]): string[] {
  return commands
    .filter((line) => /^(?:npm install|bun add|deno add) /.test(line))
    .flatMap((line) => line.split(" ").slice(2))
    .filter((word) => !word.startsWith("-"))
    .map((word) => word.replace(/^npm:/, "").replace(/(?<=.)@.*$/, ""))
    .filter((name) => name !== "sluice-queue");
}

/** A file as the page shows it. */
export const shownOf = (file: string): string =>
  (read(file).split("\n# In this repository")[0] ?? "").trimEnd();

async function runMailService(command: string): Promise<void> {
  const [port = 0] = await freePorts(1);
  const PATH = [...Object.values(commands).map((program) => dirname(program)), process.env["PATH"]].join(":");
  const typed = `exec ${command.replace("9090", String(port))}`;
  const service = spawn("bash", ["-c", typed], { env: { PATH } });
  try {
    const send = async (to: string) => {
      const body = JSON.stringify({ to });
      return (await fetch(`http://127.0.0.1:${port}`, { method: "POST", body })).status;
    };
    await expect.poll(() => send("a@example.com").catch(() => 0), { timeout: 20_000 }).toBe(204);
    expect(await send("c@example.com")).toBe(422);
  } finally {
    service.kill();
  }
}

/** The tests of every quick start: the page shows it, it is short, and each welcome mail is sent once. */
export function quickStart(platform: string, { page, code, configuration, start }: QuickStart): void {
  describe(`the quick start on ${platform}`, () => {
    it("is the code of its page", () => {
      const shown = new Set(blocksOf(page, "ts", "js", "toml", "json", "yaml", "yml", "dockerfile"));
      expect([...code, ...configuration].map(shownOf).filter((text) => !shown.has(text))).toEqual([]);
    });

    it("takes at most 40 lines of own code", () => {
      const lines = code.flatMap((file) => read(file).split("\n")).filter((line) => line.trim() !== "");
      expect(lines.length).toBeLessThanOrEqual(40);
    });

    const mailService = mailServiceOf(page);
    if (mailService !== undefined) {
      it("has a mail service of one command, to try it against", () => runMailService(mailService));
    }

    describe("when it runs", () => {
      let place: Awaited<ReturnType<typeof openPlace>>;
      let mailServer: Awaited<ReturnType<typeof openMailServer>>;
      let deployed: StartedQuickStart;
      beforeAll(async () => {
        [place, mailServer] = await Promise.all([openPlace(), openMailServer()]);
        deployed = await start({ ...place, env: { ...place.env, MAIL_URL: mailServer.url } });
      }, 120_000);
      afterAll(async () => {
        await deployed?.stop();
        await mailServer?.close();
        await place?.close();
      });

      it("sends each mail once, again the one that failed, and not again the one that is refused", async () => {
        const signUp = async (to: string) => {
          const response = await deployed.fetch(new Request(`http://quick.test/signup?to=${to}`));
          return [response.status, await response.json()];
        };
        const enqueued = (to: string, created: boolean) => ({
          id: `welcome-${encodeURIComponent(to)}`,
          created,
        });
        expect([
          await signUp("a@example.com"),
          await signUp("b@example.com"),
          await signUp("c@example.com"),
          await signUp("a@example.com"),
        ]).toEqual([
          [201, enqueued("a@example.com", true)],
          [201, enqueued("b@example.com", true)],
          [201, enqueued("c@example.com", true)],
          [200, enqueued("a@example.com", false)],
        ]);
        const sent = [
          { key: "welcome-a%40example.com", to: "a@example.com", status: 202 },
          { key: "welcome-b%40example.com", to: "b@example.com", status: 503 },
          { key: "welcome-b%40example.com", to: "b@example.com", status: 202 },
          { key: "welcome-c%40example.com", to: "c@example.com", status: 422 },
        ];
        await expect
          .poll(
            async () => {
              await deployed.cron();
              return mailServer.mails();
            },
            { timeout: 20_000, interval: 250 },
          )
          .toEqual(sent);
        await deployed.cron();
        expect((await deployed.fetch(new Request("http://quick.test/signup"))).status).toBe(404);
        expect(mailServer.mails()).toEqual(sent);
      });

      it("gets /dashboard and all below it, which the configuration lets through", async () => {
        const own = async (path: string) => {
          const response = await deployed.fetch(new Request(`http://quick.test${path}`));
          return [response.status, await response.json()];
        };
        // The dashboard is off, so the code answers as it does to every path that is not its own.
        for (const path of ["/dashboard", "/dashboard/api/v1/queues"]) {
          expect(await own(path)).toEqual([404, "/signup?to=…"]);
        }
      });

      it("lists the mail that is refused as a dead letter, and redrives it", async () => {
        // Deno's and Bun's ways to run a package's command need the network.
        const type = (line: string) =>
          deployed.type(line.replace(/^.*sluice (?=dead|redrive)/, "npx sluice "));
        const [list = "false", redrive = "false", ...more] = deadLetterCommandsOf(page);
        expect(more).toEqual([]);
        expect(await type(list)).toContain('"id":"welcome-c%40example.com"');
        await type(redrive);
        const refused = () => mailServer.mails().filter(({ status }) => status === 422);
        await expect
          .poll(async () => (await deployed.cron(), refused()), { timeout: 20_000, interval: 250 })
          .toHaveLength(2);
        expect(await type(list)).toContain('"attempt":2');
      });
    });
  });
}
