export { EmbeddedDatabase } from "./database.ts";
export { ReplyError } from "./reply.ts";
export { type EmbeddedServer, startEmbeddedServer } from "./resp-server.ts";
export { InvalidSnapshot } from "./snapshot.ts";
export { embedded } from "./transport.ts";
