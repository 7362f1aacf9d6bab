import { type Command, Help, type Option } from "commander";

/** Groups of options that many commands have. The page describes each once. */
const SHARED = ["Which tasks:", "Where and how:"];
const WIDTH = 110;

/** A part of the page that is made from the help of the program. */
const PART = /(<!-- from sluice --help: (.+) -->\n)[\s\S]*?(<!-- end -->)/g;

/**
 * The page with its parts that are made from the help of the program. A part is named by a command, by the heading of a
 * group of options, or `commands` for the list of all.
 */
export function withHelp(page: string, program: Command): string {
  return page.replace(PART, (_, start: string, name: string, end: string) => {
    const lines = name === "commands" ? listOf(program) : (groupOf(program, name) ?? helpOf(program, name));
    return [start, ...lines, "", end].join("\n");
  });
}

/** The names of the parts of the page. */
export function partsOf(page: string): string[] {
  return Array.from(page.matchAll(PART), ([, , name = ""]) => name);
}

/** All commands, with the chapters of the page. */
function listOf(program: Command): string[] {
  const commands = described(program);
  const rows = commands.map((command, i) => {
    const chapter = command.helpGroup().replace(/:$/, "");
    const isFirst = commands[i - 1]?.helpGroup() !== command.helpGroup();
    const name = command.name();
    return `| ${isFirst ? chapter : ""} | [${name}](#${name}) | ${cell(command.summary())} |`;
  });
  return ["| | command | |", "|---|---|---|", ...rows];
}

/** The commands of the program, except `help`. */
export function described(program: Command): Command[] {
  return program.commands.filter((command) => command.options.length > 0 || command.description() !== "");
}

/** A group of options that many commands have; undefined if there is none with this heading. */
function groupOf(program: Command, heading: string): string[] | undefined {
  if (!SHARED.includes(heading)) return undefined;
  const [options = []] = program.commands
    .map((command) => command.options.filter(({ helpGroupHeading }) => helpGroupHeading === heading))
    .filter(({ length }) => length > 0);
  return tableOf(options).slice(1);
}

function helpOf(program: Command, name: string): string[] {
  const command = program.commands.find((one) => one.name() === name);
  if (!command) throw new Error(`the page describes ${name}, which is neither a command nor a group`);
  const own = command.options.filter(({ helpGroupHeading: heading = "" }) => !SHARED.includes(heading));
  const filters = command.options.some(({ helpGroupHeading }) => helpGroupHeading === SHARED[0]);
  return [
    `\`sluice ${[name, ...command.registeredArguments.map(argumentOf)].join(" ")}\``,
    "",
    ...paragraphs(command.description()),
    ...tableOf(own, command.registeredArguments),
    ...(filters ? ["", "It also has the options that say [which tasks](#which-tasks)."] : []),
  ];
}

function argumentOf(argument: Command["registeredArguments"][number]): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** A blank line and a table of the arguments that have a description, and of the options; nothing without any. */
function tableOf(options: readonly Option[], args: Command["registeredArguments"] = []): string[] {
  const help = new Help();
  const rows = [
    ...args.map((argument) => [argumentOf(argument), help.argumentDescription(argument)] as const),
    ...options.map((option) => [option.flags, help.optionDescription(option)] as const),
  ].filter(([, description]) => description !== "");
  if (rows.length === 0) return [];
  return ["", "| | |", "|---|---|", ...rows.map(([term, text]) => `| \`${term}\` | ${cell(text)} |`)];
}

/** A text for a table. */
function cell(text: string): string {
  return marked(text).replaceAll("|", String.raw`\|`);
}

/** A text with options, variables, placeholders and JSON as code. Markdown would take `<…>` for HTML. */
function marked(text: string): string {
  return text.replace(
    /<[\w-]+>(?:\/<[\w-]+>)*|\{"[^}]*\}|(?<![\w-])--[a-z-]+|\b[A-Z]+(?:_[A-Z]+)+\b/g,
    (code) => `\`${code}\``,
  );
}

/** The paragraphs of a description, wrapped. Indented lines are code. */
function paragraphs(description: string): string[] {
  return description.split("\n\n").flatMap((paragraph, i) => {
    const lines = /^ {2}/.test(paragraph)
      ? [
          "```sh",
          ...paragraph.split("\n").map((line) => line.replace(/^ +(\w+): +(.*)$/, "$2    # $1")),
          "```",
        ]
      : wrapped(marked(paragraph.replaceAll("\n", " ")));
    return i === 0 ? lines : ["", ...lines];
  });
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  // A line break inside of code would be part of it.
  for (const word of text.match(/(?:`[^`]*`|\S)+/g) ?? []) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
