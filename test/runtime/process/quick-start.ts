import { expect, it } from "vitest";
import type { Place } from "../acceptance.ts";
import {
  blocksOf,
  commandsOf,
  deadLetterCommandsOf,
  installedBy,
  quickStart,
  type StartedQuickStart,
} from "../quick-start.ts";
import { end } from "./deployed.ts";
import { Project, type Runtime } from "./project.ts";

export interface ServerQuickStart {
  readonly runtime: Runtime;
  /** The file that a user writes. */
  readonly main: string;
  readonly configuration: readonly string[];
  /** The commands that need the network, an account or Docker. */
  readonly remote: RegExp;
}

/** The quick start of a page whose server is a process, typed as the page shows it. */
export function serverQuickStart({ runtime, main, configuration, remote }: ServerQuickStart): void {
  const page = `docs/platforms/${runtime}.md`;
  const example = `examples/${runtime}`;
  const typed = commandsOf(page);
  const starting = typed.find((line) => line.endsWith(` ${main}`)) ?? `echo ${page} starts nothing; false`;
  const [signUp = "", sweep = "", ...more] = typed.filter((line) => line.startsWith('curl "http://127'));

  async function start({ redis, env }: Place): Promise<StartedQuickStart> {
    const project = await Project.open(example, { packages: installedBy(typed) });
    // All variables of the page, except those that the Redis over TCP replaces.
    const settings = blocksOf(page, "ini").join("\n");
    const own = settings
      .replaceAll(/^(?:UPSTASH|SLUICE_WAKE)_.*$/gm, "")
      .replace(/(?<=^REDIS_URL=).*/m, redis.url)
      .replace(/(?<=^MAIL_URL=).*/m, env["MAIL_URL"] ?? "");
    await project.write(".env", own);
    const server = await project.start(starting);
    const type = async (line: string) =>
      JSON.parse(await project.run(line.replace("http://127.0.0.1:8787", server.url))) as {
        status: number;
        body: unknown;
      };
    return {
      async fetch({ url }) {
        const path = url.slice(new URL(url).origin.length);
        const { status, body } = await type(signUp.replace("/signup?to=a@example.com", path));
        return Response.json(body, { status });
      },
      cron: async () => expect(await type(sweep)).toMatchObject({ status: 200, body: { failed: [] } }),
      type: (line) => project.run(line),
      async stop() {
        try {
          await end(server);
        } finally {
          await project.close();
        }
      },
    };
  }

  quickStart(runtime, {
    page,
    code: [`${example}/${main}`],
    configuration: configuration.map((file) => `${example}/${file}`),
    start,
  });

  it(`needs the network, an account or Docker for all other commands about ${runtime}`, () => {
    expect(more).toEqual([]);
    const tested = [starting, signUp, sweep, ...deadLetterCommandsOf(page)];
    const ofFirstTask = / gateway --embedded --token local$/;
    expect(
      typed.filter((line) => !tested.includes(line) && !ofFirstTask.test(line) && !remote.test(line)),
    ).toEqual([]);
  });
}
