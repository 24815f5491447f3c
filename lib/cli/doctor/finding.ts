/** What one check has found. */
export type Finding =
  | { readonly check: string; readonly status: "passed" | "skipped"; readonly text: string }
  /** A warning fails nothing; both say what to do. */
  | { readonly check: string; readonly status: "warning" | "failed"; readonly text: string; readonly remedy: string };

export const passed = (check: string, text: string): Finding => ({ check, status: "passed", text });
/** @param text why the check does not apply */
export const skipped = (check: string, text: string): Finding => ({ check, status: "skipped", text });
export const warned = (check: string, text: string, remedy: string): Finding => ({
  check,
  status: "warning",
  text,
  remedy,
});
export const failed = (check: string, text: string, remedy: string): Finding => ({
  check,
  status: "failed",
  text,
  remedy,
});
