import { useState } from "preact/hooks";
import { signIn } from "./api/queues.ts";
import { Failure, useAction } from "./parts/dialog.tsx";
import { Mark } from "./parts/layout.tsx";

const Title = () => (
  <h1>
    <Mark /> Sluice
  </h1>
);

/** Said to a viewer whom the application does not let in, or not any more. */
export function NotLetIn() {
  return (
    <main class="sign-in">
      <div>
        <Title />
        <p class="hint">The application does not let you in. Sign in there, or as another user.</p>
        <button type="button" class="primary" onClick={() => location.reload()}>
          Try again
        </button>
      </div>
    </main>
  );
}

/** Also after a sign-out, when the browser heeds no `autofocus`. */
const focus = (field: HTMLInputElement | null) => field?.focus();

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
        <Title />
        <label for="token">Token</label>
        <input
          id="token"
          name="token"
          type="password"
          autoComplete="current-password"
          required
          ref={focus}
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
