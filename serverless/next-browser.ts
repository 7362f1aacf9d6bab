// What `sluice-queue/next` is in a bundle for browsers: `next build` and `next dev` refuse this import there, and say
// by which files a client component reaches it.
// oxlint-disable-next-line import/no-unassigned-import -- it is the import itself that is refused
import "server-only";

function refuse(): never {
  throw new Error(
    "sluice-queue/next runs on the server only: let the client component call a server action, which enqueues",
  );
}

export { refuse as consumer, refuse as sluice };
