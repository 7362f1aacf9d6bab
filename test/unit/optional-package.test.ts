import { describe, expect, it } from "vitest";
import { SluiceError } from "../../src/errors.ts";
import { notInstalled, orNotInstalled } from "../../src/optional-package.ts";

describe("the error of an optional package", () => {
  it("names the part that needs it, and one command that installs all missing packages", () => {
    const error = notInstalled("sluice dev", ["@redis/client", "@hono/node-server"]);
    expect(error).toBeInstanceOf(SluiceError);
    expect(error.code).toBe("not_installed");
    expect(error.message).toBe(
      "sluice dev needs @redis/client and @hono/node-server, which are not installed; " +
        "add them: npm install @redis/client@6 @hono/node-server@2",
    );
  });

  const notFound = "ERR_MODULE_NOT_FOUND";
  const failed = (code: string, message: string) => Object.assign(new Error(message), { code });
  const handled = (error: unknown): unknown => {
    try {
      return orNotInstalled("@redis/client", "It")(error);
    } catch (thrown) {
      return thrown;
    }
  };

  it.each([
    ["Node", failed(notFound, "Cannot find package '@redis/client' imported from /app/resp.js")],
    ["Deno", failed(notFound, "Could not find package '@redis/client' from referrer 'file:///a.js'")],
    ["Bun", failed(notFound, "Cannot find package '@redis/client' from '/app/resp.js'")],
    ["a bundle", failed("MODULE_NOT_FOUND", "Cannot find module '@redis/client'")],
  ])("replaces the error that %s reports", (_, error) => {
    expect(handled(error)).toMatchObject({ name: "SluiceError", code: "not_installed" });
  });

  it.each([
    ["a file of the package", failed(notFound, "Cannot find module '/n/@redis/client/dist/index.js'")],
    ["what the package imports", failed("MODULE_NOT_FOUND", "Cannot find module 'other'")],
    ["a fault of its code", new TypeError("'@redis/client' is not defined")],
    ["anything else", "thrown"],
    ["nothing", undefined],
  ])("hides no other failure: %s", (_, error) => {
    expect(handled(error)).toBe(error);
  });
});
