import { describe, expect, test } from "vitest";
import { addressFilter, isLinkLocal, nameserversIn } from "../../../src/network/address-filter.ts";

test.for([
  [[], [], "192.0.2.1", true, "nothing is denied"],
  [[], ["any"], "192.0.2.1", false, "of both families"],
  [[], ["any"], "2001:db8::1", false, "of both families"],
  [["192.0.2.0/24"], ["any"], "192.0.2.255", true, "what is allowed counts more"],
  [["192.0.2.0/24"], ["any"], "192.0.3.0", false, "just beyond"],
  [["192.0.2.1"], ["any"], "192.0.2.2", false, "without a length it is one address"],
  [["198.51.100.7 2001:db8::/32", "localhost"], ["any"], "127.9.9.9", true, "several lines"],
  [["198.51.100.7 2001:db8::/32", "localhost"], ["any"], "2001:db8:ffff::1", true, "and words"],
  [["localhost"], ["any"], "::1", true, "a name for both families"],
  [["link-local"], ["any"], "169.254.255.1", true, "a name"],
  [["link-local"], ["any"], "fe80:0:0:1::1", false, "systemd means the first /64 alone"],
  [["multicast"], ["any"], "ff02::fb", true, "a name"],
  [[], ["10.0.0.0/8"], "10.1.1.1", false, "one network is denied"],
  [[], ["10.0.0.0/8"], "11.0.0.0", true, "and no other"],
  [["any"], ["any"], "240.0.0.1", true, "allowed and denied is allowed"],
  [["10.0.0.0/33", "office", "::1/x"], ["any"], "10.0.0.1", false, "no length, no name, no number"],
] as const)("allow %j, deny %j: %s passes: %s, because %s", ([allow, deny, address, passes]) => {
  expect(addressFilter(allow, deny)(address)).toBe(passes);
});

test.for([
  ["169.254.0.0", true],
  ["169.253.255.255", false],
  ["169.255.0.0", false],
  ["fe80::1", true],
  ["febf:ffff::1", true],
  ["fec0::1", false],
  ["archive.example.com", false],
] as const)("%s is link-local: %s", ([address, expected]) => {
  expect(isLinkLocal(address)).toBe(expected);
});

describe("resolv.conf", () => {
  test.for([
    ["nameserver 192.0.2.53\n", ["192.0.2.53"], "as usual"],
    ["nameserver fe80::1%eth0\n", ["fe80::1"], "a filter knows no interfaces"],
    ["nameserver\t::1\nnameserver 10.0.0.1 # old\n", ["::1", "10.0.0.1"], "tabs and remarks"],
    ["#nameserver 10.0.0.1\nsearch a.b\n", ["127.0.0.1"], "none: this host"],
    ["", ["127.0.0.1"], "none: this host"],
    ["nameserver one\nnameserver 10.0.0.2", ["10.0.0.2"], "no address"],
    [
      [1, 2, 3, 4].map((n) => `nameserver 10.0.0.${n}`).join("\n"),
      ["10.0.0.1", "10.0.0.2", "10.0.0.3"],
      "the fourth is never asked",
    ],
  ] as const)("%j names %j: %s", ([text, expected]) => {
    expect(nameserversIn(text)).toEqual(expected);
  });
});
