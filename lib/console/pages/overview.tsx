import type { Overview } from "../../front/api/schema/answers.ts";
import { counted, number } from "../parts/numbers.ts";
import { PublicationTable } from "../parts/publications.tsx";
import { Shown } from "../parts/shown.tsx";
import { Badge, Time, Version } from "../parts/texts.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";

const everyMs = 5_000;

/** What is served, why, what follows and what holds it. */
export function OverviewPage() {
  const overview = useAnswer("overview", {}, everyMs);
  const history = useAnswer("history", { limit: 8 }, everyMs);
  return (
    <>
      <h1>Overview</h1>
      <Shown of={overview}>
        {(value) => (
          <>
            <Warnings value={value} />
            <div class="cards">
              <Served value={value} />
              <Next value={value} />
              <section class="card">
                <h2>Proxies</h2>
                <p class="figure">
                  <a href="#/classes">{counted(value.classes, "class", "classes")}</a>
                </p>
                <p class="quiet">Proxies that get the same answers are one class.</p>
              </section>
              <Said value={value} />
            </div>
            <h2>
              Lately{" "}
              <a class="more" href="#/history">
                all of the history
              </a>
            </h2>
            <Shown of={history}>{({ entries }) => <PublicationTable entries={entries} />}</Shown>
            <Sources value={value} />
          </>
        )}
      </Shown>
    </>
  );
}

interface Of {
  readonly value: Overview;
}

function Warnings({ value: { warnings } }: Of) {
  if (warnings.length === 0) return null;
  return (
    <div class="problem" role="alert">
      {warnings.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </div>
  );
}

function Served({ value: { served, since, generation } }: Of) {
  return (
    <section class="card">
      <h2>Served</h2>
      <p class="figure">
        <Version root={served} isPlain />
      </p>
      <p class="quiet">
        Generation {number(generation)}
        {since === undefined ? null : (
          <>
            , since <Time at={since.at} />: {since.reason}
            {since.by === undefined ? "" : ` by ${since.by}`}
            {since.why === undefined ? "" : `, “${since.why}”`}
          </>
        )}
      </p>
    </section>
  );
}

function Next({ value: { steps, pin, expired, canary, held, newest, served } }: Of) {
  return (
    <section class="card">
      <h2>What follows</h2>
      {steps.length === 0 ? null : (
        <ol class="steps">
          {steps.map(({ root, at }) => (
            <li key={root + at}>
              <Version root={root} /> <Time at={at} />
            </li>
          ))}
        </ol>
      )}
      {canary === undefined ? null : (
        <p>
          <Badge tone="note">canary</Badge> <Version root={canary.root} /> for {canary.percent} %
        </p>
      )}
      {pin === undefined ? null : (
        <p>
          <Badge tone="warn">pinned</Badge> by {pin.by || "somebody"} <Time at={pin.since} />: {pin.why}
        </p>
      )}
      {expired === undefined ? null : <p>A pin is over: the next compile leads on.</p>}
      {held.length === 0 ? null : (
        <p>
          {counted(held.length, "publish", "publishes")} held back; the newest is <Version root={newest} />
        </p>
      )}
      {steps.length === 0 && pin === undefined && canary === undefined && newest === served ? (
        <p class="quiet">Nothing: everybody has the newest.</p>
      ) : null}
      <p>
        <a href="#/rollout">Promote, abort, roll back</a>
      </p>
    </section>
  );
}

function Said({ value: { diagnostics } }: Of) {
  const { errors, warnings, infos, closed, open } = diagnostics;
  return (
    <section class="card">
      <h2>What the compiler says</h2>
      <p class="figure">
        <a href="#/diagnostics">{errors === 0 ? "No error" : counted(errors, "error")}</a>
      </p>
      <p class="quiet">
        {counted(warnings, "warning")}, {counted(infos, "note")}
      </p>
      {closed === 0 ? null : (
        <p class="problem">
          <a href={placeText(["diagnostics"], { q: "security-closed" })}>
            {counted(closed, "refused security object")}
          </a>
          : what they select is closed
        </p>
      )}
      {open === 0 ? null : (
        <p class="problem">
          <a href={placeText(["diagnostics"], { q: "security-open" })}>{counted(open, "refused security object")}</a>:
          what they protected is open
        </p>
      )}
    </section>
  );
}

function Sources({ value: { sources, compiler } }: Of) {
  return (
    <p class="quiet">
      Compiled by {compiler}
      {sources.length === 0 ? null : " from "}
      {sources.map(({ name, version }, i) => (
        <span key={name}>
          {i > 0 ? ", " : ""}
          {name} <code title={version}>{version.slice(0, 8)}</code>
        </span>
      ))}
    </p>
  );
}
