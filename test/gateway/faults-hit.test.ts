import { describe, expect, test } from "vitest";
import { increment, source, useCounter } from "./counter.ts";
import { failed, ok, rest, sha1 } from "./stack.ts";

const { its, faults, counter, ask } = useCounter();

describe("a fault hits", () => {
  test("the nth matching request and the given number from there on", async () => {
    const fault = faults().add({ kind: "http", status: 500, match: { command: "incr", nth: 2, times: 2 } });
    for (const status of [200, 500, 500, 200, 200]) {
      await ask(["SET", "other", "x"]);
      expect((await ask(["INCR", "n"]))[0]).toBe(status);
    }
    expect([fault.matched, fault.hits]).toEqual([5, 2]);
  });

  test("always, until it is removed", async () => {
    const fault = faults().add({ kind: "cut", match: { times: "always" } });
    for (let index = 0; index < 3; index++) expect(await ask(increment)).toBe("broken");
    fault.remove();
    expect(await ask(increment)).toEqual(ok(1));
  });

  test("a script by SHA or name, however it is called", async () => {
    const other = "return 1";
    for (const script of ["increment", sha1(source), sha1(source).toUpperCase()]) {
      const fault = faults().add({ kind: "http", status: 500, match: { script, times: "always" } });
      expect((await ask(increment))[0]).toBe(500);
      expect((await ask(["eval", source, 1, "n"]))[0]).toBe(500);
      expect((await ask([["GET", "n"], increment], "/pipeline"))[0]).toBe(500);
      expect((await ask(["SCRIPT", "LOAD", source]))[0]).toBe(500);
      expect((await ask(["EVAL", other, 0]))[0]).toBe(200);
      expect((await ask(["GET", "n"]))[0]).toBe(200);
      fault.remove();
    }
  });

  test("a script by SHA only in the commands that are asked for", async () => {
    faults().add({ kind: "http", status: 500, match: { script: "increment", command: "EVALSHA" } });
    expect((await ask(["EVAL", source, 1, "n"]))[0]).toBe(200);
    expect((await ask(increment))[0]).toBe(500);
  });

  test("before faults that were added later, which do not count the request", async () => {
    const first = faults().add({ kind: "http", status: 500 });
    const second = faults().add({ kind: "http", status: 501 });
    expect((await ask(increment))[0]).toBe(500);
    expect((await ask(increment))[0]).toBe(501);
    expect([first.matched, second.matched]).toEqual([2, 1]);
  });

  test("no request without a valid token, and none to the gateway's own paths", async () => {
    faults().add({ kind: "cut" });
    const refused = await rest(its.stack.gateway.url, "/ping?_token=wrong", undefined, {
      headers: { authorization: "" },
    });
    expect(refused.status).toBe(401);
    expect((await its.stack.rest("/-/usage")).status).toBe(200);
    expect(await ask(["PING"])).toBe("broken");
  });
});

describe("over HTTP", () => {
  test("faults are added, listed, released and removed", async () => {
    const remove = (path = "") => its.stack.rest(`/-/faults${path}`, undefined, { method: "DELETE" });
    const added = await its.stack.rest("/-/faults", { kind: "hold" });
    const { id } = added.json as { id: number };
    expect([added.status, added.json]).toEqual([201, { id, matched: 0, hits: 0, held: 0 }]);
    expect(await ask(increment)).toBe("broken");
    const hit = { id, matched: 1, hits: 1, held: 1 };
    const match = { nth: 1, times: 1 };
    expect((await its.stack.rest("/-/faults")).json).toEqual([{ kind: "hold", match, ...hit }]);
    expect((await its.stack.rest(`/-/faults/${id}/release`, "")).json).toEqual({ ...hit, held: 0 });
    expect(await counter()).toBe(1);
    expect([(await remove(`/${id}`)).status, (await remove(`/${id}`)).status]).toEqual([200, 404]);
    await its.stack.rest("/-/faults", { kind: "cut" });
    expect((await remove()).json).toEqual([]);
    expect(faults().list()).toEqual([]);
  });

  test.each([
    [{ kind: "explode" }, 'kind: Invalid type: Expected ("cut" | "lose-reply" | '],
    [{ kind: "delay" }, "ms: "],
    [{ kind: "cut", match: { nth: 0 } }, "match.nth: "],
    ["{", "the body must be JSON"],
  ])("and in code, a wrong fault is refused with the allowed values: %j", async (fault, error) => {
    expect(await ask(fault, "/-/faults")).toEqual(failed(expect.stringContaining(error)));
    expect(() => faults().add(fault as never)).toThrow(TypeError);
    expect(faults().list()).toEqual([]);
  });
});
