/** A parent for `reader.test.ts`: starts a reader for the directory it is given, and says its id. */
import { Reader } from "../../../src/reader/reader.ts";
import { systemClock, systemRandom } from "../../../src/std/clock.ts";
import { silentLog } from "../../../src/std/log.ts";

const source = process.argv[2] ?? "";
const settings = { source, include: ["**/*"], exclude: [], without: [] };

const reader = Reader.open({
  name: "/",
  mirrors: async () => [
    {
      id: 1,
      mode: "off",
      tidies: false,
      known: [],
      settings: {
        ...settings,
        device: null,
        network: false,
      },
    },
  ],
  archive: () => null,
  daemon: {
    listing: async () => true,
    hint: async () => {},
    vanished: async () => {},
    allowance: async () => {},
    sent: async () => {},
    doubt: async () => {},
    status: async () => {},
  },
  started: () => console.log(reader.pid),
  clock: systemClock,
  random: systemRandom,
  log: silentLog,
});
