import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { type ResourceType, resourceTypes, type ShapeName, shapes } from "../../snapshot/resource-type.ts";
import { wholeText } from "../../snapshot/whole-text.ts";
import { diffJson } from "../../snapshot/worlds/diff-json.ts";
import { findResource } from "../../streams/select-resources.ts";
import { shown } from "../excess.ts";
import { type Answered, type Asked, found, refused, shapeOf } from "./asked.ts";
import { type Browser, bothBrowsed } from "./browsed.ts";
import type { ResourceDiff } from "./schema/changes.ts";

/** Texts that are longer are not compared place by place. */
const maxTextBytes = 4 * 1024 * 1024;
const maxPlaces = 200;
const maxValueLength = 2_000;

/** Where one resource differs between two versions, place by place. */
export async function answerResourceDiff(browser: Browser, asked: Asked): Promise<Answered<ResourceDiff>> {
  const versions = await bothBrowsed(browser, asked);
  if (versions.kind === "refused") return versions;
  const { before, after } = versions.value;
  const type = resourceTypes.find((known) => known === asked.value("type"));
  const shape = shapeOf(asked);
  const [classId = "", name = ""] = [asked.value("class"), asked.value("name")];
  if (type === undefined || shape === undefined)
    return refused(400, `type is one of ${resourceTypes.join(", ")}; shape one of ${shapes.join(", ")}`);
  const of = { type, shape, name };
  const was = await textOf(browser.reader, before, { ...of, classId: asked.value("earlier") || classId });
  const is = await textOf(browser.reader, after, { ...of, classId });
  if (was === "too long" || is === "too long") return refused(400, `longer than 4 MiB; \`portolan diff\` compares it`);
  if (was === undefined && is === undefined)
    return refused(404, `neither has ${type} "${shown(name)}" in class ${shown(classId)}`);
  const places = diffJson(parsed(was), parsed(is));
  return found({
    before: before.hash,
    after: after.hash,
    type,
    name,
    change: was === undefined ? "added" : is === undefined ? "removed" : "changed",
    places: places.slice(0, maxPlaces).map(({ path, before: old, after: now }) => ({
      path,
      before: valueText(old),
      after: valueText(now),
    })),
    morePlaces: Math.max(places.length - maxPlaces, 0),
  });
}

const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));

/** A value as JSON, cut where it is very long; nothing for none. */
function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text;
}

interface Wanted {
  readonly type: ResourceType;
  readonly shape: ShapeName;
  readonly name: string;
  readonly classId: string;
}

async function textOf(
  reader: SnapshotReader,
  { root, classes }: LoadedRoot,
  { type, shape, name, classId }: Wanted,
): Promise<string | "too long" | undefined> {
  const index = classes.get(classId)?.[shape][type];
  const [one] = await findResource(reader, await reader.tree(root, type, index), name);
  if (one === undefined) return undefined;
  const entry = (await reader.entries(one.segment)).get(name);
  if ((entry?.bytes ?? 0) > maxTextBytes) return "too long";
  return wholeText(reader.texts(one.segment, name));
}
