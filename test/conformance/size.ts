import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What the tests carry that others have said: it may weigh so many bytes in a checkout. */
export const sizeBound = 8_000_000;

const folders = [
  "cases/v3/",
  "cases/v1/",
  "cases/gateway-api/",
  "cases/grpc/",
  "cases/v3-next/",
  "cases/istio-filters/",
  "cases/istio-proxies/",
  "form-cases/",
  "../captured/",
] as const;

export interface CarriedFolder {
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
}

/** The folders of recorded cases and captures, with what lies in each. */
export function carriedFolders(): readonly CarriedFolder[] {
  return folders.map((folder) => {
    const root = fileURLToPath(new URL(folder, import.meta.url));
    const entries = readdirSync(root, { recursive: true, encoding: "utf8" }).map((name) => statSync(root + name));
    const files = entries.filter((entry) => entry.isFile());
    return {
      folder: `test/${folder.startsWith("../") ? folder.slice(3) : `conformance/${folder}`}`,
      files: files.length,
      bytes: files.reduce((sum, { size }) => sum + size, 0),
    };
  });
}

export const bytesOf = (carried: readonly CarriedFolder[]): number =>
  carried.reduce((sum, { bytes }) => sum + bytes, 0);

/** A line for each folder, and one for all of them. */
export function sizeLines(carried: readonly CarriedFolder[]): readonly string[] {
  const row = (name: string, files: number, bytes: number, rest = "") =>
    `${name.padEnd(36)}${String(files).padStart(6)} files ${(bytes / 1e6).toFixed(2).padStart(7)} MB${rest}`;
  const files = carried.reduce((sum, one) => sum + one.files, 0);
  const bound = ` of ${(sizeBound / 1e6).toFixed(0)}`;
  return [
    ...carried.map((one) => row(one.folder, one.files, one.bytes)),
    row("all that is carried", files, bytesOf(carried), bound),
  ];
}
