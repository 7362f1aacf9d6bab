import { expect, test } from "vitest";
import { textOf } from "./code.ts";
import type { Ran } from "./shell.ts";

/** A command of a page, with what the page shows of it. */
export interface Example {
  /** The heading above it. */
  readonly heading: string;
  readonly command: string;
  readonly shown: string;
  /** The status of the response to a curl of the HTTP reference. */
  readonly status: number | undefined;
}

/**
 * The commands of a page, in order: of its console blocks those after `$`, and the curl lines that are followed by their
 * answer as a comment, as in `# 200 {"ok": true}`.
 */
export function examplesOf(page: string): Example[] {
  let heading = "";
  const parts = textOf(page).matchAll(/^#+ (.*)\n|^```(console|sh)\n([\s\S]*?)^```\n/gm);
  return Array.from(parts).flatMap(([, title, language, block = ""]) => {
    heading = title ?? heading;
    if (language === "console")
      return block
        .split(/^\$ /m)
        .slice(1)
        .map((text) => consoleExample(heading, text));
    const curls = language === "sh" ? block.split(/\n(?=curl )/) : [];
    return curls.flatMap((text) => curlExample(heading, text) ?? []);
  });
}

/** A command goes on while its line ends with a backslash or a pipe, or a quote is open. */
function consoleExample(heading: string, text: string): Example {
  const lines = text.split("\n");
  const isWhole = (command: string) => !/[\\|]$/.test(command) && command.split("'").length % 2 === 1;
  const end = lines.findIndex((_, i) => isWhole(lines.slice(0, i + 1).join("\n"))) + 1;
  return {
    heading,
    command: lines.slice(0, end).join("\n"),
    shown: lines.slice(end).join("\n"),
    status: undefined,
  };
}

function curlExample(heading: string, text: string): Example | undefined {
  const [, command, status, shown = ""] = /^(curl [\s\S]*?)\n# (\d{3})([\s\S]*)/.exec(text) ?? [];
  return command === undefined
    ? undefined
    : { heading, command, status: Number(status), shown: shown.replaceAll(/^# ?/gm, "") };
}

/** What a page shows if a command did not do all that it was asked to, or if Ctrl-C ends it. */
const FAILED = /^(?:sluice: |✗ |\w+: unexpected_reply)|cannot be read|not_found|Ctrl-C ends it/m;

/**
 * What a reader relies on in what a page shows: an exit code, the names of the fields of JSON, and otherwise the first
 * word of each line that is not a name with digits.
 */
function keyWords(shown: string): string[] {
  return shown.split("\n").flatMap((line) => {
    const [exitCode] = /exit code \d/.exec(line) ?? [];
    const fields = line.match(/"\w+":/g)?.map((field) => field.slice(0, -1));
    const [word] = /(?<![\w./-])[A-Za-z][A-Za-z_-]+(?![\w./-])/.exec(line) ?? [];
    return exitCode ?? fields ?? word ?? [];
  });
}

/** How what a command did differs from what the page says: nothing if it does not. */
function differences({ command, shown, status }: Example, ran: Ran): string[] {
  const missing = keyWords(shown).filter((word) => !ran.screen.includes(word));
  const fails = FAILED.test(shown) && !shown.includes("exit code");
  const isAsSaid = status === undefined ? (ran.code !== 0) === fails : ran.status === status;
  if (isAsSaid && missing.length === 0) return [];
  const { code, screen } = ran;
  return [`${command}\nends with ${ran.status ?? code}, without ${missing.join(", ")}:\n${screen}`];
}

export interface Scene {
  /** Runs a command of the page, or leaves it to another test. */
  readonly run: (command: string, example: Example) => Promise<Ran | undefined>;
  /** What happens before the first command below a heading. */
  readonly before?: Readonly<Record<string, () => unknown>>;
  /** What happens after commands that begin so; it gets what they printed. */
  readonly after?: Readonly<Record<string, (screen: string) => unknown>>;
}

/** Registers a test that the commands of a page do what it says, one after the other. */
export function testCommands(page: string, { run, before = {}, after = {} }: Scene): void {
  test(`each command of ${page} ends as the page says, and prints what it names`, async () => {
    const wrong: string[] = [];
    const begun = new Set<string>();
    for (const example of examplesOf(page)) {
      const { heading, command } = example;
      if (!begun.has(heading)) await before[heading]?.();
      begun.add(heading);
      const ran = await run(command, example);
      if (!ran) continue;
      wrong.push(...differences(example, ran));
      for (const [start, happens] of Object.entries(after))
        if (command.startsWith(start)) await happens(ran.screen);
    }
    expect(wrong).toEqual([]);
    const unknown = Object.keys(before).filter((heading) => !begun.has(heading));
    expect(unknown, "headings without commands").toEqual([]);
  });
}
