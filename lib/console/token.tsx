import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask, keepToken, readToken } from "./ask.ts";

/** Shows the pages to whom the front lets in, and asks others for a token. */
export function Token({ children }: { readonly children: ComponentChildren }) {
  const [refusal, setRefusal] = useState<string>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    ask("overview").then((reply) => {
      const isRefused = reply.kind === "problem" && (reply.status === 401 || reply.status === 403);
      setRefusal(isRefused ? reply.detail : undefined);
    });
  }, [turn]);
  if (refusal === undefined) return <>{children}</>;
  return (
    <form
      class="card narrow"
      onSubmit={(event) => {
        event.preventDefault();
        const token = new FormData(event.currentTarget).get("token");
        keepToken(typeof token === "string" ? token.trim() : "");
        setTurn(turn + 1);
      }}
    >
      <h1>Sign in</h1>
      <p>
        This server is for operators only: <em>{refusal}</em>
      </p>
      <label>
        <span>An operator's token</span>
        <input type="password" name="token" autocomplete="off" required defaultValue={readToken()} />
      </label>
      <p class="quiet">
        <code>portolan token create --operator --ttl 8h</code> creates one. It is kept in this tab only, until the tab
        is closed.
      </p>
      <button type="submit" class="main">
        Continue
      </button>
    </form>
  );
}
