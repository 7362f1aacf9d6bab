/** Whether a server could not listen because its port is taken. Each runtime has its own words. */
export function isPortInUse(error: unknown): error is Error {
  return error instanceof Error && /EADDRINUSE|address already in use/i.test(error.message);
}
