import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The credentials that the server accepts. It verifies the signature of each request. */
export const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };

const program = fileURLToPath(new URL("s3-program.mjs", import.meta.url));

/** Starts s3rver, a server that speaks S3, with a bucket `payloads`. */
export async function startS3() {
  const directory = await mkdtemp(join(tmpdir(), "sluice-s3-"));
  // Its continuation tokens are made with DES.
  const args = ["--openssl-legacy-provider", program, directory];
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(server.stdout, "data")) as [Buffer];
  return {
    endpoint: `http://127.0.0.1:${port.toString()}`,
    /** Writes empty objects, without a request for each: s3rver keeps an object in these two files. */
    async fill(keys: readonly string[]) {
      for (const key of keys) {
        const file = join(directory, "payloads", `${key}._S3rver_object`);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, "");
        await writeFile(`${file}.md5`, "d41d8cd98f00b204e9800998ecf8427e");
      }
    },
    async stop() {
      server.kill();
      await once(server, "exit");
      await rm(directory, { recursive: true, force: true });
    },
  };
}
