/**
 * Every measure of `/metrics` that is scanferry's own. docs/metrics.md is written from this table;
 * a name in it stays, as dashboards and alarms of users hold on to it.
 */

/** One measure, as Prometheus gets it; `help` is its line in docs/metrics.md too. */
export type Metric = {
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly labels: readonly (
    | "archive"
    | "mirror"
    | "state"
    | "version"
    | "why"
    | "channel"
    | "instance"
  )[];
};

export const METRICS = {
  scanferry_info: {
    type: "gauge",
    help: "The running version; always 1.",
    labels: ["version"],
  },
  scanferry_healthy: {
    type: "gauge",
    help: "1 while work moves, or has a reason to wait.",
    labels: [],
  },
  scanferry_ready: { type: "gauge", help: "1 once the daemon works.", labels: [] },
  scanferry_paused: { type: "gauge", help: "1 while a user has paused sending.", labels: [] },
  scanferry_instance: {
    type: "gauge",
    help: "1 for every daemon on a journal in PostgreSQL.",
    labels: ["instance"],
  },
  scanferry_instance_lease_seconds: {
    type: "gauge",
    help: "Remaining time of a daemon's lease; below 0 others may take over its work.",
    labels: ["instance"],
  },
  scanferry_instance_lag_seconds: {
    type: "gauge",
    help: "Time since a daemon on the journal last renewed its lease.",
    labels: ["instance"],
  },
  scanferry_instance_assignments: {
    type: "gauge",
    help: "Number of assignments (archives, mirrors) of a daemon.",
    labels: ["instance"],
  },
  scanferry_documents: {
    type: "gauge",
    help: "Documents in the journal, by mirror and state.",
    labels: ["mirror", "state"],
  },
  scanferry_oldest_document_age_seconds: {
    type: "gauge",
    help: "Age of the oldest document in a state (of more than 1,000, of those that are longest due); absent for converted ones.",
    labels: ["mirror", "state"],
  },
  scanferry_oldest_pending_age_seconds: {
    type: "gauge",
    help: "Waiting time of the oldest document that is ready to be sent; 0 if none waits.",
    labels: [],
  },
  scanferry_uploaded_documents_total: {
    type: "counter",
    help: "Documents that the archive accepted.",
    labels: ["mirror"],
  },
  scanferry_uploaded_bytes_total: {
    type: "counter",
    help: "Bytes that the archive accepted.",
    labels: ["mirror"],
  },
  scanferry_converted_documents_total: {
    type: "counter",
    help: "Documents that became CONVERTED.",
    labels: ["mirror"],
  },
  scanferry_pages_total: {
    type: "counter",
    help: "Pages of the converted documents, by the archive's count.",
    labels: ["mirror"],
  },
  scanferry_pages_this_month: {
    type: "gauge",
    help: "The same since the first of the month.",
    labels: ["mirror"],
  },
  scanferry_pages_waiting: {
    type: "gauge",
    help: "Pages of waiting documents, if they can be counted.",
    labels: ["mirror"],
  },
  scanferry_allowance_pages: {
    type: "gauge",
    help: "Page allowance of the month (quota.monthlyPages); absent without it.",
    labels: ["archive"],
  },
  scanferry_allowance_used_pages: {
    type: "gauge",
    help: "Used pages of the month; absent without quota.monthlyPages.",
    labels: ["archive"],
  },
  scanferry_archive_unreachable: {
    type: "gauge",
    help: "1 while an archive does not answer.",
    labels: ["archive"],
  },
  scanferry_source_offline: {
    type: "gauge",
    help: "1 while the source of a mirror is offline.",
    labels: ["mirror"],
  },
  scanferry_unread_directories: {
    type: "gauge",
    help: "Directories of a source that cannot be read.",
    labels: ["mirror"],
  },
  scanferry_after_pending: {
    type: "gauge",
    help: "Archived files that could not be moved or deleted yet; 100 means 100 or more.",
    labels: ["mirror"],
  },
  scanferry_after_failed: {
    type: "gauge",
    help: "Archived files that will not be moved or deleted; `scanferry status` says why.",
    labels: ["mirror"],
  },
  scanferry_folders_to_create: {
    type: "gauge",
    help: "Archive folders that documents wait for.",
    labels: [],
  },
  scanferry_gate_closed: {
    type: "gauge",
    help: "1 while the archive rejects the account.",
    labels: ["archive"],
  },
  scanferry_gate_closed_timestamp_seconds: {
    type: "gauge",
    help: "Since when the archive rejects the account (seconds since the epoch).",
    labels: ["archive"],
  },
  scanferry_gate_next_probe_timestamp_seconds: {
    type: "gauge",
    help: "When the archive is tested again (seconds since the epoch).",
    labels: ["archive"],
  },
  scanferry_upload_concurrency: {
    type: "gauge",
    help: "Current limit of uploads at the same time.",
    labels: ["archive"],
  },
  scanferry_sending_waits: {
    type: "gauge",
    help: "1 while nothing new is sent for this reason.",
    labels: ["archive", "why"],
  },
  scanferry_sending_waits_until_timestamp_seconds: {
    type: "gauge",
    help: "When sending continues (seconds since the epoch).",
    labels: ["archive"],
  },
  scanferry_notify_sent_total: {
    type: "counter",
    help: "Notifications that a channel accepted, since the start.",
    labels: ["channel"],
  },
  scanferry_notify_failed_tries_total: {
    type: "counter",
    help: "Failed attempts to send a notification, since the start.",
    labels: ["channel"],
  },
  scanferry_notify_given_up_total: {
    type: "counter",
    help: "Notifications that were given up, since the start.",
    labels: ["channel"],
  },
  scanferry_notify_waiting: {
    type: "gauge",
    help: "Waiting notifications.",
    labels: ["channel"],
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;
