import type { CertificateSource, LegacyRelease } from "../../mesh/world.ts";

/** The source that the folder fills. */
export const folderSource = "main";

/** What `portolan dev` compiles and how, as plain data: its process that compiles is sent it. */
export interface DevSettings {
  /** Absent: none, origins alone. */
  readonly folder?: string | undefined;
  /** Of origins, the primary cluster first. */
  readonly sources: readonly string[];
  /** File with the keys that sign HEAD. */
  readonly keyring: string;
  readonly legacyApi?: LegacyRelease;
  readonly certificates: CertificateSource;
  readonly pollDelayMs: number;
  readonly binaryForms: boolean;
  readonly allowEmpty: boolean;
  /** Whether all classes are listed. */
  readonly json: boolean;
  /** The front that the bootstrap of the example asks; absent: there is none. */
  readonly url?: string;
}
