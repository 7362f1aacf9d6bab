/** Runs s3rver on a free port, and prints it. The argument is the folder of the objects. */
// @ts-expect-error -- it has no types
import S3rver from "@20minutes/s3rver";

const [, , directory] = process.argv;
const options = { port: 0, address: "127.0.0.1", silent: true, directory };
const { port } = await new S3rver({ ...options, configureBuckets: [{ name: "payloads" }] }).run();
process.stdout.write(String(port));
