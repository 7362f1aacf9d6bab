import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Example, withOutputs } from "./console-blocks.ts";
import type { Night } from "./night.ts";
import type { Shown } from "./terminal.ts";

/** The situation in which the commands below a heading are run. */
export interface Scene {
  /** Makes the situation. The database is empty, and it is 02:14:05. */
  readonly begin?: () => unknown;
  /** Variables of the shell. @default those of the night's deployment */
  readonly env?: () => Readonly<Record<string, string>>;
  /** Lines that the page leaves out, as `…`. */
  readonly leavesOut?: RegExp;
  /** What happens after commands that begin so; it gets what they printed. */
  readonly after?: Readonly<Record<string, (screen: string) => unknown>>;
  readonly end?: () => unknown;
}

/**
 * Registers the tests of a runbook: each command of its console blocks prints what the page shows, in the situation of
 * its chapter; and each command in its text is one that exists.
 */
export function runbookTests(file: string, night: Night, scenes: Readonly<Record<string, Scene>>): void {
  const page = readFileSync(file, "utf8");
  let current = "";
  let receipt = "";

  async function change(heading: string): Promise<void> {
    await scenes[current]?.end?.();
    current = heading;
    night.deploy();
    night.database.call("FLUSHALL");
    night.at("02:14:05");
    await scenes[heading]?.begin?.();
  }

  async function run({ heading, command }: Example): Promise<Shown> {
    const scene = scenes[heading];
    if (!scene) throw new Error(`the chapter ${heading} has no scene`);
    if (heading !== current) await change(heading);
    const env = { ...(scene.env?.() ?? night.env), RECEIPT: receipt };
    const shown = await night.terminal.run(command, env);
    receipt = /\s(\d+\.\d+\.\d+\.\S+)/.exec(shown.screen)?.[1] ?? receipt;
    for (const [start, happens] of Object.entries(scene.after ?? {}))
      if (command.startsWith(start)) await happens(shown.screen);
    return scene.leavesOut ? { ...shown, screen: without(scene.leavesOut, shown.screen) } : shown;
  }

  test("each command prints what the page shows, in its situation", { timeout: 300_000 }, async () => {
    const rewritten = await withOutputs(page, run);
    await change("");
    await expect(rewritten).toMatchFileSnapshot(file);
  });

  test("each command in the text exists, with its options", { timeout: 60_000 }, async () => {
    const prose = page.replaceAll(/^```[\s\S]*?^```$/gm, "");
    const commands = new Set(Array.from(prose.matchAll(/`(sluice [^`]+)`/g), ([, command = ""]) => command));
    night.at("02:14:05");
    await night.enqueueMails([17]);
    const wrong: string[] = [];
    for (const command of commands) {
      const { code, screen } = await night.terminal.run(command, night.env);
      if (code === 2) wrong.push(`${command}: ${screen}`);
    }
    expect(wrong).toEqual([]);
  });
}

/** A text in which `…` is in place of the lines that match. */
function without(pattern: RegExp, screen: string): string {
  const lines = screen.split("\n").map((line) => (pattern.test(line) ? "…" : line));
  return lines.filter((line, i) => line !== "…" || lines[i - 1] !== "…").join("\n");
}
