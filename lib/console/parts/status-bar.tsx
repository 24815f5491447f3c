import type { Overview } from "../../front/api/schema/answers.ts";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";
import { counted, number } from "./numbers.ts";
import { Badge, Version } from "./texts.tsx";

const everyMs = 15_000;

/** Above every page: the mesh, the version that is served, what holds it or follows it, and the worst that needs attention. */
export function StatusBar() {
  const { reply } = useAnswer("overview", {}, everyMs);
  if (reply?.kind !== "answer") return null;
  const { served, generation, steps, pin, canary } = reply.value;
  return (
    <section class="status" aria-label="What is served">
      <Health value={reply.value} />
      <span class="quiet">{location.host}</span>
      <span>
        serves <Version root={served} isPlain /> <span class="quiet">generation {number(generation)}</span>
      </span>
      {steps.length === 0 ? null : (
        <a href="#/rollout">
          <Badge tone="note">rollout: {counted(steps.length, "stage")} to go</Badge>
        </a>
      )}
      {canary === undefined ? null : (
        <a href="#/rollout">
          <Badge tone="note">canary {canary.percent} %</Badge>
        </a>
      )}
      {pin === undefined ? null : (
        <a href="#/rollout">
          <Badge tone="warn">pinned</Badge>
        </a>
      )}
    </section>
  );
}

/** The worst that is known of proxies and objects; without proxies that are counted, nothing is called healthy. */
function Health({ value }: { readonly value: Overview }) {
  const { proxies, unmatched, refusals, behind = [], diagnostics } = value;
  const refused = proxies?.refused ?? refusals;
  if (refused > 0) return <Trouble tone="bad" page="#/nodes" text={`${number(refused)} refused`} />;
  if (diagnostics.closed + diagnostics.open > 0)
    return (
      <Trouble
        tone="bad"
        page="#/"
        text={counted(diagnostics.closed + diagnostics.open, "refused policy", "refused policies")}
      />
    );
  if (unmatched > 0) return <Trouble tone="bad" page="#/nodes" text={`${number(unmatched)} unmatched`} />;
  const late = (proxies?.stale ?? 0) + (proxies?.gone ?? 0);
  if (late > 0) return <Trouble tone="warn" page="#/nodes" text={`${number(late)} stale or gone`} />;
  if (behind.length > 0)
    return <Trouble tone="warn" page="#/" text={counted(behind.length, "source behind", "sources behind")} />;
  if (diagnostics.errors > 0)
    return (
      <Trouble
        tone="warn"
        page={placeText(["diagnostics"], { severity: "error" })}
        text={counted(diagnostics.errors, "error")}
      />
    );
  if (proxies === undefined || proxies.total === 0) return <Badge tone="note">no proxies yet</Badge>;
  return <Badge tone="good">healthy</Badge>;
}

function Trouble({
  tone,
  page,
  text,
}: {
  readonly tone: "bad" | "warn";
  readonly page: string;
  readonly text: string;
}) {
  return (
    <a href={page}>
      <Badge tone={tone}>{text}</Badge>
    </a>
  );
}
