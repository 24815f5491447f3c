import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { nothingYet } from "../../front/api/nothing-yet.ts";
import type { Awaited } from "../use-answer.ts";

/** An answer when it is there, and until then or without one, why not. */
export function Shown<T>({
  of,
  children,
}: {
  readonly of: Awaited<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { reply, again } = of;
  if (reply === undefined)
    return (
      <p class="quiet" role="status">
        Loading…
      </p>
    );
  if (reply.kind === "answer") return <>{children(reply.value)}</>;
  if (reply.status === 503 && reply.detail === nothingYet) return <NothingYet again={again} />;
  return (
    <div class="problem" role="alert">
      <p>{reply.detail}</p>
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}

const againMs = 3_000;

/** Of a store that is new: not a fault, but a beginning. */
function NothingYet({ again }: { readonly again: () => void }) {
  useEffect(() => {
    const timer = setInterval(() => document.hidden || again(), againMs);
    return () => clearInterval(timer);
  });
  return (
    <section class="card narrow" role="status">
      <h2 class="big">Nothing is published yet</h2>
      <p>
        This front reads its store, and the store is empty. It serves from the moment that a first version is there, and
        this page shows it then by itself.
      </p>
      <pre class="command">portolan push my-mesh/ --store …</pre>
      <p class="quiet">
        publishes a folder of Istio's and Kubernetes' objects to the store that this front reads; so do{" "}
        <code>portolan serve</code>, and a compile function with a collector.
      </p>
    </section>
  );
}
