import { byCodePoint, type Diagnostic } from "../../base/diagnostic.ts";
import type { SourceLocations } from "../../compile/source-locations.ts";
import type { JsonChange } from "../../snapshot/worlds/diff-json.ts";
import type { ResourceDiff, WorldDiff } from "../../snapshot/worlds/diff-worlds.ts";
import type { ClassMove } from "../../snapshot/worlds/moved-classes.ts";
import { oneLine } from "../terminal.ts";

const signs = { added: "+", removed: "-", changed: "~" } as const;
const maxPlaces = 8;
const maxClasses = 4;

/** A diff for people: one line for each resource, the places that differ below it, and the objects behind it. */
export function diffLines(diff: WorldDiff, places: SourceLocations): readonly string[] {
  return [
    ...diff.classesAdded.map((id) => `+ class ${id}`),
    ...diff.classesRemoved.map((id) => `- class ${id}`),
    ...diff.classesMoved.map(moveLine),
    ...toldOnce(diff.resources).flatMap((resource) => resourceLines(resource, places)),
    summaryOf(diff),
  ].map(oneLine);
}

/** What a review is told besides. */
export interface ReviewContext {
  /** Names of the proxies of a class. */
  readonly proxies: ReadonlyMap<string, readonly string[]>;
  /** What of the later side is refused. */
  readonly refused: readonly Diagnostic[];
}

/** A comment on GitHub holds 65,536 characters. */
const maxBodyLength = 55_000;
const maxListed = 20;

/** The same as a comment for a code review, in Markdown. */
export function diffMarkdown(diff: WorldDiff, places: SourceLocations, { proxies, refused }: ReviewContext): string {
  const lines = [
    ...diff.classesMoved.map(moveLine),
    ...toldOnce(diff.resources).flatMap((resource) => resourceLines(resource, places)),
  ];
  const body = cut(lines.map(oneLine));
  const changed = [...new Set([...diff.resources.flatMap(({ classes }) => classes), ...diff.classesAdded])].sort(
    byCodePoint,
  );
  const who = (id: string) => {
    const names = proxies.get(id) ?? [];
    const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : "";
    return names.length === 0 ? "no proxy that is known" : names.slice(0, maxListed).map(code).join(", ") + more;
  };
  return [
    "### What this changes in the proxies",
    "",
    summaryOf(diff),
    ...(changed.length === 0 ? [] : ["", "Proxies that change:", ""]),
    ...changed.slice(0, maxListed).map((id) => `- ${who(id)} (class ${code(id)})`),
    ...(changed.length > maxListed ? [`- and ${changed.length - maxListed} more classes`] : []),
    ...(refused.length === 0
      ? []
      : ["", `**${refused.length} refused**: left out above, or there as it was last valid:`, ""]),
    ...refused
      .slice(0, maxListed)
      .map(
        ({ origin, message, code: name }) => `- ${code(`${origin.file}:${origin.line}`)} ${code(message)} (${name})`,
      ),
    ...(body === "" ? [] : ["", "```diff", body, "```"]),
    "",
  ].join("\n");
}

/** As many whole lines as a comment holds. */
function cut(lines: readonly string[]): string {
  let length = 0;
  const fitting = lines.findIndex((line) => {
    length += line.length + 1;
    return length > maxBodyLength;
  });
  if (fitting === -1) return lines.join("\n");
  return [
    ...lines.slice(0, fitting),
    `… and ${lines.length - fitting} more lines; \`portolan diff\` shows them all`,
  ].join("\n");
}

/** A text between backticks, whatever it holds. */
function code(text: string): string {
  const line = oneLine(text);
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? fence + line + fence : `${fence} ${line} ${fence}`;
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

function resourceLines(resource: ResourceDiff, where: SourceLocations): readonly string[] {
  const { type, name, change, classes, from, places } = resource;
  const more = classes.length > maxClasses ? ` and ${classes.length - maxClasses} more` : "";
  const head = `${signs[change]} ${type} ${name}  (${classes.slice(0, maxClasses).join(", ")}${more})`;
  const rest = places.length > maxPlaces ? [`    … and ${places.length - maxPlaces} more places`] : [];
  const origin = from.length === 0 ? [] : [`    from ${originsText(from, where)}`];
  return [head, ...places.slice(0, maxPlaces).map(placeLine), ...rest, ...origin];
}

/** So many objects are named; of more, such as a table of all services has, those first that routes are written in. */
const maxOrigins = 12;

function originsText(from: readonly string[], where: SourceLocations): string {
  const isService = (key: string): boolean => key.startsWith("Service/");
  const all = from.length <= maxOrigins ? from : from.toSorted((a, b) => Number(isService(a)) - Number(isService(b)));
  const more = from.length > maxOrigins ? ` and ${from.length - maxOrigins} more` : "";
  const named = all.slice(0, maxOrigins).map((key) => objectText(key, where));
  return named.join(", ") + more;
}

/** `VirtualService/shop/a (a.yaml:3)`. */
function objectText(key: string, places: SourceLocations): string {
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
