import type { Place } from "./place.ts";

/** What every page is given. */
export interface PageProps {
  readonly place: Place;
}
