import type { FolderState } from "../../../lib/config/folder/folder-state.ts";
import { wholeFolder } from "../../../lib/config/folder/whole-folder.ts";

/** A DestinationRule, as text. */
export const rule = (name: string, host: string) => `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata:
  name: ${name}
  namespace: shop
spec:
  host: ${host}
`;

/** Texts by the names of their files. */
export const files = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([file, text]) => ({ file, text }));

export const unopened = (file: string) => ({ file, text: "", problem: "permission denied" });

/** What a folder says of each rule: `a={"host":"a.example"}`. */
export const hosts = (state: FolderState) =>
  wholeFolder(state).configs.map(({ meta, spec }) => `${meta.name}=${JSON.stringify(spec)}`);

export const codes = (state: FolderState) => wholeFolder(state).diagnostics.map(({ code }) => code);
