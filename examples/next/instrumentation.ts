export function register() {
  if (process.env.NEXT_RUNTIME !== "nodejs" || process.env.NODE_ENV !== "development") return;
  const url = `http://localhost:${process.env.PORT ?? 3000}/api/queue/v1/sweep`;
  const headers = { authorization: `Bearer ${process.env.CRON_SECRET}` };
  setInterval(() => fetch(url, { headers }).catch(console.error), 60_000);
}
