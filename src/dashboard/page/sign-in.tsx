import { useState } from "preact/hooks";
import { signIn } from "./api/queues.ts";
import { Failure, useAction } from "./parts/dialog.tsx";
import { Mark } from "./parts/layout.tsx";

/** Said to a viewer whom the application does not let in, or not any more. */
export function NotLetIn() {
  return (
    <main class="sign-in">
      <div>
        <h1>
          <Mark /> Sluice
        </h1>
        <p class="hint">The application does not let you in. Sign in there, or as somebody else.</p>
        <button type="button" class="primary" onClick={() => location.reload()}>
          Try again
        </button>
      </div>
    </main>
  );
}

/** The token is exchanged for a cookie that scripts cannot read. This page does not keep it. */
export function SignIn({ onDone }: { readonly onDone: () => void }) {
  const [token, setToken] = useState("");
  const { busy, error, start } = useAction(() => signIn(token.trim()), onDone);
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <h1>
          <Mark /> Sluice
        </h1>
        <label for="token">Token</label>
        <input
          id="token"
          name="token"
          type="password"
          autoComplete="current-password"
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <p class="hint">
          A token of this deployment with the scope <code>view</code> or <code>admin</code>. To make one:{" "}
          <code>npx sluice token --scopes view --queues '*'</code>
        </p>
        {!isSecureContext && (
          <p class="failure">This page needs HTTPS: the browser keeps no session over plain HTTP.</p>
        )}
        <Failure error={error} />
        <button type="submit" class="primary" disabled={busy}>
          {busy ? "Signing in…" : "Sign in"}
        </button>
      </form>
    </main>
  );
}
