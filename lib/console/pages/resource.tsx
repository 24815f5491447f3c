import { useEffect, useState } from "preact/hooks";
import type { Resource } from "../../front/api/schema/answers.ts";
import { ask } from "../ask.ts";
import type { PageProps } from "../page-props.ts";
import { Json } from "../parts/json.tsx";
import { bytesText, number } from "../parts/numbers.ts";
import { Shown } from "../parts/shown.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";

/** One resource: its JSON, and the objects that it was made from. */
export function ResourcePage({ place }: PageProps) {
  const { root, class: id = "", type = "clusters", shape = "poll", name = "" } = place.query;
  const answer = useAnswer("resource", { root, class: id, type, shape, name });
  return (
    <>
      <p class="crumb">
        <a href={placeText(["class", id], { root })}>{id}</a> /{" "}
        <a href={placeText(["resources"], { root, class: id, type, shape })}>{type}</a>
      </p>
      <h1 class="mono">{name}</h1>
      <Shown of={answer}>{(value) => <One key={value.version} value={value} />}</Shown>
    </>
  );
}

function One({ value }: { readonly value: Resource }) {
  const { from, moreFrom, version, bytes, text: beginning, next } = value;
  const [more, setMore] = useState({ text: beginning, next });
  useEffect(() => setMore({ text: beginning, next }), [version]);
  const readOn = async () => {
    const { root, class: id, type, shape, name } = value;
    const reply = await ask("resource", { root, class: id, type, shape, name, offset: more.next });
    if (reply.kind === "answer") setMore({ text: more.text + reply.value.text, next: reply.value.next });
  };
  return (
    <>
      <p class="quiet">
        Version <code title={version}>{version.slice(0, 12)}</code>, {bytesText(bytes)}
      </p>
      <h2>Made from</h2>
      <ul class="plain">
        {from.map((key) => (
          <li key={key}>
            <code>{key}</code>
          </li>
        ))}
        {moreFrom > 0 ? <li class="quiet">and {number(moreFrom)} more</li> : null}
      </ul>
      <h2>What Envoy gets</h2>
      <Json text={more.text} isWhole={more.next === undefined} />
      {more.next === undefined ? null : (
        <button type="button" onClick={readOn}>
          Read on ({bytesText(bytes - more.next)} left)
        </button>
      )}
    </>
  );
}
