import type { Overview } from "../../front/api/schema/answers.ts";
import { counted, number } from "../parts/numbers.ts";
import { PublicationTable } from "../parts/publications.tsx";
import { Shown } from "../parts/shown.tsx";
import { Badge, Time, Version } from "../parts/texts.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";

const everyMs = 5_000;

/** What needs a look, then what is served, why, what follows and what holds it. */
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
            <Attention value={value} />
            <Unanalyzed value={value} />
            <div class="cards">
              <Served value={value} />
              <Next value={value} />
              <Proxies value={value} />
              <Said value={value} />
            </div>
            <h2>
              Recent{" "}
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

const toneOf = { refused: "bad", stale: "warn", gone: "bad" } as const;
const shortTexts = {
  refused: { one: "proxy rejects its configuration", many: "proxies reject their configuration" },
  stale: { one: "proxy is stale or disconnected", many: "proxies are stale or disconnected" },
  gone: { one: "proxy is gone", many: "proxies are gone" },
} as const;

/** What somebody on call has to look at, the worst first. */
function Attention({ value }: Of) {
  const { proxies, unmatched, refusals, behind = [], diagnostics } = value;
  const { errors, closed, open } = diagnostics;
  const ofState = (["refused", "stale", "gone"] as const).filter((state) => (proxies?.[state] ?? 0) > 0);
  const hasRefusals = proxies === undefined && refusals > 0;
  if (ofState.length + unmatched + behind.length + errors + closed + open === 0 && !hasRefusals)
    return <Calm proxies={proxies} />;
  return (
    <section class="card" aria-label="Needs attention">
      <h2>Needs attention</h2>
      <ul class="plain">
        {ofState.map((state) => (
          <li key={state}>
            <Badge tone={toneOf[state]}>{state}</Badge>{" "}
            <a href="#/nodes">{counted(proxies?.[state] ?? 0, shortTexts[state].one, shortTexts[state].many)}</a>
            {": "}
            {namesOf(proxies, state)}
          </li>
        ))}
        {hasRefusals ? (
          <li>
            <Badge tone="bad">refused</Badge> <a href="#/nodes">{counted(refusals, "refusal")}</a> of what is served
          </li>
        ) : null}
        {closed === 0 ? null : (
          <li>
            <Badge tone="bad">closed</Badge>{" "}
            <a href={placeText(["diagnostics"], { q: "security-closed" })}>
              {counted(closed, "refused security object")}
            </a>
            : requests to the workloads that they select are denied
          </li>
        )}
        {open === 0 ? null : (
          <li>
            <Badge tone="bad">open</Badge>{" "}
            <a href={placeText(["diagnostics"], { q: "security-open" })}>{counted(open, "refused security object")}</a>:
            the workloads that they protected are open
          </li>
        )}
        {unmatched === 0 ? null : (
          <li>
            <Badge tone="bad">unmatched</Badge>{" "}
            <a href="#/nodes">{counted(unmatched, "node has", "nodes have")} no matching class</a>
          </li>
        )}
        {behind.map(({ name, asOf, failure }) => (
          <li key={name}>
            <Badge tone="warn">behind</Badge> source {name},{" "}
            {asOf === undefined ? (
              "never read completely"
            ) : (
              <>
                as of <Time at={asOf} />
              </>
            )}
            : {failure}
          </li>
        ))}
        {errors === 0 ? null : (
          <li>
            <Badge tone="bad">errors</Badge>{" "}
            <a href={placeText(["diagnostics"], { severity: "error" })}>{counted(errors, "error")}</a> in what is
            configured
          </li>
        )}
      </ul>
    </section>
  );
}

/** The first of those that are in a state. */
function namesOf(proxies: Overview["proxies"], wanted: keyof typeof toneOf): string {
  const names = (proxies?.troubled ?? []).filter(({ state }) => state === wanted).map(({ name }) => name);
  const more = (proxies?.[wanted] ?? 0) - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${number(more)} more` : ""}`;
}

/** Why no compile has recorded messages of the analysers, and how to run these. */
function Unanalyzed({ value: { isAnalyzed, notAnalyzed = "nothing is recorded of this version" } }: Of) {
  if (isAnalyzed) return null;
  return (
    <p>
      <Badge tone="warn">not analyzed</Badge> There are no analyzer messages: {notAnalyzed}. Run{" "}
      <code>portolan analyze -f FOLDER</code>, or <code>portolan analyze --kube</code> for a cluster.
    </p>
  );
}

/** Only what is known is said to be well. */
function Calm({ proxies }: Pick<Overview, "proxies">) {
  if (proxies === undefined || proxies.total === 0) return null;
  if (proxies.synced < proxies.total) return null;
  return (
    <p>
      <Badge tone="good">synced</Badge> {counted(proxies.total, "proxy runs", "proxies run")} what is served.
    </p>
  );
}

function Proxies({ value: { proxies, classes } }: Of) {
  const states = (["synced", "refused", "stale", "not-sent", "gone"] as const).filter(
    (state) => (proxies?.[state] ?? 0) > 0,
  );
  return (
    <section class="card">
      <h2>Proxies</h2>
      <p class="figure">
        {proxies === undefined ? (
          "Not counted here"
        ) : (
          <a href="#/nodes">{counted(proxies.total, "proxy", "proxies")}</a>
        )}
      </p>
      <p class="quiet">
        {states.length === 0 ? null : (
          <>{states.map((state) => `${number(proxies?.[state] ?? 0)} ${state}`).join(", ")}. </>
        )}
        <a href="#/classes">{counted(classes, "class", "classes")}</a> of proxies with the same configuration.
      </p>
    </section>
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

function Next({ value: { steps, pin, expired, canary, held, newest, served, refusals } }: Of) {
  return (
    <section class="card">
      <h2>Rollout</h2>
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
          <Badge tone="warn">pinned</Badge> by {pin.by || "an unnamed author"} <Time at={pin.since} />: {pin.why}
        </p>
      )}
      {expired === undefined ? null : <p>A pin has expired: the next compile serves the newest version.</p>}
      {held.length === 0 ? null : (
        <p>
          {counted(held.length, "publish", "publishes")} held back; the newest is <Version root={newest} />
        </p>
      )}
      {steps.length === 0 && pin === undefined && canary === undefined && newest === served ? (
        <p class="quiet">
          The newest version is served. No rollout is in progress.
          {refusals === 0 ? "" : ` ${counted(refusals, "active NACK")} for it.`}
        </p>
      ) : null}
      <p>
        <a href="#/rollout">Promote, abort, roll back</a>
      </p>
    </section>
  );
}

function Said({ value: { diagnostics } }: Of) {
  const { errors, warnings, infos } = diagnostics;
  return (
    <section class="card">
      <h2>Diagnostics</h2>
      <p class="figure">
        <a href="#/diagnostics">{counted(errors, "error")}</a>
      </p>
      <p class="quiet">
        {counted(warnings, "warning")}, {counted(infos, "note")}
      </p>
    </section>
  );
}

function Sources({ value: { sources, compiler, release } }: Of) {
  return (
    <p class="quiet">
      Compiled by {compiler}
      {release === undefined ? null : `, as Istio ${release}`}
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
