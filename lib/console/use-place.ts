import { useEffect, useState } from "preact/hooks";
import { type Place, placeText, readPlace } from "./place.ts";

/** The place that the address names, as it changes. */
export function usePlace(): Place {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const moved = () => setFragment(location.hash);
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return readPlace(fragment);
}

/** Says something else in the query of a place; what is searched for is no step to go back to. */
export function changeQuery(place: Place, query: Readonly<Record<string, string | undefined>>): void {
  const fragment = placeText(place.path, { ...place.query, ...query });
  history.replaceState(null, "", fragment);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
