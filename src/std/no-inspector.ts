/**
 * Node opens its inspector, to which every user of the host may give orders, at a SIGUSR1 that comes before the
 * program handles that signal. At a reserved address (RFC 1112, 4), which no host has, it cannot. Node's own
 * `--disable-sigusr1` blocks the signal, and with it the rescan. `bin/scanferry` and the Dockerfile say the same.
 */
export const NO_INSPECTOR = "--inspect-port=240.0.0.1:9229";
