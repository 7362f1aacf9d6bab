import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { Queue } from "../../../src/index.ts";
import { readLua, scriptFiles } from "../../../tools/lua/files.ts";
import { freeNames } from "../../../tools/lua/scopes.ts";
import { parseLua } from "../../../tools/lua/text.ts";
import { violations } from "../../support/invariants.ts";
import { queueSpace } from "../../support/key-space.ts";
import { topLevelNames } from "../../support/lua-rules.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { useBothClients } from "./both-clients.ts";
import { folder } from "./python-process.ts";

const rig = useRig();
const both = useBothClients(rig);

test("the demo shows each ending of a task", async () => {
  const output = await both.python(`
    import contextlib, demo
    sys.argv[1:] = ["scene"]
    with contextlib.redirect_stdout(io.StringIO()) as output: demo.main()
    report(output.getvalue())
  `);
  const shown = [
    ["that id again: ('welcome-17', False)", "another with that dedup key: ('bytes', False)"],
    ["note: 'Grüße 🚀', attempt 1, headers {'trace': 't-1'}", "extended: True, to a later deadline: True"],
    ["late is delayed: attempt 0", "late: handed back: pending", "late: completed in attempt 2"],
    ["attempt 2: rejected attempts_exhausted", "'message': 'division by zero'}"],
    ["the first holder's receipt: ok False, lost", "the second's: ok True, attempt 2"],
  ];
  expect(shown.flat().filter((text) => !output.includes(text))).toEqual([]);
  expect(violations(queueSpace(await rig.keySpace(), "scene"))).toEqual([]);
  expect(await new Queue("scene", { transport: both.transport }).counts()).toMatchObject({
    pending: 0,
    delayed: 0,
    working: 0,
    rejected: 1,
  });
});

// model.test.ts loses and doubles the requests of all calls, in the midst of changes of the partitions, too.
test.each([
  { kind: "cut" },
  { kind: "cut-body" },
  { kind: "lose-reply" },
  { kind: "duplicate", answer: "first" },
  { kind: "noscript" },
  { kind: "http", status: 502, body: "<html>" },
  { kind: "http", status: 429 },
] as const)("a request that meets %j is answered as any other", async (fault) => {
  for (const [call, answer] of [
    ['queue.enqueue("one", id="one")', ["one", true]],
    ["[[task.payload, task.attempt] for task in queue.dequeue()]", [["one", 1]]],
    ['queue.cancel("one")', "working"],
    ['queue.get("one")["attempt"]', 1],
    ["list(sweep(redis))", [QUEUE]],
  ] as const) {
    const added = both.gateway.faults.add(fault);
    expect([await both.python(call), added.hits]).toEqual([answer, 1]);
  }
});

test("a first copy of a dequeue that runs after the client's second copy leases nothing", async () => {
  const fault = both.gateway.faults.add({ kind: "hold" });
  expect(await both.python("queue.dequeue()")).toEqual([]);
  await both.queue.enqueue("later", { id: "later" });
  await fault.release();
  fault.remove();
  expect(await both.python("[(task.id, task.attempt) for task in queue.dequeue()]")).toEqual([["later", 1]]);
});

test("the client says why it refuses an input, and sends nothing", async () => {
  const answers = await both.python(`
    answers = []
    for options in (
        {"id": ";"}, {"id": "grüße"}, {"id": "a{🚀}"}, {"group": "a b"}, {"group": "ü"}, {"dedup": ("ü", 1)},
        {"priority": 10}, {"priority": True}, {"lease": 0}, {"delay": 1.5},
        {"delay": 1, "at": 1}, {"again": True}, {"dedup": ("key", 0)}, {"headers": {"a": 1}},
        {"max_attempts": -1}, {"payload": float("nan")}, {"payload": {1, 2}}, {"payload": "x" * 1_048_575},
    ):
        try: queue.enqueue_many([{"payload": "fine"}, {"payload": 1, **options}])
        except SluiceError as error: answers.append(str(error).split(" must ")[0])
    for what, act in (
        ("queue", lambda: Queue(redis, "a b")), ("max", lambda: queue.dequeue(max=0)),
        ("receipt", lambda: queue.settle([Settlement("1.1.1", "complete")])),
    ):
        try: act()
        except SluiceError as error: answers.append(f"{what}: {error.code}")
    report(answers)
  `);
  const notJson = "bad_argument: payload";
  expect(answers).toEqual([
    ...["id", "id", "id", "group", "group", "dedup key"].map((what) => `bad_argument: ${what}`),
    ...["priority", "priority", "lease", "delay"].map((what) => `bad_argument: ${what}`),
    "bad_argument: at and delay exclude each other",
    "bad_argument: again needs an id, and no dedup",
    ...["the dedup window", "headers", "max_attempts"].map((what) => `bad_argument: ${what}`),
    notJson,
    notJson,
    "too_large: payload has 1048577 bytes; at most 1048576 are allowed",
    "queue: bad_argument",
    "max: bad_argument",
    "receipt: bad_argument",
  ]);
  expect(await rig.keySpace()).toEqual({});
});

test("each script, with the shared parts that it uses, is a complete program", async () => {
  const scripts = scriptFiles().map((file) => file.slice(0, -".lua".length));
  const programs: string[] = await both.python(
    `report([sluice.Script(name, sluice.LUA).text for name in ${JSON.stringify(scripts)}])`,
  );
  const declared = topLevelNames(
    readLua()
      .shared.map(({ text }) => text)
      .join("\n"),
  );
  for (const [i, text] of programs.entries()) {
    expect(await rig.command("SCRIPT", "LOAD", text)).toMatch(/^[0-9a-f]{40}$/);
    const file = scripts[i] ?? "";
    const free = freeNames(file, parseLua({ file, text }).body);
    expect([...free].filter((name) => declared.has(name))).toEqual([]);
  }
});

test("Python 3.9 reads the client", async () => {
  await both.python(`
    import ast
    for file in ${JSON.stringify(globSync(`${folder}*.py`))}:
        ast.parse(open(file, encoding="utf-8").read(), file, feature_version=(3, 9))
  `);
});
