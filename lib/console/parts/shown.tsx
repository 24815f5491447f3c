import type { ComponentChildren } from "preact";
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
  return (
    <div class="problem" role="alert">
      <p>{reply.detail}</p>
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}
