import { Command } from "commander";
import type { GroupInfo, GroupPage } from "../../operate/groups.ts";
import type { GroupSettings, QueueSettings, Rate } from "../../operate/settings.ts";
import { messageOf } from "../../errors.ts";
import { shellQuoted } from "../../shell-quoted.ts";
import { UsageError } from "../exit.ts";
import { nearestName } from "../../nearest-name.ts";
import { durationWithin, rate } from "../options.ts";
import { until } from "../output/times.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { knownOrNewQueue, newOption, noteNewQueue, refuseUnknownQueue } from "../unknown-queue.ts";

const QUEUE_SETTINGS = ["maxWorking", "rate", "maxPending", "events", "statistics", "order", "onDead"];
const GROUP_SETTINGS = ["paused", "weight", "maxWorking", "rate", "order", "onDead"];

/** The settings that a group has from its queue, if it has none of its own, and their values. */
const OF_ORDER: Readonly<Record<string, readonly string[]>> = {
  order: ["strict", "none"],
  onDead: ["continue", "stop"],
};

interface SettingsOptions {
  readonly group?: string;
  readonly new?: boolean;
}

export function settingsCommand(running: Running): Command {
  const command = new Command("settings")
    .summary("show or change the settings of a queue or a group")
    .description(
      `Shows the settings of a queue, or changes them. Settings: ${QUEUE_SETTINGS.join(", ")}; of a group: ${GROUP_SETTINGS.join(", ")}. A rate is <number>/<duration>. "none" removes a setting; order and onDead of a group are removed by "queue".`,
    )
    .argument("<queue>")
    .argument("[name=value...]", "such as rate=5/1s events=on maxWorking=none")
    .option("--group <group>", "the settings of this group; sluice groups lists groups")
    .addOption(newOption());
  return operation(
    running,
    command,
    async (session: Session, options: SettingsOptions, queue: string, given: readonly string[]) => {
      const { group, new: isNew } = options;
      const { api, out } = session;
      const names = group === undefined ? QUEUE_SETTINGS : GROUP_SETTINGS;
      const changes = Object.fromEntries(
        given.map((text) => changeOf(text, names, shellQuoted(queue) + session.where)),
      );
      const path =
        group === undefined
          ? pathOf(queue, "settings")
          : pathOf(queue, "groups", { name: group, of: "--group" });
      const show = (settings: QueueSettings | GroupSettings) => {
        const all = group === undefined ? settings : { queue, group, ...settings };
        const { pausedUntil, ...others } = all;
        const lines = Object.entries(others).map(([name, value]) => {
          const isOfQueue = group !== undefined && value === null && name in OF_ORDER;
          const end = name === "paused" ? until(pausedUntil) : "";
          return `${name.padEnd(12)}${isOfQueue ? "queue" : shown(value)}${end}`;
        });
        out.value(all, lines.join("\n"));
      };
      if (given.length === 0) {
        await refuseUnknownQueue(session, queue);
        const settings: QueueSettings | GroupInfo = await api.get(path, "maxWorking");
        show(settings);
        return "group" in settings ? noteUnusedGroup(session, settings) : undefined;
      }
      const unknown = await knownOrNewQueue(session, queue, isNew);
      const before: GroupInfo | undefined =
        group === undefined || unknown ? undefined : await api.get(path, "maxWorking");
      show(await api.send("PATCH", path, "maxWorking", changes));
      noteNewQueue(session, queue, unknown);
      if (before) await noteUnusedGroup(session, before);
    },
  );
}

/** Says that a group has neither tasks nor settings: its name may be misspelt. */
async function noteUnusedGroup({ api, out }: Session, info: GroupInfo): Promise<void> {
  const { queue, group, ready, working, limited, paused, weight } = info;
  const isSet = [info.maxWorking, info.rate, info.order, info.onDead].some((setting) => setting !== null);
  const isUsed = ready + working + limited > 0 || paused || weight !== 1 || isSet;
  if (isUsed) return;
  const { groups }: GroupPage = await api.get(pathOf(queue, "groups"), "groups", { size: 1_000 });
  const nearest = nearestName(
    group,
    groups.map((other) => other.group),
  );
  const meant = nearest === undefined ? "." : `; did you mean ${nearest}?`;
  out.note(`No task of the group ${group} is pending or working, and it had no settings${meant}`);
}

function changeOf(text: string, names: readonly string[], queue: string): [string, unknown] {
  const [, name = "", value = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === "") throw new UsageError(`${text} must be <name>=<value>; ${namesOf(names)}`);
  if (!names.includes(name)) throw new UsageError(unknownSetting(name, value, names, queue));
  const values = OF_ORDER[name];
  if (values) {
    const isOfGroup = names === GROUP_SETTINGS;
    if (isOfGroup ? value === "queue" : name === "order" && value === "none") return [name, null];
    if (values.includes(value)) return [name, value];
    const all = [...values, ...(isOfGroup ? ["queue"] : [])].map((one) => `${name}=${one}`);
    throw new UsageError(`${text} must be ${all.slice(0, -1).join(", ")} or ${all.at(-1)}`);
  }
  if (value === "none") return [name, null];
  if (name === "rate") {
    try {
      return [name, rate(value)];
    } catch (error) {
      throw new UsageError(`rate ${messageOf(error)}`);
    }
  }
  if (name === "paused" && value !== "on" && value !== "off") {
    try {
      return [name, { for: durationWithin({ min: 1 })(value) }];
    } catch {
      throw new UsageError(`${text} must be paused=on, paused=off or paused=<duration>, such as paused=5m`);
    }
  }
  if (name === "events" || name === "statistics" || name === "paused") {
    if (value !== "on" && value !== "off") throw new UsageError(`${text} must be ${name}=on or ${name}=off`);
    return [name, value === "on"];
  }
  if (!/^\d+$/.test(value)) throw new UsageError(`${text} must be ${name}=<number> or ${name}=none`);
  return [name, Number(value)];
}

const namesOf = (names: readonly string[]) => `the names are ${names.join(", ")}`;

/** @param queue as a command takes it */
function unknownSetting(name: string, value: string, names: readonly string[], queue: string): string {
  const isOfQueue = names === QUEUE_SETTINGS;
  if (name === "paused" && isOfQueue)
    return `use sluice ${value === "off" ? "resume" : "pause"} ${queue}${forTime(value)} in place of paused=${value}`;
  if ((isOfQueue ? GROUP_SETTINGS : QUEUE_SETTINGS).includes(name))
    return `${name} is a setting of ${isOfQueue ? "a group: add --group <group>" : "the queue: leave out --group"}`;
  const nearest = nearestName(name, names);
  return `there is no setting ${name}; ${nearest === undefined ? namesOf(names) : `did you mean ${nearest}?`}`;
}

const forTime = (value: string) => (value === "on" || value === "off" ? "" : ` --for ${value}`);

/** A setting as the command takes it. */
function shown(value: boolean | number | string | Rate<number> | null): string {
  if (value === null) return "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value !== "object") return String(value);
  return rateText(value);
}

/** A rate as the command takes it. */
export function rateText(value: Rate<number>): string {
  return `${value.most}/${value.per % 1_000 === 0 ? `${value.per / 1_000}s` : `${value.per}ms`}`;
}
