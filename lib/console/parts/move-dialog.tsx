import { useEffect, useRef, useState } from "preact/hooks";
import { move } from "../ask.ts";
import { placeText } from "../place.ts";
import { Version } from "./texts.tsx";

/** What an operator is about to do. */
export interface Asked {
  readonly move: "rollback" | "unpin" | "promote" | "abort";
  /** What it is about: where everybody is led, or the canary that ends. */
  readonly root: string;
}

const titles = {
  rollback: "Roll back",
  unpin: "Unpin",
  promote: "Promote the canary",
  abort: "End the canary",
} as const;

const effects = {
  rollback: "All nodes get the configuration of this version with the newest services and endpoints, and it is pinned.",
  unpin: "All nodes get the newest version.",
  promote: "All nodes get the canary's configuration.",
  abort: "The canary's nodes get the version of the other nodes again.",
} as const;

/** Digits of the version that are typed, so that nobody does it by a slip. */
const typedDigits = 6;

/**
 * Asks whether it is meant, and why; then does it.
 *
 * @param generation of HEAD as it is seen now: the front refuses when it is another one by then
 */
export function MoveDialog({
  asked,
  generation,
  onClose,
}: {
  readonly asked: Asked;
  readonly generation: number;
  readonly onClose: (said: string) => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  // What was seen when it was asked for, whatever is loaded beneath meanwhile.
  const [seen] = useState(generation);
  const [typed, setTyped] = useState("");
  const [why, setWhy] = useState("");
  const [problem, setProblem] = useState("");
  const [isSending, setSending] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const digits = asked.root.slice(0, typedDigits);
  const send = async () => {
    setSending(true);
    const reply = await move({
      move: asked.move,
      generation: seen,
      why: why.trim(),
      ...(asked.move === "rollback" ? { to: asked.root } : {}),
    });
    setSending(false);
    if (reply.kind === "problem") setProblem(reply.detail);
    else onClose(`Generation ${reply.value.generation} serves ${reply.value.root.slice(0, 12)}.`);
  };
  return (
    <dialog ref={dialog} aria-labelledby="move-title" onClose={() => onClose("")}>
      <h2 id="move-title">{titles[asked.move]}</h2>
      <p>
        {effects[asked.move]} <Version root={asked.root} isPlain />{" "}
        <a href={placeText(["diff"], { before: "SERVED", after: asked.root })}>What differs</a>
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <label>
          <span>Reason, for the history</span>
          <input
            type="text"
            required
            maxLength={500}
            value={why}
            onInput={(event) => setWhy(event.currentTarget.value)}
          />
        </label>
        <label>
          <span>
            Type <code>{digits}</code> to confirm
          </span>
          <input
            type="text"
            class="mono"
            autocomplete="off"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value.trim())}
          />
        </label>
        {problem === "" ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="actions">
          <button type="submit" class="main" disabled={typed !== digits || why.trim() === "" || isSending}>
            {titles[asked.move]}
          </button>
          <button type="button" onClick={() => onClose("")}>
            Leave it
          </button>
        </div>
      </form>
    </dialog>
  );
}
