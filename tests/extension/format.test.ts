import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDollars, formatShare, formatTokens, formatTokensExactly } from "../../client-extension/src/format";

function check<Input>(format: (input: Input) => string, input: Input, expected: string): void {
  test(`${format.name}(${String(input)}) is ${expected}`, () => assert.equal(format(input), expected));
}

check(formatTokens, 0, "0");
check(formatTokens, 999, "999");
check(formatTokens, 1_000, "1k");
check(formatTokens, 1_240, "1.2k");
check(formatTokens, 9_949, "9.9k");
check(formatTokens, 9_950, "10k");
check(formatTokens, 97_400, "97k");
check(formatTokens, 999_499, "999k");
check(formatTokens, 999_500, "1M");
check(formatTokens, 1_440_000, "1.4M");
check(formatTokensExactly, 142_381, "142,381");
check(formatDollars, 0, "$0.00");
check(formatDollars, 0.00004, "<$0.0001");
check(formatDollars, 0.0042, "$0.0042");
check(formatDollars, 1.267, "$1.27");
check(formatShare, 0.999, "99%");
check(formatShare, 0.29, "29%");
check(formatShare, 1, "100%");
