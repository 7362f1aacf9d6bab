import type { Bytes } from "../bytes.ts";
import { commands, oneKey, type Context, type Words } from "../command.ts";
import { readIndex } from "../numbers.ts";
import { ReplyError, syntaxError, type Value } from "../reply.ts";
import type { Store } from "../store.ts";
import { MemberSet } from "../values/member-set.ts";
import { randomItems, readRandomCount } from "./random.ts";
import { scanned } from "./scan.ts";

export const setCommands = commands(
  ["@set"],
  [
    ["sadd", -3, "write denyoom fast", oneKey, add],
    ["srem", -3, "write fast", oneKey, remove],
    [
      "sismember",
      3,
      "readonly fast",
      oneKey,
      ({ store }, [, key = "", member = ""]) => (store.memberSet(key)?.has(member) ? 1 : 0),
    ],
    [
      "smismember",
      -3,
      "readonly fast",
      oneKey,
      ({ store }, [, key = "", ...members]) => {
        const set = store.memberSet(key);
        return members.map((member) => (set?.has(member) ? 1 : 0));
      },
    ],
    [
      "smembers",
      2,
      "readonly",
      oneKey,
      ({ store }, [, key = ""]) => [...(store.memberSet(key)?.members() ?? [])],
    ],
    ["scard", 2, "readonly fast", oneKey, ({ store }, [, key = ""]) => store.memberSet(key)?.size ?? 0],
    ["spop", -2, "write fast", oneKey, pop],
    ["srandmember", -2, "readonly", oneKey, randomMembers],
    ["smove", 4, "write fast", { first: 1, last: 2, step: 1 }, move],
    [
      "sscan",
      -3,
      "readonly",
      oneKey,
      ({ store }, words) =>
        scanned(
          words,
          2,
          () => store.memberSet(words[1] as Bytes),
          (member) => [member],
        ),
    ],
  ],
);

/** The set of a key, which is made if it is missing. Something must be added to it. */
function madeSet(store: Store, key: Bytes): MemberSet {
  const found = store.memberSet(key);
  if (found) return found;
  const set = new MemberSet();
  store.set(key, set);
  return set;
}

function add({ store }: Context, [, key = "", ...members]: Words): Value {
  const set = madeSet(store, key);
  return members.filter((member) => set.add(member)).length;
}

function remove({ store }: Context, [, key = "", ...members]: Words): Value {
  const set = store.memberSet(key);
  if (!set) return 0;
  const removed = members.filter((member) => set.delete(member)).length;
  store.deleteIfEmpty(key, set);
  return removed;
}

function pop({ store }: Context, [, key = "", text, ...more]: Words): Value {
  if (more.length > 0) throw syntaxError();
  const refused = () => new ReplyError("ERR value is out of range, must be positive");
  const count = text === undefined ? undefined : readIndex(text, refused);
  if (count !== undefined && count < 0) throw refused();
  const set = store.memberSet(key);
  if (!set) return count === undefined ? null : [];
  const popped = randomItems([...set.members()], count ?? 1);
  for (const member of popped) set.delete(member);
  store.deleteIfEmpty(key, set);
  return count === undefined ? (popped[0] ?? null) : popped;
}

function randomMembers({ store }: Context, [, key = "", text, ...more]: Words): Value {
  if (more.length > 0) throw syntaxError();
  const count = text === undefined ? undefined : readRandomCount(text);
  const set = store.memberSet(key);
  if (!set) return count === undefined ? null : [];
  const members = randomItems([...set.members()], count ?? 1);
  return count === undefined ? (members[0] ?? null) : members;
}

function move({ store }: Context, [, from = "", to = "", member = ""]: Words): Value {
  if (!store.has(from)) return 0;
  const source = store.memberSet(from);
  const target = store.memberSet(to);
  if (!source?.has(member)) return 0;
  if (source === target) return 1;
  source.delete(member);
  store.deleteIfEmpty(from, source);
  madeSet(store, to).add(member);
  return 1;
}
