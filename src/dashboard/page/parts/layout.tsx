import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isOfApplication } from "../access.ts";
import { signOut } from "../api/queues.ts";
import { spent } from "../api/request.ts";
import { counted, dollars, exact } from "../format.ts";
import { isLive } from "../live.ts";
import { PaletteButton } from "../palette/palette.tsx";
import { linkTo } from "../router.ts";
import { useStore } from "../store.ts";
import { isHidden } from "../tasks/value.tsx";
import { Failure, useAction } from "./dialog.tsx";
import { Notice } from "./notice.tsx";

export function Mark() {
  return (
    <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M3 4h18M6 4v16M18 4v16" />
      <path class="water" d="M6 13q3-3 6 0t6 0M6 17q3-3 6 0t6 0" />
    </svg>
  );
}

interface LayoutProps {
  /** Where the viewer is, below all queues. */
  readonly trail: readonly { readonly text: string; readonly link?: string }[];
  readonly onSignedOut: () => void;
  readonly children: ComponentChildren;
}

/** What is around each screen. */
export function Layout({ trail, onSignedOut, children }: LayoutProps) {
  const live = useStore(isLive);
  const hidden = useStore(isHidden);
  const leaving = useAction(signOut, onSignedOut);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>("main")?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <nav aria-label="Where you are">
          <a class="brand" href={linkTo([])}>
            <Mark />
            Sluice
          </a>
          {trail.map(({ text, link }, i) => (
            <span key={text} class="crumb">
              {link === undefined || i === trail.length - 1 ? (
                <span aria-current="page">{text}</span>
              ) : (
                <a href={link}>{text}</a>
              )}
            </span>
          ))}
        </nav>
        <div class="tools">
          <a href={linkTo(["health"])}>Health</a>
          <a href={linkTo(["search"])}>Search</a>
          <PaletteButton />
          <label class="switch">
            <input type="checkbox" checked={live} onChange={() => isLive.set(!live)} />
            Live
          </label>
          <label class="switch">
            <input type="checkbox" checked={hidden} onChange={() => isHidden.set(!hidden)} />
            Hide payloads
          </label>
          {!isOfApplication.value && (
            <button type="button" class="quiet" onClick={leaving.start} disabled={leaving.busy}>
              Sign out
            </button>
          )}
        </div>
      </header>
      <Failure
        error={leaving.error && `You are still signed in, because signing out failed: ${leaving.error}`}
      />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Footer />
      <Notice />
    </>
  );
}

function Footer() {
  const { requests, commands, since } = useStore(spent);
  const minutes = Math.max(1, (Date.now() - since) / 60_000);
  return (
    <footer>
      This page has made {counted(requests, "request")}, about {exact(commands)} Redis commands, on average{" "}
      {exact(Math.round(commands / minutes))} a minute.{" "}
      <span class="nowrap">Upstash charges {dollars(commands)} for them;</span>{" "}
      <span class="nowrap">a Redis of your own, nothing.</span>
    </footer>
  );
}

/** The title of the screen that was shown last. */
let lastTitle: string | undefined;

/** The heading of a screen. It gets the focus when the screen changes, so that screen readers begin there. */
export function Heading({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Sluice`;
    const before = lastTitle;
    lastTitle = title;
    // At the first screen the focus stays where the browser has it, and if the same screen is drawn anew.
    if (before === undefined) return;
    if (before !== title) scrollTo(0, 0);
    else if (document.activeElement !== document.body) return;
    ref.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <div class="heading">
      <h1 ref={ref} tabIndex={-1} dir="auto">
        {title}
      </h1>
      {children}
    </div>
  );
}

/** What a screen shows before its first reply, or after a failed one. */
export function Waiting({
  error,
  retry,
  title,
  children,
}: {
  readonly error: string | undefined;
  readonly retry: () => void;
  /** The heading of the screen, if all of it waits. */
  readonly title?: string;
  /** What else there is to do after a failure. */
  readonly children?: ComponentChildren;
}) {
  if (error === undefined) {
    return (
      <p class="empty" role="status">
        Loading…
      </p>
    );
  }
  return (
    <>
      {title !== undefined && <Heading title={title} />}
      <div class="empty" role="alert">
        <p>{error}</p>
        <button type="button" onClick={retry}>
          Try again
        </button>{" "}
        {children}
      </div>
    </>
  );
}

/** Says that what is shown is not the latest. */
export function Stale({ error }: { readonly error: string | undefined }) {
  return error === undefined ? null : (
    <p class="failure" role="alert">
      The last refresh failed: {error}
    </p>
  );
}
