/** The parts of a locality text; missing ones are "". */
export interface LocalityParts {
  readonly region: string;
  readonly zone: string;
  readonly subzone: string;
}

const nowhere: LocalityParts = { region: "", zone: "", subzone: "" };

/** Splits `region/zone/subzone`; parts may be missing at the end. */
export function splitLocality(label: string): LocalityParts {
  if (label === "") return nowhere;
  const [region = "", zone = "", subzone = ""] = label.split("/");
  return { region, zone, subzone };
}

/** Locality text of an `istio-locality` label, whose value cannot hold slashes and so may use dots instead. */
function localityOfLabel(value: string): string {
  return value.includes("/") ? value : value.replaceAll(".", "/");
}

/** Pod and endpoint labels that state a locality, the stronger first. */
const localityLabels = ["topology.istio.io/locality", "istio-locality"] as const;

/** Locality stated by workload labels; "" when none does. */
export function statedLocality(labels: Readonly<Record<string, string>>): string {
  for (const name of localityLabels) {
    const value = labels[name];
    if (value !== undefined && value !== "") return localityOfLabel(value);
  }
  return "";
}
