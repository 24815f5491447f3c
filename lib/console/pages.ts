import type { ComponentType } from "preact";
import type { PageProps } from "./page-props.ts";
import { ClassPage } from "./pages/class.tsx";
import { ClassesPage } from "./pages/classes.tsx";
import { DiagnosticsPage } from "./pages/diagnostics.tsx";
import { DiffPage } from "./pages/diff.tsx";
import { HistoryPage } from "./pages/history.tsx";
import { InputsPage } from "./pages/inputs.tsx";
import { MeshPage } from "./pages/mesh.tsx";
import { NodesPage } from "./pages/nodes.tsx";
import { OverviewPage } from "./pages/overview.tsx";
import { ResourcePage } from "./pages/resource.tsx";
import { ResourcesPage } from "./pages/resources.tsx";
import { RolloutPage } from "./pages/rollout.tsx";
import { TracePage } from "./pages/trace.tsx";
import type { Place } from "./place.ts";

export interface Page {
  /** First part of its place; "" for the overview. */
  readonly name: string;
  readonly title: string;
  /** After `g`. */
  readonly key?: string;
  readonly show: ComponentType<PageProps>;
}

/** In the order of the menu; those without a key are reached from others. */
export const pages: readonly Page[] = [
  { name: "", title: "Overview", key: "o", show: OverviewPage },
  { name: "history", title: "History", key: "h", show: HistoryPage },
  { name: "diagnostics", title: "Diagnostics", key: "d", show: DiagnosticsPage },
  { name: "classes", title: "Classes", key: "c", show: ClassesPage },
  { name: "class", title: "Class", show: ClassPage },
  { name: "resources", title: "Resources", key: "r", show: ResourcesPage },
  { name: "diff", title: "Compare", key: "v", show: DiffPage },
  { name: "mesh", title: "Mesh", key: "m", show: MeshPage },
  { name: "trace", title: "Trace", key: "t", show: TracePage },
  { name: "nodes", title: "Nodes", key: "n", show: NodesPage },
  { name: "inputs", title: "Inputs", key: "i", show: InputsPage },
  { name: "rollout", title: "Rollout", key: "l", show: RolloutPage },
  { name: "resource", title: "Resource", show: ResourcePage },
];

export const pageOf = ({ path }: Place): Page | undefined => pages.find(({ name }) => name === (path[0] ?? ""));
