import { AwsClient } from "aws4fetch";
import { invalidArgument, SluiceError } from "../../errors.ts";
import { onlyOptions } from "../../kernel/options/validation.ts";
import type { ObjectRequest, ObjectStore } from "./object-store.ts";
import { each } from "./store-requests.ts";

/** Credentials of AWS, or of a server that speaks S3. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. @default none */
  readonly sessionToken?: string | undefined;
}

export interface S3Options {
  readonly bucket: string;
  /** Such as "eu-central-1"; for R2 "auto". */
  readonly region: string;
  /** Credentials, or a function that returns the current ones before each request. */
  readonly credentials: S3Credentials | (() => S3Credentials | Promise<S3Credentials>);
  /** URL of the server, without the bucket. @default that of AWS in the region */
  readonly endpoint?: string | undefined;
}

/** Refusals that pass. */
const TRANSIENT = new Set([408, 409, 425, 429]);

/**
 * The store for `offload` in a bucket of S3, or of a server that speaks its protocol, such as R2 outside of Workers,
 * MinIO or Ceph. It needs the permissions `s3:PutObject`, `s3:GetObject`, `s3:DeleteObject` and `s3:ListBucket`.
 * @throws {SluiceError} `invalid_argument`
 * @example
 * const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = process.env;
 * offload({ store: s3({ bucket: "payloads", region: "eu-central-1", credentials: { accessKeyId, secretAccessKey } }) })
 */
export function s3(options: S3Options): ObjectStore {
  onlyOptions(options, ["bucket", "region", "credentials", "endpoint"]);
  const { bucket, region, credentials } = options;
  for (const name of ["bucket", "region"] as const) {
    if (typeof options[name] !== "string" || !/^[\w.-]+$/.test(options[name])) {
      throw invalidArgument(name, "must be a text of A-Z a-z 0-9 _ . -");
    }
  }
  if (typeof credentials !== "function") checkCredentials(credentials);
  const base = baseOf(options.endpoint ?? `https://s3.${region}.amazonaws.com`, bucket);

  const send = async (
    method: string,
    path: string,
    request: ObjectRequest,
    body?: Uint8Array,
    sha256?: Uint8Array,
  ) => {
    const current = typeof credentials === "function" ? checkCredentials(await credentials()) : credentials;
    const { accessKeyId, secretAccessKey, sessionToken = "" } = current;
    const client = new AwsClient({ accessKeyId, secretAccessKey, sessionToken, service: "s3", region });
    const headers = { "x-amz-content-sha256": sha256 ? hex(sha256) : "UNSIGNED-PAYLOAD" };
    const signed = await client.sign(base + path, {
      method,
      headers,
      ...(body && { body: body as BodyInit }),
    });
    const response = await fetch(signed, request.signal ? { signal: request.signal } : {});
    if (response.ok || (response.status === 404 && method !== "PUT" && path[0] === "/")) return response;
    throw refused(response, method, await codeOf(response));
  };

  return {
    async put(key, bytes, { sha256, ...request }) {
      await drained(await send("PUT", `/${key}`, request, bytes, sha256));
    },
    async get(key, request) {
      const response = await send("GET", `/${key}`, request);
      if (response.ok) return new Uint8Array(await response.arrayBuffer());
      const code = await codeOf(response);
      if (code === "NoSuchKey") return null;
      throw refused(response, "GET", code);
    },
    async delete(keys, request) {
      await each(keys, async (key) => drained(await send("DELETE", `/${key}`, request)));
    },
    async list(prefix, after, request) {
      const query = new URLSearchParams({ "list-type": "2", "max-keys": "1000", prefix });
      if (after !== undefined) query.set("start-after", after);
      const xml = await (await send("GET", `?${query}`, request)).text();
      const objects = Array.from(xml.matchAll(/<Contents>(.*?)<\/Contents>/gs), ([, object = ""]) => ({
        key: textOf(object, "Key"),
        writtenAt: Date.parse(textOf(object, "LastModified")),
      }));
      const truncated = textOf(xml, "IsTruncated") === "true";
      return { objects, next: truncated ? (objects.at(-1)?.key ?? null) : null };
    },
  };
}

/** @throws {SluiceError} `invalid_argument`; no message holds a secret */
function checkCredentials(given: S3Credentials): S3Credentials {
  for (const name of ["accessKeyId", "secretAccessKey"] as const) {
    if (typeof given?.[name] !== "string" || given[name] === "") {
      throw invalidArgument(`credentials.${name}`, "must be a text");
    }
  }
  return given;
}

function baseOf(endpoint: string, bucket: string): string {
  if (!URL.canParse(endpoint) || !/^https?:\/\/[^?#]+$/.test(endpoint)) {
    throw invalidArgument("endpoint", "must be an http or https URL, without the bucket");
  }
  return `${endpoint.replace(/\/$/, "")}/${bucket}`;
}

/** Reads the body of a response that has none, so that its connection can be used again. */
async function drained(response: Response): Promise<void> {
  await response.arrayBuffer();
}

/** The error of a response. Only its status and code are shown: the rest may quote credentials. */
function refused({ status }: Response, method: string, code: string): Error {
  const message = `${method} got HTTP ${status}${code === "" ? "" : ` (${code})`}`;
  if (status >= 500 || TRANSIENT.has(status) || code === "RequestTimeout") return new Error(message);
  return new SluiceError("offload_failed", `the object store refused a request: ${message}`);
}

async function codeOf(response: Response): Promise<string> {
  const [, code = ""] = /<Code>(\w{1,64})<\/Code>/.exec(await response.text()) ?? [];
  return code;
}

/** The text of an element. Keys have no characters that XML escapes. */
function textOf(xml: string, name: string): string {
  const [, text = ""] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return text;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
