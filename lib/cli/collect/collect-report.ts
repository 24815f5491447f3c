import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { RegistrationWriterOptions } from "../../collect/registrations/registration-writer.ts";
import type { RootCertOptions } from "../../collect/root-cert/root-cert-writer.ts";
import type { Push } from "../../collect/source-pushes.ts";
import type { StatusWriterOptions } from "../../collect/status/status-writer.ts";
import type { Recompiled } from "../../compile/recompile/recompiled.ts";
import { recompiledText } from "../dev/recompiled-text.ts";
import { counted } from "../numbers.ts";
import { printDiagnostics, type Terminal } from "../terminal.ts";
import { sharedText } from "./shared-source.ts";

/** Tells what a collector does: for people on standard error, or as JSON lines on standard output. */
export interface CollectReport {
  following(origin: string): void;
  /** What the origin does not know, when it was read as a whole. */
  absent(names: readonly string[]): void;
  pushed(push: Push): void;
  /** A folder's files were pushed. */
  filled(version: string, files: number): void;
  /** "" when all is well again. */
  troubled(reason: string): void;
  /** Another process fills the source, too; "" when none does any more. */
  shared(other: string): void;
  compiled(recompiled: Recompiled): void;
  failed(cause: unknown): void;
  serving(url: string): void;
  /** The ConfigMaps with the roots of the CA. */
  readonly ofRootCert: Required<Pick<RootCertOptions, "wrote" | "troubled">>;
  /** The WorkloadEntries of machines that register themselves. */
  readonly ofRegistrations: Required<Pick<RegistrationWriterOptions, "wrote" | "troubled">>;
  /** The statuses of a cluster's objects. */
  readonly ofStatuses: Required<Pick<StatusWriterOptions, "wrote" | "led" | "troubled">>;
}

export function collectReport(terminal: Terminal, source: string, json: boolean): CollectReport {
  const { colours } = terminal;
  const label = (text: string) => colours.green(text.padEnd(10));
  const emit = (event: string, more: object) => terminal.out(JSON.stringify({ event, source, ...more }));
  /** Messages that were told, so that each is told when it is new. */
  let told = "";
  return {
    following(origin) {
      if (json) emit("following", { origin });
      else terminal.err(`${label("following")}${origin}`);
    },
    absent(names) {
      if (names.length === 0) return;
      if (json) emit("absent", { kinds: names });
      else terminal.err(`${label("absent")}${source}: ${names.join(", ")}; checked again every minute`);
    },
    pushed({ version, changes, objects, sizeBytes }) {
      if (json) return emit("pushed", { version, changes, objects, sizeBytes });
      const text = `${counted(changes, "change")}, ${counted(objects, "object")} now, ${(sizeBytes / 1024).toFixed(1)} KiB`;
      terminal.err(`${label("pushed")}${source}: ${text}`);
    },
    filled(version, files) {
      if (json) return emit("pushed", { version, files });
      terminal.err(`${label("pushed")}${source}: ${counted(files, "file")}`);
    },
    troubled(reason) {
      if (json) return emit(reason === "" ? "in sync" : "trouble", reason === "" ? {} : { reason });
      if (reason === "") terminal.err(`${label("in sync")}${source}`);
      else terminal.err(`${colours.yellow("trouble".padEnd(10))}${source}: ${reason}; what was collected stays`);
    },
    shared(other) {
      if (json) return emit(other === "" ? "alone" : "shared", other === "" ? {} : { other });
      if (other === "") terminal.err(`${label("alone")}${source}: no other collector fills it any more`);
      else terminal.err(`${colours.yellow("shared".padEnd(10))}${source}: ${sharedText(other)}`);
    },
    compiled(recompiled) {
      if (json) return emit(recompiled.kind, { ...recompiled });
      const text = JSON.stringify(recompiled.diagnostics);
      if (text !== told) printDiagnostics(terminal, recompiled.diagnostics);
      told = text;
      terminal.err(`${label("compiled")}${recompiledText(recompiled)}`);
    },
    failed(cause) {
      const reason = causeText(cause);
      if (json) return emit("failed", { reason });
      if (cause instanceof PortolanError) printDiagnostics(terminal, cause.diagnostics);
      terminal.err(`${colours.red("failed".padEnd(10))}${reason}`);
    },
    serving(url) {
      if (json) emit("serving", { url });
      else terminal.err(`${label("serving")}${url}/readyz and ${url}/metrics`);
    },
    ofRootCert: {
      wrote(count) {
        if (json) emit("root certificate written", { count });
        else terminal.err(`${label("root cert")}written to ${counted(count, "namespace")}`);
      },
      troubled(reason) {
        if (json)
          emit(reason === "" ? "root certificate well" : "root certificate trouble", reason === "" ? {} : { reason });
        else if (reason === "") terminal.err(`${label("root cert")}is in every namespace`);
        else terminal.err(`${colours.yellow("trouble".padEnd(10))}root certificate: ${reason}`);
      },
    },
    ofRegistrations: {
      wrote(count) {
        if (json) emit("workload entries written", { count });
        else terminal.err(`${label("machines")}${counted(count, "change")} of WorkloadEntries`);
      },
      troubled(reason) {
        if (json) emit(reason === "" ? "workload entries well" : "workload entries trouble", reason ? { reason } : {});
        else if (reason === "") terminal.err(`${label("machines")}have their WorkloadEntries`);
        else terminal.err(`${colours.yellow("trouble".padEnd(10))}WorkloadEntries: ${reason}`);
      },
    },
    ofStatuses: {
      wrote(count) {
        if (json) emit("status written", { count });
        else terminal.err(`${label("status")}written to ${counted(count, "object")}`);
      },
      led(isHeld) {
        if (json) emit(isHeld ? "status lease held" : "status lease lost", {});
        else terminal.err(`${label("status")}${isHeld ? "is written by this collector" : "has another writer"}`);
      },
      troubled(reason) {
        if (json) emit(reason === "" ? "status well" : "status trouble", reason === "" ? {} : { reason });
        else if (reason === "") terminal.err(`${label("status")}is written again`);
        else terminal.err(`${colours.yellow("trouble".padEnd(10))}status: ${reason}`);
      },
    },
  };
}
