import type { Shown } from "./terminal.ts";

/** A command of a page, with what the page shows of its output. */
export interface Example {
  /** The heading above it. */
  readonly heading: string;
  readonly command: string;
  readonly shown: string;
}

/** What differs from run to run. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  // First, because a token may have what looks like an id in it.
  [/\bsluice_[\w-]{43}|\bdev_[\w-]{24}|(?<=REST_TOKEN=)[\w-]{32}/g, "TOKEN"],
  [/\b\d+\.\d+\.\d+\.[\w-]{16,22}\.(?=[\w-])/g, "RECEIPT."],
  [/\b0[A-Za-z][\w-]{18}\b/g, "ID"],
  [/\b[0-9a-f]{12}-(?=\d)/g, "UPLOAD-"],
  [/\b[0-9a-f]{64}\b/g, "SHA256"],
  [/(?<=127\.0\.0\.1|localhost):\d+/g, ":PORT"],
  [/\b\d+ ms a call/g, "1 ms a call"],
  [/(?<=version: )\d+\.\d+\.\d+/g, "7.0.0"],
  [/\b\d+ [KM]B\b/g, "1 MB"],
  [/\bin \d+ tries over \d+ ms/g, "in 10 tries over 9900 ms"],
  [/\burn:uuid:[\w-]+/g, "UUID"],
  // Columns are as wide as what they hold.
  [/ {2,}/g, "  "],
];

/** What a page shows in place of what differs from run to run, if its output is written anew. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/(?<=database at 127\.0\.0\.1:)\d+/g, "6379"],
  [/(?<=REST_URL=http:\/\/127\.0\.0\.1:)\d+/g, "8079"],
  [/(?<=(?:(?:SLUICE_URL=|Dashboard: )http:\/\/127\.0\.0\.1|localhost):)\d+/g, "8787"],
  [/\b\d+(?= ms a call)/g, "2"],
];

/**
 * Runs the commands of the console blocks of a page, in order, and returns the page with what they print. What the page
 * already shows stays as it is if only random parts differ. A shown line `…` is for any lines.
 */
export async function withOutputs(page: string, run: (example: Example) => Promise<Shown>): Promise<string> {
  let heading = "";
  const parts = page.split(/^(#+ .*\n|```console\n[\s\S]*?\n```\n)/m);
  for (const [i, part] of parts.entries()) {
    const [, title] = /^#+ (.*)\n$/.exec(part) ?? [];
    heading = title ?? heading;
    if (!part.startsWith("```console\n")) continue;
    const examples = part.slice("```console\n".length, -"```\n".length).split(/^\$ /m).slice(1);
    let output = "";
    for (const text of examples) {
      const { command, shown } = splitExample(text);
      const { screen } = await run({ heading, command, shown });
      const ended = screen === "" || screen.endsWith("\n") ? screen : `${screen}\n`;
      output += `$ ${command}\n${isSame(shown, ended) ? shown : renamed(ended)}`;
    }
    parts[i] = `\`\`\`console\n${output}\`\`\`\n`;
  }
  return parts.join("");
}

const renamed = (output: string) =>
  NAMES.reduce((text, [pattern, name]) => text.replace(pattern, name), output);

/** A command goes on while its line ends with a backslash or a pipe, or a quote is open. */
function splitExample(text: string): { command: string; shown: string } {
  const lines = text.replace(/\n$/, "").split("\n");
  const isWhole = (command: string) => !/[\\|]$/.test(command) && command.split("'").length % 2 === 1;
  const end = lines.findIndex((_, i) => isWhole(lines.slice(0, i + 1).join("\n"))) + 1;
  const shown = lines.slice(end);
  return {
    command: lines.slice(0, end).join("\n"),
    shown: shown.map((line) => `${line}\n`).join(""),
  };
}

/** Whether an output is as shown, except for what differs from run to run. */
export function isSame(shown: string, actual: string): boolean {
  const masked = (text: string) =>
    MASKS.reduce((changed, [pattern, name]) => changed.replace(pattern, name), text.trimEnd());
  const parts = masked(shown).split(/^…$\n?/m);
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${escaped.join("[^]*")}$`).test(masked(actual));
}
