// The catalogue as the page looks things up in it. What a metric is called, means and is measured in
// comes from here and from nowhere else.
import type { CatalogDocument, MetricRow, Scope, Severity, Text } from "./types";

export class Catalog {
  readonly version: string;
  readonly groups: { key: string; title: Text }[];
  private readonly rows: MetricRow[];
  private readonly byName = new Map<string, MetricRow>();
  private readonly companions = new Map<string, { min?: string; max?: string }>();
  private readonly reasons: Record<string, Text>;
  private readonly messages: Record<string, Text>;
  private readonly kinds = new Map<string, { severity: Severity; title: Text }>();

  constructor(document: CatalogDocument) {
    this.version = document.version;
    this.groups = document.groups;
    this.rows = document.metrics;
    this.reasons = document.reasons;
    this.messages = document.messages;
    for (const row of document.metrics) {
      this.byName.set(row.name, row);
      if (row.mean === null || row.stat === "mean") continue;
      const entry = this.companions.get(row.mean) ?? {};
      entry[row.stat] = row.name;
      this.companions.set(row.mean, entry);
    }
    for (const kind of document.event_kinds) this.kinds.set(kind.key, kind);
  }

  metric(name: string): MetricRow | undefined {
    return this.byName.get(name);
  }

  // The rows that stand for themselves (no min/max companions), in catalogue order.
  rowsOf(scope: Scope, group?: string): MetricRow[] {
    return this.rows.filter(
      (row) =>
        row.scope === scope && row.stat === "mean" && (group === undefined || row.group === group),
    );
  }

  // The lowest and highest inside a tick, where the metric has both.
  bandOf(name: string): { min: string; max: string } | undefined {
    const { min, max } = this.companions.get(name) ?? {};
    return min !== undefined && max !== undefined ? { min, max } : undefined;
  }

  reason(key: string): Text | undefined {
    return this.reasons[key];
  }

  message(key: string): Text | undefined {
    return this.messages[key];
  }

  eventKind(key: string): { severity: Severity; title: Text } | undefined {
    return this.kinds.get(key);
  }
}
