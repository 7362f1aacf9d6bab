import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { forever, startHostile } from "../../features/push/hostile.ts";
import { programs, root } from "../project.ts";

const OK = "HTTP/1.1 200 OK\r\n";

/**
 * Deliveries of a runtime that has `node:http` without being Node: names lead to the address that was checked, and a
 * hostile receiver harms nothing.
 * @param args what the program of the runtime takes in front of a file
 */
export function deliversSafely(runtime: "bun" | "deno", args: readonly string[] = []): void {
  it(`${runtime} connects to the checked address, and ends what a hostile receiver sends`, async () => {
    const receivers = [
      await startHostile((socket) => socket.end(`${OK}content-length: 2\r\n\r\nok`)),
      await startHostile((socket) => {
        socket.write(`${OK}\r\n`);
        forever(socket, "a".repeat(5_000));
      }),
      await startHostile((socket) => socket.end(`${OK}content-length: 100\r\n\r\nab`)),
      await startHostile((socket) => {
        socket.write(OK);
        forever(socket, `x-a: ${"a".repeat(1_000)}\r\n`);
      }),
      await startHostile((socket) => forever(socket, "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100))),
      await startHostile((socket) => void socket.write("220 mail.example.com ESMTP\r\n")),
    ];
    const [first = ""] = receivers.map(({ url }) => url);
    const urls = [first.replace("127.0.0.1", "localhost"), ...receivers.slice(1).map(({ url }) => url)];
    const program = join(root, "test/platforms/process/push-program.ts");
    const { stdout } = await promisify(execFile)(programs[runtime], [
      ...args,
      program,
      ...urls,
      "http://10.0.0.1/",
    ]);
    expect(JSON.parse(stdout)).toEqual([
      { status: 200, size: 2, truncated: false },
      { status: 200, size: 4_096, truncated: true },
      { status: 200, size: 2, truncated: true },
      "invalid_response",
      "invalid_response",
      "invalid_response",
      expect.stringContaining("must have a public host"),
    ]);
    await Promise.all(receivers.map(({ closed }) => closed));
  });
}
