import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { processIo } from "../../src/cli/io.ts";
import { NonRetryableError } from "../../src/index.ts";
import { blocksOf, pages, textOf } from "./code.ts";
import { testCommands } from "./commands.ts";
import { root } from "./named-tests.ts";
import { minutesAgo, useDeployed } from "./scene.ts";

const page = textOf("docs/cli.md");
const program = createProgram({ io: processIo(), exitCode: 0 });
/** All but `help`. */
const commands = program.commands.filter((one) => one.options.length > 0 || one.description() !== "");
/** A text without marks, as the page has it. */
const plain = (text: string) => text.replaceAll(/[`\\]/g, "").replaceAll(/\s+/g, " ");

test("the page lists each command with its summary, in the order of the help", () => {
  const rows = Array.from(page.matchAll(/^\| (?:\w[\w ]*)? \| `(\w+)` \| (.*) \|$/gm), ([, ...row]) =>
    row.map(plain),
  );
  expect(rows.length).toBeGreaterThan(25);
  expect(rows).toEqual(commands.map((command) => [command.name(), plain(command.summary())]));
});

test("each command and each option that a page names exists", () => {
  const wrong = pages.flatMap((path) =>
    Array.from(textOf(path).matchAll(/(?:^\$ |`|npx |[|(;] )sluice ([a-z]+)([^`|\n]*)/gm)).flatMap(
      ([line, name = "", rest = ""]) => {
        const command = program.commands.find((one) => one.name() === name);
        if (name === "help") return [];
        if (!command) return [`${path}: ${line}`];
        const known = new Set(["--help", ...command.options.map(({ long }) => long ?? "")]);
        const named = rest.match(/(?<=\s)--[a-z-]+/g) ?? [];
        return named
          .filter((option) => !known.has(option))
          .map((option) => `${path}: ${line} has no ${option}`);
      },
    ),
  );
  expect(wrong).toEqual([]);
});

const deployed = useDeployed();
const { queue, operator, enqueueMails } = deployed;
const inFolder = (name: string) => join(deployed.shell.folder, name);

/** A night in which the mail server failed. */
async function night(): Promise<void> {
  await operator().configure({ statistics: true });
  await enqueueMails([17, 18, 19], { maxAttempts: 2 });
  await enqueueMails([20]);
  for (const minutes of [30, 29])
    for (const task of await queue("emails", { now: minutesAgo(minutes) }).dequeue({ max: 4 }))
      if (task.id === "welcome-20") await task.reject(new NonRetryableError("the address is refused"));
      else await task.requeue({ error: new Error("HTTP 503"), delay: "10s" });
  await queue("reports").enqueue({ report: 7 }, { id: "report-7" });
  await operator("reports").pause();
  await enqueueMails([21, 23], {}, minutesAgo(4));
  await enqueueMails([22], { group: "tenant-7" });
  await enqueueMails([24], { delay: "1h" });
  await queue().dequeue({ worker: { name: "mailer-1", node: "fra-1" } });
  const payload = { to: "team@example.com" };
  await deployed.schedules("emails").put("digest", { cron: "0 9 * * 1", timeZone: "Europe/Berlin", payload });
}

testCommands("docs/cli.md", {
  run(command) {
    // test/local and test/gateway run them.
    if (/^sluice (?:dev|serve|gateway)\b/.test(command)) return Promise.resolve(undefined);
    return deployed.run(command);
  },
  before: {
    See: night,
    Operate: () => {
      writeFileSync(inFolder("queues.ts"), blocksOf("docs/cli.md")[0]?.code ?? "");
      // The package as its users have it.
      mkdirSync(inFolder("node_modules/sluice-queue"), { recursive: true });
      writeFileSync(
        inFolder("node_modules/sluice-queue/package.json"),
        '{"type": "module", "exports": "./index.js"}',
      );
      writeFileSync(
        inFolder("node_modules/sluice-queue/index.js"),
        `export * from "${join(root, "src/index.ts")}";`,
      );
    },
    "Work by hand or script": () => operator("reports").pause(),
    "Move tasks, and large imports": () => {
      const lines = Array.from({ length: 1_200 }, (_, i) =>
        i === 1_100 ? "{to: 1}" : `{"to": "${i}@example.com"}`,
      );
      writeFileSync(inFolder("mails.jsonl"), lines.join("\n"));
    },
  },
});
