/**
 * Every measure of `/metrics` that is scanferry's own. docs/metrics.md is written from this table;
 * a name in it stays, as dashboards and alarms of users hold on to it.
 */

/** One measure, as Prometheus is told of it; `help` is its line in docs/metrics.md too. */
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
    help: "The version that runs; always 1.",
    labels: ["version"],
  },
  scanferry_healthy: {
    type: "gauge",
    help: "1 while work is moving, or rightly at rest.",
    labels: [],
  },
  scanferry_ready: { type: "gauge", help: "1 once the daemon takes work.", labels: [] },
  scanferry_paused: { type: "gauge", help: "1 while a person has paused sending.", labels: [] },
  scanferry_member: {
    type: "gauge",
    help: "1 for every daemon on the journal, where it may have several; absent where it has one owner.",
    labels: ["instance"],
  },
  scanferry_member_lease_seconds: {
    type: "gauge",
    help: "How long a daemon's lease goes on unless it is renewed; below 0 it may be taken for lost.",
    labels: ["instance"],
  },
  scanferry_member_lag_seconds: {
    type: "gauge",
    help: "How long ago a daemon on the journal was last heard of.",
    labels: ["instance"],
  },
  scanferry_member_duties: {
    type: "gauge",
    help: "How much of what one daemon does for all (archives, mirrors) this one does.",
    labels: ["instance"],
  },
  scanferry_documents: {
    type: "gauge",
    help: "Documents in the journal, by mirror and state.",
    labels: ["mirror", "state"],
  },
  scanferry_oldest_document_age_seconds: {
    type: "gauge",
    help: "How long the longest known document of a state has been known; absent where there is none, and for converted ones.",
    labels: ["mirror", "state"],
  },
  scanferry_oldest_pending_age_seconds: {
    type: "gauge",
    help: "How long the document that waits longest could have been sent; 0 when none waits.",
    labels: [],
  },
  scanferry_uploaded_documents_total: {
    type: "counter",
    help: "Documents that the archive accepted, since the journal was made.",
    labels: ["mirror"],
  },
  scanferry_uploaded_bytes_total: {
    type: "counter",
    help: "Bytes of the documents that the archive accepted, since the journal was made.",
    labels: ["mirror"],
  },
  scanferry_converted_documents_total: {
    type: "counter",
    help: "Documents that were sent and became CONVERTED, since the journal was made.",
    labels: ["mirror"],
  },
  scanferry_pages_total: {
    type: "counter",
    help: "Pages of the converted documents as the archive counts them, since the journal was made.",
    labels: ["mirror"],
  },
  scanferry_pages_this_month: {
    type: "gauge",
    help: "The same pages since the first of the month, by the daemon's time zone.",
    labels: ["mirror"],
  },
  scanferry_pages_waiting: {
    type: "gauge",
    help: "Pages of the documents that wait to be sent, as far as they can be counted before.",
    labels: ["mirror"],
  },
  scanferry_allowance_pages: {
    type: "gauge",
    help: "Pages that the account may upload in a month (quota.monthlyPages); absent without it.",
    labels: ["archive"],
  },
  scanferry_allowance_used_pages: {
    type: "gauge",
    help: "Pages of that month that are used, what is being sent among them; absent without quota.monthlyPages.",
    labels: ["archive"],
  },
  scanferry_archive_unreachable: {
    type: "gauge",
    help: "1 while an archive does not answer, and is tried again.",
    labels: ["archive"],
  },
  scanferry_source_offline: {
    type: "gauge",
    help: "1 while the source of a mirror cannot be looked at.",
    labels: ["mirror"],
  },
  scanferry_unread_directories: {
    type: "gauge",
    help: "Directories of a mirror's source that cannot be read: what is in them is not sent.",
    labels: ["mirror"],
  },
  scanferry_not_put_away: {
    type: "gauge",
    help: "Archived files that could not be moved or deleted (after) and are tried again; 100 is 100 or more.",
    labels: ["mirror"],
  },
  scanferry_never_put_away: {
    type: "gauge",
    help: "Archived files that stay where they are, as their after-action is refused for good; `scanferry status` says why.",
    labels: ["mirror"],
  },
  scanferry_folders_to_create: {
    type: "gauge",
    help: "Archive folders that documents wait for.",
    labels: [],
  },
  scanferry_gate_closed: {
    type: "gauge",
    help: "1 while the archive refuses the account.",
    labels: ["archive"],
  },
  scanferry_gate_closed_timestamp_seconds: {
    type: "gauge",
    help: "When the archive began to refuse the account, seconds since the epoch; absent while it does not.",
    labels: ["archive"],
  },
  scanferry_gate_next_probe_timestamp_seconds: {
    type: "gauge",
    help: "When the archive is tried again, seconds since the epoch; absent while nothing is to be tried.",
    labels: ["archive"],
  },
  scanferry_upload_concurrency: {
    type: "gauge",
    help: "Uploads at the same time at most, as far as the archive bears them.",
    labels: ["archive"],
  },
  scanferry_sending_waits: {
    type: "gauge",
    help: "1 while nothing new is sent for this reason.",
    labels: ["archive", "why"],
  },
  scanferry_sending_waits_until_timestamp_seconds: {
    type: "gauge",
    help: "When sending goes on, seconds since the epoch; absent while nothing keeps it.",
    labels: ["archive"],
  },
  scanferry_notify_sent_total: {
    type: "counter",
    help: "Messages to people that a channel of `notify` took, since the start.",
    labels: ["channel"],
  },
  scanferry_notify_failed_tries_total: {
    type: "counter",
    help: "Tries to tell people something that failed, since the start.",
    labels: ["channel"],
  },
  scanferry_notify_given_up_total: {
    type: "counter",
    help: "Messages to people that were given up, since the start.",
    labels: ["channel"],
  },
  scanferry_notify_waiting: {
    type: "gauge",
    help: "Messages to people that wait for their channel.",
    labels: ["channel"],
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;
