import type { Traced } from "../../front/api/schema/trace.ts";

type Decision = Traced["decisions"][number];
type Way = Traced["ways"][number];

/** A traced request as a picture: what all of it passes from left to right, then a branch for each share. */
export function TracePath({ traced }: { readonly traced: Traced }) {
  return (
    <div class="path">
      <ol class="stops" aria-label="What every request passes">
        {traced.decisions.map((decision, i) => (
          <Stop key={`${i} ${decision.step}`} decision={decision} />
        ))}
      </ol>
      <ul class="branches" aria-label="Where requests go">
        {traced.ways.map((way, i) => (
          <Branch key={`${i} ${way.end}`} way={way} />
        ))}
      </ul>
    </div>
  );
}

function Branch({ way }: { readonly way: Way }) {
  const isUncertain = way.dependsOn.length > 0;
  const [first, ...rest] = way.endpoints;
  return (
    <li class="branch">
      <div class="share">
        <span>
          {isUncertain ? "≤ " : ""}
          {way.sharePercent} %
        </span>
        <meter min={0} max={100} value={way.sharePercent} aria-label="Share of the requests" />
      </div>
      <ol class="stops">
        {way.decisions.map((decision, i) => (
          <Stop key={`${i} ${decision.step}`} decision={decision} />
        ))}
        <li class={`stop end ${first === undefined ? "bad" : "good"}`}>
          <span class="step">{first === undefined ? "ends" : "endpoint"}</span>
          <span class="name">
            {first === undefined ? way.end : first.address}
            {rest.length + way.moreEndpoints > 0 ? ` and ${rest.length + way.moreEndpoints} more` : ""}
          </span>
        </li>
      </ol>
    </li>
  );
}

const tones = { answers: "bad", part: "warn", depends: "warn", passes: "" } as const;

function Stop({ decision: { step, chosen, why, verdict } }: { readonly decision: Decision }) {
  return (
    <li class={`stop ${tones[verdict ?? "passes"]}`} title={why}>
      <span class="step">{step}</span>
      <span class="name">{chosen ?? "none"}</span>
    </li>
  );
}
