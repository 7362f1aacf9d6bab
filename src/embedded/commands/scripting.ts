import type { Bytes } from "../bytes.ts";
import {
  commands,
  container,
  keysOf,
  type Command,
  type Context,
  type KeyWords,
  type Words,
} from "../command.ts";
import { integerOf } from "../numbers.ts";
import { OK, ReplyError, type Value } from "../reply.ts";
import type { LoadedScript } from "../scripts.ts";

const scriptKeys: KeyWords = { first: 3, countAt: 2 };
const evalFlags = "noscript stale skip_monitor no_mandatory_keys movablekeys";

/** The script that runs, and what it may do. */
export interface RunningScript {
  readonly context: Context;
  readonly script: LoadedScript;
  readonly keys: readonly Bytes[];
  readonly isReadOnly: boolean;
  /** Whether it has run a command that writes. A full Redis refuses only a first write. */
  hasWritten: boolean;
}

/**
 * The commands of scripts.
 * @param during runs something while a script counts as running
 */
export const scriptingCommands = (
  during: <Result>(script: RunningScript, run: () => Result) => Result,
): Command[] => {
  const evaluate =
    (find: (context: Context, word: Bytes) => LoadedScript, readOnly = false) =>
    (context: Context, words: Words): Value => {
      const [, body = "", count = "", ...rest] = words;
      const keys = keysOf({ keys: scriptKeys } as Command, words);
      checkCount(count, rest.length);
      const script = find(context, body);
      const running = {
        context,
        script,
        keys,
        isReadOnly: readOnly || script.writesNothing,
        hasWritten: false,
      };
      const result = during(running, () => context.server.scripts.run(script, keys, rest.slice(keys.length)));
      if ("reply" in result) return result.reply;
      const place = result.line === "" ? "" : ` script: ${script.sha}, on @user_script:${result.line}.`;
      return new ReplyError(result.error + place);
    };
  const bySource = ({ server }: Context, source: Bytes) => server.scripts.load(source);
  const bySha = ({ server }: Context, sha: Bytes) => {
    const script = server.scripts.find(sha);
    if (!script) throw new ReplyError("NOSCRIPT No matching script. Please use EVAL.");
    return script;
  };

  return [
    ...commands(
      ["@scripting"],
      [
        ["eval", -3, evalFlags, scriptKeys, evaluate(bySource)],
        ["evalsha", -3, evalFlags, scriptKeys, evaluate(bySha)],
        ["eval_ro", -3, `readonly ${evalFlags}`, scriptKeys, evaluate(bySource, true)],
        ["evalsha_ro", -3, `readonly ${evalFlags}`, scriptKeys, evaluate(bySha, true)],
      ],
    ),
    container(
      "script",
      commands(
        ["@scripting"],
        [
          [
            "script|load",
            3,
            "noscript stale",
            undefined,
            ({ server }, [, , source = ""]) => server.scripts.load(source).sha,
          ],
          [
            "script|exists",
            -3,
            "noscript",
            undefined,
            ({ server }, [, , ...shas]) => shas.map((sha) => (server.scripts.find(sha) ? 1 : 0)),
          ],
          [
            "script|flush",
            -2,
            "noscript",
            undefined,
            ({ server }, words) => {
              if (words.length > 3 || (words[2] !== undefined && !/^A?SYNC$/i.test(words[2]))) {
                throw new ReplyError("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
              }
              server.scripts.forget();
              return OK;
            },
          ],
        ],
      ),
    ),
  ];
};

function checkCount(text: Bytes, words: number): void {
  const count = integerOf(text);
  if (count === undefined) throw new ReplyError("ERR value is not an integer or out of range");
  if (count > words) throw new ReplyError("ERR Number of keys can't be greater than number of args");
  if (count < 0) throw new ReplyError("ERR Number of keys can't be negative");
}
