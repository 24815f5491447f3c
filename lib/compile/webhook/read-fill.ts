import { isFields } from "../../base/untyped.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import { limits } from "../../limits/limits.ts";
import { isWithin, maxFreeTextBytes } from "../../snapshot/free-text.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import type { Share } from "../../snapshot/root.ts";

/** What `POST /sources/<name>` brings. */
export interface Fill {
  readonly files: readonly SourceFile[];
  readonly allowEmpty: boolean;
  /** Whether security objects that are refused may close what they select. */
  readonly acceptClosed: boolean;
  readonly publishing: Publishing;
}

/** What a body must be, for whoever sent another. */
export const fillForm =
  'the body is not {"files": [{"file": …, "text": …}]}, besides "allowEmpty" and "acceptClosed": true, "by" and "why", and "share": {"percent": 0 to 100, "labels": {}} for a canary';

export function readFill(body: string): Fill | undefined {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isFields(json) || !Array.isArray(json.files)) return undefined;
  const { allowEmpty = false, acceptClosed = false, by = "", why = "" } = json;
  const files = json.files.filter(isFile);
  const share = json.share === undefined ? undefined : readShare(json.share);
  const isRead = files.length === json.files.length && (share === undefined) === (json.share === undefined);
  if (!isRead || typeof allowEmpty !== "boolean" || typeof acceptClosed !== "boolean") return undefined;
  if (typeof by !== "string" || typeof why !== "string") return undefined;
  return { files, allowEmpty, acceptClosed, publishing: { by, why, ...(share === undefined ? {} : { share }) } };
}

/** What of a fill is longer than it may be, in words; undefined for nothing. */
export function tooLong({ files, publishing: { by = "", why = "", share } }: Fill): string | undefined {
  if (!isWithin(by, maxFreeTextBytes.by)) return lengthText('"by"', maxFreeTextBytes.by);
  if (!isWithin(why, maxFreeTextBytes.why)) return lengthText('"why"', maxFreeTextBytes.why);
  if (!isWithin(JSON.stringify(share?.labels ?? {}), limits.labelBytes))
    return lengthText('"share.labels"', limits.labelBytes);
  const at = files.findIndex(
    ({ file, problem = "" }) => !isWithin(file, limits.nameBytes) || !isWithin(problem, limits.nameBytes),
  );
  return at < 0 ? undefined : lengthText(`"files[${at}].file" or its "problem"`, limits.nameBytes);
}

const lengthText = (what: string, maxBytes: number): string =>
  `${what} is longer than ${maxBytes} bytes; nothing was changed, say it in fewer words`;

function readShare(value: unknown): Share | undefined {
  if (!isFields(value)) return undefined;
  const { percent, labels = {} } = value;
  const isPercent = typeof percent === "number" && Number.isInteger(percent) && percent >= 0 && percent <= 100;
  return isPercent && isLabels(labels) ? { percent, labels } : undefined;
}

const isLabels = (value: unknown): value is Readonly<Record<string, string>> =>
  isFields(value) && Object.values(value).every((label) => typeof label === "string");

const isFile = (value: unknown): value is SourceFile =>
  isFields(value) &&
  typeof value.file === "string" &&
  typeof value.text === "string" &&
  (value.problem === undefined || typeof value.problem === "string");
