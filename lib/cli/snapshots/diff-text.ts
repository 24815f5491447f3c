import type { Places } from "../../compile/places.ts";
import type { JsonChange } from "../../snapshot/worlds/diff-json.ts";
import type { ResourceDiff, WorldDiff } from "../../snapshot/worlds/diff-worlds.ts";
import type { ClassMove } from "../../snapshot/worlds/moved-classes.ts";

const signs = { added: "+", removed: "-", changed: "~" } as const;
const maxPlaces = 8;
const maxClasses = 4;

/** A diff for people: one line for each resource, the places that differ below it, and the objects behind it. */
export function diffLines(diff: WorldDiff, places: Places): readonly string[] {
  return [
    ...diff.classesAdded.map((id) => `+ class ${id}`),
    ...diff.classesRemoved.map((id) => `- class ${id}`),
    ...diff.classesMoved.map(moveLine),
    ...toldOnce(diff.resources).flatMap((resource) => resourceLines(resource, places)),
    summaryOf(diff),
  ];
}

/** The same as a comment for a code review, in Markdown. */
export function diffMarkdown(diff: WorldDiff, places: Places): string {
  const body = [
    ...diff.classesMoved.map(moveLine),
    ...toldOnce(diff.resources).flatMap((resource) => resourceLines(resource, places)),
  ].join("\n");
  const classes = [...new Set(diff.resources.flatMap((resource) => resource.classes))].sort();
  return [
    "### What this changes in the proxies",
    "",
    summaryOf(diff),
    ...(classes.length === 0
      ? []
      : ["", `Classes of proxies that change: ${classes.map((id) => `\`${id}\``).join(", ")}`]),
    ...(body === "" ? [] : ["", "```diff", body, "```"]),
    "",
  ].join("\n");
}

/** Without what polls are told in the same words as streams. */
function toldOnce(resources: readonly ResourceDiff[]): readonly ResourceDiff[] {
  const told = ({ type, name, change, classes, places }: ResourceDiff) =>
    JSON.stringify([type, name, change, classes, places]);
  return [...new Map(resources.map((resource) => [told(resource), resource])).values()];
}

/** `~ class sidecar-1 → sidecar-2  (web-1.shop)`. */
function moveLine({ before, after, who }: ClassMove): string {
  const more = who.length > maxClasses ? ` and ${who.length - maxClasses} more` : "";
  const of = who.length === 0 ? "" : `  (${who.slice(0, maxClasses).join(", ")}${more})`;
  return `~ class ${before} → ${after}${of}`;
}

function resourceLines(resource: ResourceDiff, where: Places): readonly string[] {
  const { type, name, change, classes, from, places } = resource;
  const more = classes.length > maxClasses ? ` and ${classes.length - maxClasses} more` : "";
  const head = `${signs[change]} ${type} ${name}  (${classes.slice(0, maxClasses).join(", ")}${more})`;
  const rest = places.length > maxPlaces ? [`    … and ${places.length - maxPlaces} more places`] : [];
  const origin = from.length === 0 ? [] : [`    from ${from.map((key) => objectText(key, where)).join(", ")}`];
  return [head, ...places.slice(0, maxPlaces).map(placeLine), ...rest, ...origin];
}

/** `VirtualService/shop/a (a.yaml:3)`. */
function objectText(key: string, places: Places): string {
  const place = places.get(key);
  return place === undefined ? key : `${key} (${place})`;
}

const placeLine = ({ path, before, after }: JsonChange): string =>
  `    ${path}: ${valueText(before)} → ${valueText(after)}`;

function valueText(value: unknown): string {
  if (value === undefined) return "(none)";
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

function summaryOf({ classesAdded, classesRemoved, classesMoved, resources }: WorldDiff): string {
  const count = (change: ResourceDiff["change"]) =>
    toldOnce(resources).filter((resource) => resource.change === change).length;
  const parts = [`${count("added")} added`, `${count("removed")} removed`, `${count("changed")} changed`];
  const classes = classesAdded.length + classesRemoved.length;
  if (classes > 0) parts.push(classes === 1 ? "1 class comes or goes" : `${classes} classes come or go`);
  if (classesMoved.length > 0) parts.push(`${classesMoved.length} under another id`);
  return parts.join(", ");
}
