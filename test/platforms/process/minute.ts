// Imported first by a server under test: each SIGUSR2 lets a minute pass.

const setOwnInterval = globalThis.setInterval;

globalThis.setInterval = ((work: () => void, ms?: number) => {
  if (ms === 60_000) process.on("SIGUSR2", () => work());
  return setOwnInterval(work, ms);
}) as typeof setInterval;
