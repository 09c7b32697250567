export function offline() {
  return { code: "SOURCE_OFFLINE", message: "not mounted" };
}

export function unreadable() {
  return { code: "FILE_UNREADABLE", message: "permission denied" };
}
