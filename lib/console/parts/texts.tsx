import type { ComponentChildren } from "preact";
import { placeText } from "../place.ts";

/** A version, short, with all of it to be read and copied; leads to what was published. */
export function Version({ root, isPlain = false }: { readonly root: string; readonly isPlain?: boolean }) {
  const short = root.slice(0, 12);
  return isPlain ? (
    <code title={root}>{short}</code>
  ) : (
    <a
      class="mono"
      href={placeText(["diff"], { before: root, after: "SERVED" })}
      title={`${root}: compare with what is served`}
    >
      {short}
    </a>
  );
}

const minute = 60;
const steps = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", minute],
  ["second", 1],
] as const;

/** A time as people say it, with the exact one beside. @param isPast of what has happened: another clock may be ahead of this one */
export function Time({ at, isPast = false }: { readonly at: string; readonly isPast?: boolean }) {
  const difference = Math.round((Date.parse(at) - Date.now()) / 1000);
  const seconds = isPast ? Math.min(0, difference) : difference;
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? steps[3];
  const text = new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(Math.trunc(seconds / size), unit);
  return (
    <time dateTime={at} title={at}>
      {text}
    </time>
  );
}

/** A small word that says of what sort something is. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
export type Tone = "plain" | "good" | "warn" | "bad" | "note";
